import type { FromSchema } from 'json-schema-to-ts'
import { id, timestamp } from '../http/schema.ts'
import { eventTypes } from './webhook.ts'

const subscriptions = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', enum: eventTypes },
} as const

/** What POST /v1/webhooks takes (SPEC *Webhook management*). */
export const newWebhook = {
  title: 'NewWebhook',
  type: 'object',
  required: ['callback_url'],
  properties: {
    callback_url: {
      type: 'string',
      maxLength: 2048,
      description:
        'An https URL of a public address. Names are resolved, at registration and at every delivery',
    },
    description: { type: ['string', 'null'], minLength: 0, maxLength: 255 },
    subscriptions: {
      ...subscriptions,
      type: ['array', 'null'],
      description: 'The event types to send; all if not given',
    },
  },
} as const

/** SPEC *Webhook*, as a list shows it. */
export const listedWebhook = {
  title: 'ListedWebhook',
  type: 'object',
  required: ['external_id', 'callback_url', 'subscriptions', 'status', 'created_date'],
  properties: {
    external_id: id,
    callback_url: { type: 'string' },
    description: { type: 'string', description: 'If it was given' },
    subscriptions: { ...subscriptions, description: 'The event types that it receives' },
    status: {
      type: 'string',
      enum: ['ACTIVE', 'INACTIVE'],
      description: 'INACTIVE once it was deleted',
    },
    created_date: timestamp,
  },
} as const

/** SPEC *Webhook*, as registering and reading one show it. */
export const webhook = {
  ...listedWebhook,
  title: 'Webhook',
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
  title: 'Attempt',
  type: 'object',
  required: ['created_date', 'send_at', 'status', 'status_code', 'response_time', 'result'],
  properties: {
    created_date: { ...timestamp, description: 'When it began' },
    send_at: { ...timestamp, description: 'The same' },
    status: { type: 'string', enum: ['SUCCESSFUL', 'FAILED'] },
    status_code: { type: ['integer', 'null'], description: 'null if no answer came' },
    response_time: {
      type: ['integer', 'null'],
      description: 'Milliseconds; null if nothing was sent',
    },
    result: {
      type: 'string',
      description:
        'The status and its phrase, or one of: timeout, connection failed, tls failed, name not resolved, address refused',
    },
  },
} as const

/** One message of a webhook's delivery history. */
export const webhookMessage = {
  title: 'WebhookMessage',
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
    external_id: { ...id, description: 'The same as webhook_message_id' },
    created_date: { ...timestamp, description: 'When the payment changed' },
    event_date: { ...timestamp, description: 'The same' },
    event_type: { type: 'string', enum: eventTypes },
    resource_id: { ...id, description: 'The payment_id' },
    resource_type: { type: 'string', const: 'payment' },
    last_delivery_status: {
      type: 'string',
      enum: ['PENDING', 'SUCCESSFUL', 'FAILED'],
      description: 'PENDING until it is delivered or its two attempts are used up',
    },
    latest_attempt: {
      anyOf: [attempt, { type: 'null' }],
      description: 'The first of attempts; null while there is none',
    },
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

/** SPEC *Webhook message body*: what is posted to a webhook. `resource` is the schema of a payment. */
export const messageBody = (resource: object) => ({
  title: 'MessageBody',
  type: 'object',
  required: [
    'webhook_message_id',
    'api_version',
    'created_date',
    'resource_id',
    'resource_type',
    'event_type',
    'resource',
  ],
  properties: {
    webhook_message_id: { ...id, description: 'The same in both attempts' },
    api_version: { type: 'integer', const: 1 },
    created_date: { ...timestamp, description: 'When the payment changed' },
    resource_id: { ...id, description: 'The payment_id' },
    resource_type: { type: 'string', const: 'payment' },
    event_type: { type: 'string', enum: eventTypes },
    resource: {
      ...resource,
      description: 'The payment, exactly as reading it answered right after the change',
    },
  },
})
