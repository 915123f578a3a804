/** The rows of a database as the invariants read them, with parsed JSON. */
import type { Agreement, AgreementStatus } from '../../src/pay/agreements/agreement.ts'
import type { Payment } from '../../src/pay/payments/payment.ts'
import type {
  Attempt,
  DeliveryStatus,
  Webhook,
  WebhookStatus,
} from '../../src/pay/webhooks/webhook.ts'
import type { Body } from '../support/client.ts'

export type PaymentRow = {
  payment_id: string
  account: string
  status: string
  amount: number
  refunded_amount: number
  agreement_id: string | null
  body: Pick<Payment, 'given' | 'events' | 'card'>
}

export type RefundRow = { refund_id: string; payment_id: string; account: string; amount: number }

export type AgreementRow = {
  agreement_id: string
  account: string
  status: AgreementStatus
  body: Pick<Agreement, 'instrument' | 'cancelled_at'>
}

export type WebhookRow = {
  webhook_id: string
  account: string
  status: WebhookStatus
  body: Pick<Webhook, 'subscriptions'>
}

export type MessageRow = {
  message_id: string
  webhook_id: string
  payment_id: string
  event_type: string
  created: number
  status: DeliveryStatus
  attempts: Attempt[]
  /** The body that was sent; null after the sweep. */
  body: Body | null
}

/** A recorded request. `caused` holds positions in the events of the payment, and messages. */
type ExchangeRow = {
  exchange_id: string
  payment_id: string
  body: { caused?: { events: number[]; messages: string[] } }
}

export type Rows = {
  /** Rows made before this time were not read, in milliseconds. */
  since: number
  /** Payments before this identifier may be gone. */
  kept: string
  payments: PaymentRow[]
  refunds: RefundRow[]
  keys: { account: string; idempotency_key: string; payment_id: string }[]
  agreements: AgreementRow[]
  webhooks: WebhookRow[]
  messages: MessageRow[]
  exchanges: ExchangeRow[]
}

/** When a payment reached one of the statuses, in milliseconds; undefined if never. */
export const arrival = ({ body }: PaymentRow, ...statuses: string[]): number | undefined =>
  body.events.find(({ status }) => statuses.includes(status))?.at
