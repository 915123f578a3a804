import { createHmac } from 'node:crypto'
import type { AccountTime, AttemptResult, MachineTime, NewId } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { asGovukPay, type Shape } from './govuk-pay.ts'

/** Specification, *Webhook event types*, with what each means. `card_payment_settled` is accepted in subscriptions and never sent. */
export const eventMeanings = {
  card_payment_succeeded: 'the payment was authorised, so it is success or capturable',
  card_payment_captured: 'it became success, at once or by a capture',
  card_payment_refunded: 'a refund was submitted',
  card_payment_failed: 'the card was declined, the provider had an error, or the user cancelled',
  card_payment_cancelled: 'it was cancelled through the API',
  card_payment_settled: 'never sent, because payments are never settled',
} as const
export type EventType = keyof typeof eventMeanings
export const eventTypes = Object.keys(eventMeanings) as EventType[] // Object.keys is typed string[]

/** A list of event types without duplicates; undefined for an empty list and anything else. */
export function eventTypesIn(value: unknown): EventType[] | undefined {
  const isEventType = (entry: unknown): entry is EventType =>
    eventTypes.some(type => type === entry)
  if (!Array.isArray(value) || value.length === 0 || !value.every(isEventType)) return undefined
  return [...new Set(value)]
}

export type WebhookStatus = 'ACTIVE' | 'INACTIVE'

export type Webhook = {
  webhook_id: string
  room: string
  status: WebhookStatus
  /** Only of `farthing listen`: until when it counts as connected, in milliseconds on the machine's clock. */
  listening_until?: number | null
  callback_url: string
  description?: string | undefined
  subscriptions: readonly EventType[]
  signing_key: string
  /** It comes from FARTHING_WEBHOOK_URL and FARTHING_SIGNING_KEY. */
  fixed?: true
  /** It was registered there, and not through the API. */
  from?: 'console'
  /** When its key or the shape of its messages was changed: milliseconds of the machine. */
  changed?: MachineTime
  /** The shape of its messages, if not that of the specification. */
  as?: Shape
}

type Named = Pick<Webhook, 'description' | 'callback_url'>

/** What people call a webhook: without the path of its address, which may be secret. */
export const webhookName = ({ description, callback_url }: Named): string =>
  description?.trim() || new URL(callback_url).host

/** The same on the pages of its account, which show the whole address. */
export const webhookTitle = ({ description, callback_url }: Named): string =>
  description?.trim() || callback_url

type Subscription = Pick<Webhook, 'callback_url' | 'subscriptions'>

/** Whether both send to one address, however it is written, and have an event type in common. */
export const sendsTheSame = (one: Subscription, other: Subscription): boolean =>
  new URL(one.callback_url).href === new URL(other.callback_url).href &&
  one.subscriptions.some(type => other.subscriptions.includes(type))

/** For the log. It names the host only, because the rest of an address may be secret. */
export function duplicateWarning(callback_url: string, others: Webhook[]): string {
  const ids = others.map(({ webhook_id }) => webhook_id).join(', ')
  return `the receiver at ${new URL(callback_url).host} gets messages several times, signed with different keys: other active webhooks have the same callback_url (${ids})`
}

/** One attempt to deliver a message; `at` is its start in milliseconds. */
export type Attempt = AttemptResult & { at: AccountTime }

export type DeliveryStatus = 'PENDING' | 'SUCCESSFUL' | 'FAILED'

/** A message to one webhook. `body` holds the exact bytes to send, as UTF-8 text. */
export type Message = {
  message_id: string
  webhook_id: string
  payment_id: string
  event_type: EventType
  /** When the payment changed, in milliseconds. */
  created: number
  body: string
}

/** Specification, *Delivery rules*. */
const MAX_ATTEMPTS = 2

export const signingKeyOf = (secret: string): string => `webhook_test_${secret}`

/** A change of a payment that webhooks receive messages about. */
type PaymentChange = {
  payment_id: string
  at: AccountTime
  eventTypes: readonly EventType[]
  /** The payment as GET returns it after the change. */
  resource: object
}

/** One message for each event type and each webhook that subscribes to it, in the order of the event types. */
export function messagesFor(
  { payment_id, at, eventTypes, resource }: PaymentChange,
  webhooks: Webhook[],
  newId: NewId,
): Message[] {
  const printed = JSON.stringify(resource)
  return eventTypes.flatMap(event_type =>
    webhooks
      .filter(webhook => webhook.subscriptions.includes(event_type))
      .map(({ webhook_id, room, as }) => {
        const message_id = newId(at, room)
        const head = JSON.stringify({
          webhook_message_id: message_id,
          api_version: 1,
          created_date: iso(at),
          resource_id: payment_id,
          resource_type: 'payment',
          event_type,
        })
        const own = `${head.slice(0, -1)},"resource":${printed}}`
        const body = as ? asGovukPay(own) : own
        return { message_id, webhook_id, payment_id, event_type, created: at, body }
      }),
  )
}

/** HMAC-SHA256 of the body, in lower-case hexadecimal. Texts count as their UTF-8 bytes. Specification, *Authentication*. */
export const signature = (body: string | Buffer, signing_key: string | Buffer): string =>
  createHmac('sha256', signing_key).update(body).digest('hex')

/** The headers of a message, except those that every request has. */
export const headersOf = (signature: string | undefined): Record<string, string> => ({
  'Content-Type': 'application/json',
  ...(signature && { 'Pay-Signature': signature }),
})

/** Status of a message after these attempts, oldest first. */
export function deliveryStatus(attempts: readonly Attempt[]): DeliveryStatus {
  if (attempts.at(-1)?.status === 'SUCCESSFUL') return 'SUCCESSFUL'
  return attempts.length < MAX_ATTEMPTS ? 'PENDING' : 'FAILED'
}
