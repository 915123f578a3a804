import type { Farthing } from '../context.ts'
import { notRefundable, paymentNotFound, refundAmountMismatch } from '../errors.ts'
import type { Addresses } from '../http/addresses.ts'
import { transition } from '../payments/commands.ts'
import { type Payment, refund as refundPayment, refundSummary } from '../payments/payment.ts'
import { findPayment } from '../payments/store.ts'
import type { Refund } from './refund.ts'
import { insertRefund } from './store.ts'

/** In pence; `available` is what the client believes can still be refunded, if it says so. */
export type Asked = { amount: number; available: number | undefined }

/**
 * Refunds a payment; webhooks have been told when this resolves. Throws an ApiError when the account has
 * no such payment, or it does not allow the refund.
 */
export async function createRefund(
  farthing: Farthing,
  addresses: Addresses,
  account: string,
  payment_id: string,
  asked: Asked,
): Promise<Refund> {
  const { database, clock, newId } = farthing
  const { amount } = asked
  const now = clock()
  const refund = { refund_id: newId(now), payment_id, account, amount }
  const outcome = await transition(
    farthing,
    addresses,
    () => findPayment(database, account, payment_id, clock()),
    payment => {
      checkRefundable(payment, asked)
      return refundPayment(payment, amount, now)
    },
    [insertRefund(refund)],
  )
  if (!outcome) throw paymentNotFound('P0600')
  return refund
}

/** SPEC: refunds require success, and together they never exceed the amount. */
function checkRefundable(payment: Payment, { amount, available }: Asked): void {
  const summary = refundSummary(payment)
  if (summary.status !== 'available')
    throw notRefundable(summary.status, 'its refund_summary.status must be available')
  if (available !== undefined && available !== summary.amount_available)
    throw refundAmountMismatch(summary.amount_available)
  if (amount > summary.amount_available)
    throw notRefundable('amount_not_available', `only ${summary.amount_available} pence are left`)
}
