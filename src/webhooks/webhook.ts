import { createHmac } from 'node:crypto'
import { newSecret } from '../ids.ts'
import type { AttemptResult, NewId } from '../ports.ts'
import { iso } from '../time.ts'

/** SPEC *Webhook event types*. The last is accepted in subscriptions and never sent. */
export const eventTypes = [
  'card_payment_succeeded',
  'card_payment_captured',
  'card_payment_refunded',
  'card_payment_failed',
  'card_payment_cancelled',
  'card_payment_settled',
] as const
export type EventType = (typeof eventTypes)[number]

export type WebhookStatus = 'ACTIVE' | 'INACTIVE'

export type Webhook = {
  webhook_id: string
  account: string
  status: WebhookStatus
  callback_url: string
  description?: string
  subscriptions: readonly EventType[]
  signing_key: string
}

/** One try to deliver a message; `at` is when it began, in milliseconds. */
export type Attempt = AttemptResult & { at: number }

export type DeliveryStatus = 'PENDING' | 'SUCCESSFUL' | 'FAILED'

/** One thing to tell one webhook. `body` holds the exact bytes to send, as UTF-8 text. */
export type Message = {
  message_id: string
  webhook_id: string
  payment_id: string
  event_type: EventType
  /** When the payment changed, in milliseconds. */
  created: number
  body: string
}

/** SPEC *Delivery rules*: up to two attempts per message. */
const MOST_ATTEMPTS = 2

export const newSigningKey = (): string => `webhook_test_${newSecret()}`

/** What happened to a payment, as far as webhooks need to know. */
export type News = {
  payment_id: string
  /** When, in milliseconds. */
  at: number
  eventTypes: readonly EventType[]
  /** The payment exactly as GET would answer now. */
  resource: object
}

/** The messages that tell `news`, in the order of its event types, to the webhooks that want them. */
export function messagesFor(news: News, webhooks: Webhook[], newId: NewId): Message[] {
  const resource = JSON.stringify(news.resource)
  return news.eventTypes.flatMap(event_type =>
    webhooks
      .filter(webhook => webhook.subscriptions.includes(event_type))
      .map(({ webhook_id }) => {
        const message_id = newId(news.at)
        const head = JSON.stringify({
          webhook_message_id: message_id,
          api_version: 1,
          created_date: iso(news.at),
          resource_id: news.payment_id,
          resource_type: 'payment',
          event_type,
        })
        const body = `${head.slice(0, -1)},"resource":${resource}}`
        return {
          message_id,
          webhook_id,
          payment_id: news.payment_id,
          event_type,
          created: news.at,
          body,
        }
      }),
  )
}

/** SPEC *Authentication*: lower-case hexadecimal HMAC-SHA256 of the body's bytes. */
export const signature = (body: string, signing_key: string): string =>
  createHmac('sha256', signing_key).update(body, 'utf8').digest('hex')

/** Where a message stands once these attempts, oldest first, were made. */
export function deliveryStatus(attempts: readonly Attempt[]): DeliveryStatus {
  if (attempts.at(-1)?.status === 'SUCCESSFUL') return 'SUCCESSFUL'
  return attempts.length < MOST_ATTEMPTS ? 'PENDING' : 'FAILED'
}
