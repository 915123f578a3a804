import type { Scenario } from '../pay/payments/payment.ts'
import type { EventType } from '../pay/webhooks/webhook.ts'
import type { ServiceOptions } from './running-service.ts'

export type PayOptions = ServiceOptions & {
  amount?: number
  reference?: string
  set?: [name: string, value: unknown][]
  delayedCapture?: boolean
  capture?: boolean
  /** Pence; true for all of it. */
  refund?: number | true
  moto?: boolean
  agreement?: string
  json?: boolean
}

/** A payment to make, and how it is to end. */
export type Plan = PayOptions & { outcome: Scenario | 'cancel_by_api' }

/** The shortest payment that sends each event type. */
const shortest: Record<Exclude<EventType, NeverSent>, Plan> = {
  card_payment_succeeded: { outcome: 'success' },
  card_payment_captured: { outcome: 'success' },
  card_payment_refunded: { outcome: 'success', refund: true },
  card_payment_failed: { outcome: 'declined' },
  card_payment_cancelled: { outcome: 'cancel_by_api' },
}
type NeverSent = 'card_payment_settled'

export const plans: Record<string, Plan> = shortest
export const triggered = Object.keys(plans)
