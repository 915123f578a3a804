/** The bodies of webhooks on the wire: schema and reader of requests, schema and printer of responses. */

import type { FromSchema } from 'json-schema-to-ts'
import type { Account, Behaviour } from '../../core/account.ts'
import type { Config } from '../../core/config.ts'
import { fieldCodes, invalid } from '../../core/errors.ts'
import { timeOf } from '../../core/ids.ts'
import type { Ports } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { FieldReader, type Json } from '../../platform/http/fields.ts'
import { id, object, timestamp } from '../../platform/http/schema.ts'
import { registrationProblem } from '../../platform/outbound/address.ts'
import { attempts, messageResource } from '../differences/messages.ts'
import { typeOfResource } from '../differences/values.ts'
import { isGone, type Reading } from '../retention.ts'
import { attemptsOf, type MessageRow, statusAt } from './message-store.ts'
import {
  type DeliveryStatus,
  type EventType,
  eventTypes,
  eventTypesIn,
  eventTypesOf,
  type MessageStatus,
  type Webhook,
} from './webhook.ts'

const codes = fieldCodes.webhook

const signing_key = {
  type: 'string',
  minLength: 16,
  description:
    'The key of Pay-Signature: webhook_test_ and 26 letters and digits. Use all of it, with its prefix. The webhook that the service has from its settings has the key of `FARTHING_SIGNING_KEY`',
} as const

const attempt = object('Attempt', {
  created_date: { ...timestamp, description: 'When the attempt started' },
  send_at: { ...timestamp, description: 'The same as created_date' },
  status: { type: 'string', enum: ['SUCCESSFUL', 'FAILED'] },
  status_code: { type: ['integer', 'null'], description: 'null if no response arrived' },
  response_time: {
    type: ['integer', 'null'],
    description: 'In milliseconds; null if nothing was sent',
  },
  result: {
    type: 'string',
    description:
      'The status code and reason phrase, or one of: timeout, connection failed, tls failed, name not resolved, address refused, nobody is listening',
  },
})

const messageWith = (types: readonly EventType[], most: number) =>
  object('WebhookMessage', {
    webhook_message_id: id,
    external_id: { ...id, description: 'The same as webhook_message_id' },
    created_date: { ...timestamp, description: 'When the payment changed' },
    event_date: { ...timestamp, description: 'The same as created_date' },
    event_type: { type: 'string', enum: types },
    resource_id: { ...id, description: 'The payment_id' },
    resource_type: { type: 'string', const: 'payment' },
    last_delivery_status: {
      type: 'string',
      enum: ['PENDING', 'SUCCESSFUL', 'FAILED'],
      description: `PENDING until the message is delivered or ${most === 2 ? 'both' : 'all'} attempts have failed`,
    },
    latest_attempt: {
      anyOf: [attempt, { type: 'null' }],
      description: 'The first item of attempts; null before the first attempt',
    },
    attempts: { type: 'array', maxItems: most, items: attempt, description: 'Newest first' },
    body: {
      type: ['object', 'null'],
      description: 'Exactly what was sent; null once the payment is 7 days old',
    },
  })

/** The schemas for these event types. `most`: attempts of a message. Specification, *Webhook*, *Webhook management*. */
export function webhookSchemas(types: readonly EventType[], most: number) {
  const subscriptions = {
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: types },
  } as const
  const always = {
    external_id: id,
    callback_url: { type: 'string' },
    subscriptions: { ...subscriptions, description: 'The event types that the webhook receives' },
    status: {
      type: 'string',
      enum: ['ACTIVE', 'INACTIVE'],
      description: 'INACTIVE after it was deleted',
    },
    created_date: timestamp,
  } as const
  const sometimes = {
    description: { type: 'string', description: 'Absent if none was given' },
  } as const
  return {
    newWebhook: object(
      'NewWebhook',
      {
        callback_url: {
          type: 'string',
          maxLength: 2048,
          description:
            'An https URL with a public address. Its name is resolved at registration and at every delivery',
        },
      },
      {
        description: { type: ['string', 'null'], minLength: 0, maxLength: 255 },
        subscriptions: {
          ...subscriptions,
          type: ['array', 'null'],
          description: 'The event types to send. If you leave it out, all are sent',
        },
      },
    ),
    /** A webhook without its signing key. */
    listedWebhook: object('ListedWebhook', always, sometimes),
    webhook: object('Webhook', { ...always, signing_key }, sometimes),
    webhookMessage: messageWith(types, most),
  }
}

