import type { FromSchema } from 'json-schema-to-ts'
import { fieldCodes, invalid } from '../errors.ts'
import { type Json, readFields } from '../http/fields.ts'
import { id, timestamp } from '../http/schema.ts'
import { timeOf } from '../ids.ts'
import { type AllowedHosts, registrationProblem } from '../outbound/address.ts'
import type { Resolve } from '../ports.ts'
import { oldestKept } from '../retention.ts'
import { iso } from '../time.ts'
import type { MessageRow } from './store.ts'
import { type Attempt, type EventType, eventTypes, type Webhook } from './webhook.ts'

/** A webhook as lists show it: without its signing key. */
export function presentListed(webhook: Webhook): ListedWebhookBody {
  const { webhook_id, callback_url, description, subscriptions, status } = webhook
  return {
    external_id: webhook_id,
    callback_url,
    ...(description !== undefined && { description }),
    subscriptions: [...subscriptions],
    status,
    created_date: iso(timeOf(webhook_id)),
  }
}

/** As registering and reading one show it. */
export const present = (webhook: Webhook): WebhookBody => ({
  ...presentListed(webhook),
  signing_key: webhook.signing_key,
})

const presentAttempt = ({ at, ...outcome }: Attempt): AttemptBody => ({
  created_date: iso(at),
  send_at: iso(at),
  ...outcome,
})

/** A message of the delivery history. `now` in milliseconds: once its payment is gone it has no body and is never sent. */
export function presentMessage(row: MessageRow, now: number): WebhookMessageBody {
  const gone = row.payment_id < oldestKept(now)
  const attempts = (JSON.parse(row.attempts) as Attempt[]).map(presentAttempt).reverse() // written by recordAttempts
  return {
    webhook_message_id: row.message_id,
    external_id: row.message_id,
    created_date: iso(row.created),
    event_date: iso(row.created),
    event_type: row.event_type,
    resource_id: row.payment_id,
    resource_type: 'payment',
    last_delivery_status: gone && row.status === 'PENDING' ? 'FAILED' : row.status,
    latest_attempt: attempts[0] ?? null,
    attempts,
    body: gone || row.body === null ? null : JSON.parse(row.body),
  }
}

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

type NewWebhook = Pick<Webhook, 'callback_url' | 'description' | 'subscriptions'>

/** Reads the body of POST /v1/webhooks, and looks up the host of its callback_url. Throws an ApiError. */
export async function readNewWebhook(
  body: Json,
  allowed: AllowedHosts,
  resolve: Resolve,
): Promise<NewWebhook> {
  const codes = fieldCodes.webhook
  const fields = readFields(body, newWebhook, codes)
  const callback_url = fields.text('callback_url')
  fields.checkLimits(['callback_url'])
  const problem = await registrationProblem(callback_url, allowed, resolve)
  if (problem) throw invalid(codes, 'callback_url', problem)
  const description = fields.optionalRawText('description')
  fields.checkLimits(['description'])
  const subscriptions = readSubscriptions(body.subscriptions)
  return { callback_url, ...(description !== undefined && { description }), subscriptions }
}

/** Specification, *Webhook*: all event types without it. Repeated ones count once. */
function readSubscriptions(value: unknown): readonly EventType[] {
  if (value === undefined || value === null) return eventTypes
  const isKnown = (entry: unknown): entry is EventType => eventTypes.some(type => type === entry)
  if (!Array.isArray(value) || value.length === 0 || !value.every(isKnown))
    throw invalid(
      fieldCodes.webhook,
      'subscriptions',
      `must be a list of one or more of ${eventTypes.join(', ')}`,
    )
  return [...new Set(value)]
}
