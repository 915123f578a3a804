import { iso } from '../../core/time.ts'
import { oneOf } from '../../core/values.ts'
import type { Reading } from '../../pay/retention.ts'
import type { KeptMessage } from '../../pay/webhooks/message-store.ts'
import { eventTypes, headersOf, signature } from '../../pay/webhooks/webhook.ts'
import { anyWebhook, presentMessage } from '../../pay/webhooks/wire.ts'
import { parameter } from '../../platform/http/query.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import { acceptedByHand } from '../record/by-hand.ts'
import { badField } from '../steer/errors.ts'
import { headers, identifier, nullable } from '../steer/schemas.ts'
import { defineEndpoint } from './endpoint.ts'
import { followMessages } from './messages-store.ts'
import { anyText, ends, followed, ID, paging, payment_id } from './query.ts'
import { tooManyWaits } from './wait.ts'

const { attempts, last_delivery_status: delivery } = anyWebhook.webhookMessage.properties

export const message = object('Message', {
  message_id: identifier,
  webhook_id: identifier,
  event_type: { type: 'string', enum: eventTypes },
  payment_id: identifier,
  at: timestamp,
  delivery,
  attempts,
  next_attempt: {
    anyOf: [timestamp, { type: 'null' }],
    description: "When it is sent again, in the account's time. null: at once, or never",
  },
  accepted_by_hand: {
    type: 'boolean',
    description:
      'Whether it failed, and its receiver has accepted it since, sent as it is by hand. False too when the record no longer has that',
  },
  raw: { ...nullable, description: 'The exact bytes; null when the payment is gone' },
  headers: { ...headers, type: ['object', 'null'], description: 'With its Pay-Signature' },
})
const messages = object('Messages', { results: { type: 'array', items: message }, ...ends })

export const listMessages = defineEndpoint({
  route: 'GET /control/messages',
  operationId: 'listMessages',
  summary: 'List the webhook messages of the account',
  query: {
    message_id: anyText('This message', ID),
    payment_id,
    event_type: parameter(oneOf(eventTypes), 'Of this event type'),
    delivery: parameter(oneOf(delivery.enum), 'With this delivery status'),
    ...paging,
  },
  description:
    'Messages of all webhooks, oldest first. With `after` it begins there, otherwise it ends with the newest. A client that follows with `next` misses none while nobody advances the clock, and may get one again.',
  response: [200, 'The messages', messages],
  errors: () => [badField('delivery', 'must be one of PENDING, SUCCESSFUL'), tooManyWaits()],
  handler: (context, asked) =>
    followed(context, asked, async (account, paging, filter) => {
      const { database, time } = context
      const { rows, ...page } = await followMessages(database, account.room, filter, paging)
      const accepted = await acceptedByHand(database, rows)
      const now = time.now(account)
      const present = (row: KeptMessage) =>
        presentKeptMessage(row, accepted.has(row.message_id), { account, now })
      return { ...page, rows: rows.map(present) }
    }),
})

function presentKeptMessage(message: KeptMessage, accepted_by_hand: boolean, reading: Reading) {
  const { message_id, webhook_id, event_type, payment_id, signing_key } = message
  const history = presentMessage(message, reading)
  const raw = history.body === null ? null : message.body
  return {
    message_id,
    webhook_id,
    event_type,
    payment_id,
    at: history.created_date,
    delivery: history.last_delivery_status,
    attempts: history.attempts,
    next_attempt: message.due_at === null ? null : iso(message.due_at),
    accepted_by_hand,
    raw,
    headers: raw === null ? null : headersOf(signature(raw, signing_key)),
  }
}