/** The schemas for accounts of either behaviour. */
export const anyWebhook = webhookSchemas(eventTypes, attempts['govuk-pay'].most)
type Schemas = typeof anyWebhook

export type NewWebhook = Pick<Webhook, 'callback_url' | 'description' | 'subscriptions'>

/** Reads and checks the body of POST /v1/webhooks. Throws the first error. */
export async function readNewWebhook(
  body: Json,
  { behaviour }: Account,
  { resolve, config }: Pick<Ports, 'resolve'> & { config: Config },
) {
  const fields = new FieldReader(body, anyWebhook.newWebhook, codes)
  const callback_url = fields.text('callback_url')
  fields.checkLimits(['callback_url'])
  const problem = await registrationProblem(callback_url, config, resolve)
  if (problem) throw invalid(codes, 'callback_url', problem)
  const description = fields.optionalRawText('description')
  fields.checkLimits(['description'])
  const subscriptions = eventTypesIn(body.subscriptions ?? eventTypesOf[behaviour], behaviour)
  if (!subscriptions)
    throw invalid(
      codes,
      'subscriptions',
      `must be a list of one or more of ${eventTypesOf[behaviour].join(', ')}`,
    )
  return { callback_url, ...(description !== undefined && { description }), subscriptions }
}

export function presentListed(webhook: Webhook): FromSchema<Schemas['listedWebhook']> {
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

export const presentWebhook = (found: Webhook): FromSchema<Schemas['webhook']> => ({
  ...presentListed(found),
  signing_key: found.signing_key,
})

const deliveryStatusOf = (status: MessageStatus): DeliveryStatus =>
  status === 'not listening' ? 'FAILED' : status

/** A message whose payment is gone has no body and is never sent. */
export function presentMessage(row: MessageRow, reading: Reading) {
  const gone = isGone(row.payment_id, reading)
  const attempts = attemptsOf(row)
    .map(({ at, ...outcome }) => ({ created_date: iso(at), send_at: iso(at), ...outcome }))
    .reverse()
  return {
    webhook_message_id: row.message_id,
    external_id: row.message_id,
    created_date: iso(row.created),
    event_date: iso(row.created),
    event_type: row.event_type,
    resource_id: row.payment_id,
    resource_type: 'payment',
    last_delivery_status: deliveryStatusOf(statusAt(row, reading)),
    latest_attempt: attempts[0] ?? null,
    attempts,
    body: gone || row.body === null ? null : JSON.parse(row.body),
  } satisfies FromSchema<Schemas['webhookMessage']>
}

/** The body of a message; `resource` is the schema of a payment. Specification, *Webhook message body*. */
export const messageBody = (resource: object, behaviour: Behaviour) =>
  object('MessageBody', {
    webhook_message_id: { ...id, description: 'The same in every attempt' },
    api_version: { type: 'integer', const: 1 },
    created_date: { ...timestamp, description: 'When the payment changed' },
    resource_id: { ...id, description: 'The payment_id' },
    event_type: { type: 'string', enum: eventTypesOf[behaviour] },
    resource_type: { type: 'string', const: typeOfResource[behaviour] },
    resource:
      messageResource[behaviour] === messageResource.specification
        ? { ...resource, description: 'The payment as GET returned it right after the change' }
        : { type: 'object', description: 'The payment as its ledger printed it then' },
  })
