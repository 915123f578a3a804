import type { FromSchema } from 'json-schema-to-ts'
import { id, timestamp } from '../http/schema.ts'
import { eventTypes } from './webhook.ts'

const subscriptions = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', enum: eventTypes },
} as const

export const newWebhook = {
  type: 'object',
  required: ['callback_url'],
  properties: {
    callback_url: {
      type: 'string',
      maxLength: 2048,
      description: 'An https URL of a public address',
    },
    description: { type: 'string', maxLength: 255 },
    subscriptions: { ...subscriptions, description: 'All event types if not given' },
  },
} as const

/** SPEC *Webhook*, as a list shows it. */
export const listedWebhook = {
  type: 'object',
  required: ['external_id', 'callback_url', 'subscriptions', 'status', 'created_date'],
  properties: {
    external_id: id,
    callback_url: { type: 'string' },
    description: { type: 'string' },
    subscriptions,
    status: { enum: ['ACTIVE', 'INACTIVE'] },
    created_date: timestamp,
  },
} as const

/** SPEC *Webhook*, as registering and reading one show it. */
export const webhook = {
  ...listedWebhook,
  required: [...listedWebhook.required, 'signing_key'],
  properties: {
    ...listedWebhook.properties,
    signing_key: {
      type: 'string',
      pattern: '^webhook_test_[0-9a-v]{26}$',
      description: 'The key of Pay-Signature: all of it, prefix included',
    },
  },
} as const

const attempt = {
  type: 'object',
  required: ['created_date', 'send_at', 'status', 'status_code', 'response_time', 'result'],
  properties: {
    created_date: timestamp,
    send_at: timestamp,
    status: { enum: ['SUCCESSFUL', 'FAILED'] },
    status_code: { type: ['integer', 'null'] },
    response_time: {
      type: ['integer', 'null'],
      description: 'Milliseconds; null if nothing was sent',
    },
    result: { type: 'string', description: 'The status and its phrase, or what went wrong' },
  },
} as const

/** One message of a webhook's delivery history. */
export const webhookMessage = {
  type: 'object',
  required: [
    'webhook_message_id',
    'external_id',
    'created_date',
    'event_date',
    'event_type',
    'resource_id',
    'resource_type',
    'last_delivery_status',
    'latest_attempt',
    'attempts',
    'body',
  ],
  properties: {
    webhook_message_id: id,
    external_id: id,
    created_date: timestamp,
    event_date: timestamp,
    event_type: { type: 'string', enum: eventTypes },
    resource_id: id,
    resource_type: { type: 'string', const: 'payment' },
    last_delivery_status: { enum: ['PENDING', 'SUCCESSFUL', 'FAILED'] },
    latest_attempt: { anyOf: [attempt, { type: 'null' }] },
    attempts: { type: 'array', maxItems: 2, items: attempt, description: 'Newest first' },
    body: {
      type: ['object', 'null'],
      description: 'Exactly what was sent; null once the payment is gone',
    },
  },
} as const

export type WebhookBody = FromSchema<typeof webhook>
export type ListedWebhookBody = FromSchema<typeof listedWebhook>
export type AttemptBody = FromSchema<typeof attempt>
export type WebhookMessageBody = FromSchema<typeof webhookMessage>
