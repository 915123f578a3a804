import type { Behaviour } from '../../core/account.ts'
import type { AccountTime } from '../../core/ports.ts'
import { refundSubmittedFor } from '../differences/refunds.ts'
import { type Change, type FailingRefund, isPayable, type Payment, statusOf } from './payment.ts'

/** Amounts are in pence. The time of creation is in `refund_id`. */
export type Refund = {
  refund_id: string
  payment_id: string
  room: string
  amount: number
  /** How a plan or a test lets it end. */
  scenario: RefundScenario
}

export const refundScenarios = ['success', 'error'] as const
type RefundScenario = (typeof refundScenarios)[number]

/** What the client asked for. `available` is the amount that it believes can still be refunded. */
export type NewRefund = { amount: number; available?: number | undefined }

/** Milliseconds for which a refund is submitted that will fail, as only control makes one. */
const SUBMITTED_MS = refundSubmittedFor.specification

/** Specification, *Limits*. `created` and `now` in milliseconds. */
export function refundStatus(
  created: number,
  scenario: RefundScenario,
  behaviour: Behaviour,
  now: AccountTime,
) {
  const ms = scenario === 'success' ? refundSubmittedFor[behaviour] : SUBMITTED_MS
  return now - created < ms ? 'submitted' : scenario
}

/**
 * Refunds `amount` pence at `now`, in milliseconds. The caller checks first that the payment allows it. With `fails` the
 * refund is an error once it was submitted long enough. A check constraint of the table `payments` refuses a sum of
 * refunds above the amount.
 */
export function refund(payment: Payment, amount: number, now: AccountTime, fails = false): Change {
  const after = {
    ...payment,
    version: payment.version + 1,
    refunded_amount: payment.refunded_amount + amount,
    ...(fails && { failing_refunds: withFailing(payment.failing_refunds, amount, now) }),
  }
  return { before: payment, after, at: now, sends: ['card_payment_refunded'] }
}

/** Refunds of one moment are one entry, so that the list does not grow while a clock stands still. */
function withFailing(failing: FailingRefund[] = [], amount: number, at: AccountTime) {
  const last = failing.at(-1)
  if (last?.at !== at) return [...failing, { at, amount }]
  return [...failing.slice(0, -1), { at, amount: last.amount + amount }]
}

/** The payment at `now`, in milliseconds: the amounts of refunds that have failed by then are available again. */
export function paymentAt(payment: Payment, now: AccountTime): Payment {
  const { failing_refunds: failing, refunded_amount } = payment
  if (!failing?.length) return payment
  const submitted = failing.filter(({ at }) => now - at < SUBMITTED_MS)
  const sumOf = (refunds: FailingRefund[]) => refunds.reduce((sum, { amount }) => sum + amount, 0)
  return {
    ...payment,
    refunded_amount: refunded_amount - sumOf(failing) + sumOf(submitted),
    failing_refunds: submitted,
  }
}

/** Specification, *Payment*: whether a refund is possible. Amounts are in pence. */
export function refundSummary(payment: Payment) {
  const { amount } = payment.given
  const status = statusOf(payment)
  const refunded = payment.refunded_amount
  if (status === 'success')
    return {
      status: refunded < amount ? 'available' : 'full',
      amount_available: amount - refunded,
      amount_submitted: refunded,
    } as const
  const pending = isPayable(status) || status === 'submitted'
  return {
    status: pending ? 'pending' : 'unavailable',
    amount_available: amount,
    amount_submitted: 0,
  } as const
}
