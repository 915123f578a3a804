import type { Behaviour } from '../../core/account.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { refundSubmittedFor } from '../differences/refunds.ts'
import { refundMessage } from '../differences/states.ts'
import type { EventType } from '../webhooks/webhook.ts'
import {
  behaviourOf,
  type Change,
  capturedAt,
  type FailingRefund,
  isPayable,
  isQueuedForCapture,
  type Payment,
  statusOf,
} from './payment.ts'

/** Amounts are in pence. The time of creation is in `refund_id`. */
export type Refund = {
  refund_id: string
  payment_id: string
  room: string
  amount: number
  /** How a plan or a test lets the refund end. A held refund does not end until somebody completes it. */
  scenario: RefundScenario | 'held'
  /** When a held refund was ended. */
  ended_at?: AccountTime | null
}

export const refundScenarios = ['success', 'error'] as const
export type RefundScenario = (typeof refundScenarios)[number]

/** The refund that the client asked for. `available` is the amount that it believes can still be refunded. */
export type NewRefund = { amount: number; available?: number | undefined }

/** Milliseconds for which a refund is submitted before it fails. Only control makes such refunds. */
const SUBMITTED_MS = refundSubmittedFor.specification

/** When a refund that is not held ends, in milliseconds. */
export function refundEnd({ refund_id, scenario, ended_at }: Refund, behaviour: Behaviour): number {
  const ms = scenario === 'success' ? refundSubmittedFor[behaviour] : SUBMITTED_MS
  return Math.max(timeOf(refund_id) + ms, ended_at ?? 0)
}

/** Specification, *Limits*. `now` in milliseconds. */
export const refundStatus = (refund: Refund, behaviour: Behaviour, now: AccountTime) =>
  refund.scenario === 'held' || now < refundEnd(refund, behaviour) ? 'submitted' : refund.scenario

/**
 * Refunds `amount` pence at `now`, in milliseconds. The caller checks first that the payment allows it. With the
 * scenario `error` the refund is an error once it was submitted long enough. A check constraint of the table `payments`
 * refuses a sum of refunds above the amount.
 */
export function refund(
  payment: Payment,
  amount: number,
  now: AccountTime,
  scenario: Refund['scenario'] = 'success',
): Change {
  const after = {
    ...payment,
    version: payment.version + 1,
    refunded_amount: payment.refunded_amount + amount,
    ...(scenario === 'error' && {
      failing_refunds: withFailing(payment.failing_refunds, amount, now),
    }),
  }
  const sends = eventsOfRefund(scenario, behaviourOf(payment))
  return { before: payment, after, at: now, sends }
}

/** The event types of a refund that is made. */
export const eventsOfRefund = (scenario: Refund['scenario'], behaviour: Behaviour): EventType[] =>
  scenario === 'success' || refundMessage[behaviour] === 'when it is made'
    ? ['card_payment_refunded']
    : []

/** Ends refunds of the payment that were held. */
export function completeHeld(
  payment: Payment,
  refunds: Refund[],
  scenario: RefundScenario,
  now: AccountTime,
): Change {
  const fails = scenario === 'error'
  let failing = payment.failing_refunds
  if (fails)
    for (const { refund_id, amount } of refunds)
      failing = withFailing(failing, amount, timeOf(refund_id))
  const after = {
    ...payment,
    version: payment.version + 1,
    ...(failing && { failing_refunds: failing }),
  }
  const isSent = !fails && refundMessage[behaviourOf(payment)] === 'at its end'
  const sends = isSent ? refunds.map(() => 'card_payment_refunded' as const) : []
  return { before: payment, after, at: now, sends }
}

/** Refunds of the same moment share an entry, so that the list does not grow while a clock stands still. */
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
  const refunded = payment.refunded_amount
  return {
    status: refundability(payment),
    amount_available: amount - refunded,
    amount_submitted: refunded,
  }
}

function refundability(payment: Payment): 'available' | 'full' | 'pending' | 'unavailable' {
  const status = statusOf(payment)
  const isCharged = status === 'started' && payment.given.authorisation_mode === 'agreement'
  if (isPayable(status) || status === 'submitted') return isCharged ? 'unavailable' : 'pending'
  if (status !== 'success' || isQueuedForCapture(payment)) return 'unavailable'
  if (capturedAt(payment) === undefined) return 'pending'
  return payment.refunded_amount < payment.given.amount ? 'available' : 'full'
}
