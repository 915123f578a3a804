/** The rows of a database as the invariants read them: columns as they are, JSON bodies parsed. */
import type { Agreement, AgreementStatus } from '../../src/agreements/agreement.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { Attempt, DeliveryStatus, Webhook, WebhookStatus } from '../../src/webhooks/webhook.ts'
import type { Body } from '../support/client.ts'

export type PaymentRow = {
  payment_id: string
  account: string
  version: number
  status: string
  amount: number
  refunded_amount: number
  agreement_id: string | null
  body: Pick<Payment, 'given' | 'events' | 'card' | 'success_chosen'>
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
  /** What was sent, or null once the sweep has been there. */
  body: Body | null
}

export type Rows = {
  /** Nothing made before this time was read, in milliseconds. */
  since: number
  /** What was made before this identifier may be gone. */
  kept: string
  payments: PaymentRow[]
  refunds: RefundRow[]
  keys: { account: string; idempotency_key: string; payment_id: string }[]
  agreements: AgreementRow[]
  webhooks: WebhookRow[]
  messages: MessageRow[]
}

/** When a payment arrived at a status, in milliseconds; undefined when it never did. */
export const arrival = ({ body }: PaymentRow, ...statuses: string[]): number | undefined =>
  body.events.find(({ status }) => statuses.includes(status))?.at
