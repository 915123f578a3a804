import { createHmac } from 'node:crypto'
import type { Behaviour } from '../../core/account.ts'
import type { AccountTime, AttemptResult, MachineTime, NewId } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { underEach } from '../differences/difference.ts'
import {
  attempts,
  type EventType,
  eventMeanings,
  messageHead,
  messageResource,
} from '../differences/messages.ts'

export type { EventType }

/** The event types of each behaviour, in the order in which people read them. */
export const eventTypesOf = underEach(
  behaviour => Object.keys(eventMeanings[behaviour]) as EventType[], // Object.keys is typed string[]
)
export const eventTypes = [...new Set(Object.values(eventTypesOf).flat())]

/** A list of event types of the behaviour without duplicates; undefined for an empty list and anything else. */
export function eventTypesIn(value: unknown, behaviour: Behaviour): EventType[] | undefined {
  const isEventType = (entry: unknown): entry is EventType =>
    eventTypesOf[behaviour].some(type => type === entry)
  if (!Array.isArray(value) || value.length === 0 || !value.every(isEventType)) return undefined
  return [...new Set(value)]
}

export type WebhookStatus = 'ACTIVE' | 'INACTIVE'

export type Webhook = {
  webhook_id: string
  room: string
  status: WebhookStatus
  /** Only for a listener: until when it counts as connected, in milliseconds on the machine's clock. */
  listening_until?: number | null
  callback_url: string
  description?: string | undefined
  subscriptions: readonly EventType[]
  signing_key: string
  /** The webhook comes from FARTHING_WEBHOOK_URL and FARTHING_SIGNING_KEY. */
  fixed?: true
  /** The webhook was registered in the console, and not through the API. */
  from?: 'console'
  /** When its signing key was changed, in milliseconds on the machine's clock. */
  changed?: MachineTime
}

type Named = Pick<Webhook, 'description' | 'callback_url'>

/** A name for people, without the path of the webhook's address, which may be secret. */
export const webhookName = ({ description, callback_url }: Named): string =>
  description?.trim() || new URL(callback_url).host

/** The name on the pages of the webhook's own account, which show the whole address. */
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

/** The status as stored, and as tools show it. The API shows a message for which nobody listened as FAILED. */
export type MessageStatus = DeliveryStatus | 'not listening'

/** A message to one webhook. `body` holds the exact bytes to send, as UTF-8 text. */
export type Message = {
  message_id: string
  webhook_id: string
  payment_id: string
  event_type: EventType
  /** When the payment changed, in milliseconds. */
  created: number
  body: string
  /** The behaviour of the payment. */
  sent_as: Behaviour
}

export const signingKeyOf = (secret: string): string => `webhook_test_${secret}`

type PaymentChange = {
  payment_id: string
  at: AccountTime
  eventTypes: readonly EventType[]
  /** The behaviour of the payment. */
  behaviour: Behaviour
  /** The payment as GET returns it after the change. */
  resource: object
}

/** One message for each event type and each webhook that subscribes to it, in the order of the event types. */
export function messagesFor(
  { payment_id, at, eventTypes, behaviour, resource }: PaymentChange,
  webhooks: Webhook[],
  newId: NewId,
): Message[] {
  let shown: object | undefined
  let text = ''
  return eventTypes.flatMap(event_type => {
    const subscribed = webhooks.filter(webhook => webhook.subscriptions.includes(event_type))
    if (subscribed.length === 0) return []
    const own = messageResource[behaviour](resource, event_type)
    // The event types of a change may share one text.
    if (own !== shown) text = JSON.stringify(own)
    shown = own
    return subscribed.map(({ webhook_id, room }) => {
      const message_id = newId(at, room)
      const fields = { message_id, created_date: iso(at), resource_id: payment_id, event_type }
      const head = JSON.stringify(messageHead[behaviour](fields))
      const body = `${head.slice(0, -1)},"resource":${text}}`
      return {
        message_id,
        webhook_id,
        payment_id,
        event_type,
        created: at,
        body,
        sent_as: behaviour,
      }
    })
  })
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
export function deliveryStatus(tries: readonly Attempt[], behaviour: Behaviour): DeliveryStatus {
  if (tries.at(-1)?.status === 'SUCCESSFUL') return 'SUCCESSFUL'
  return tries.length < attempts[behaviour].most ? 'PENDING' : 'FAILED'
}
