import type { Account } from '../../core/account.ts'
import { notRefundable, paymentNotFound, refundAmountMismatch } from '../../core/errors.ts'
import type { Statement } from '../../core/ports.ts'
import type { Context } from '../context.ts'
import { unknownRefunded } from '../differences/errors.ts'
import { changePayment, type Scenarios } from '../payments/commands.ts'
import type { Payment } from '../payments/payment.ts'
import {
  type NewRefund,
  type Refund,
  refund as refundPayment,
  refundSummary,
} from '../payments/refund.ts'
import { findPayment } from '../payments/store.ts'
import { insertRefund } from './store.ts'

type NewRefundOf = {
  account: Account
  payment_id: string
  refund: NewRefund
  scenarios?: Scenarios | undefined
}

/** Resolves once the webhook messages were delivered. Throws an ApiError when the payment does not allow it. */
export async function createRefund(
  context: Context,
  { account, payment_id, refund, scenarios }: NewRefundOf,
): Promise<Refund> {
  const { database, time, newId } = context
  const { room } = account
  const now = time.now(account)
  const { amount } = refund
  const refund_id = newId(now, room)
  const made: Refund = { refund_id, payment_id, room, amount, scenario: 'success' }
  let counted: Statement[] = []
  const result = await changePayment(
    context,
    async () => {
      const payment = await findPayment(database, room, payment_id, time.now(account))
      const plans = payment && (await scenarios?.apply(payment))
      made.scenario = plans?.applied?.scenario === 'error' ? 'error' : 'success'
      counted = plans?.counted ?? []
      return payment && { payment, account }
    },
    payment => {
      checkRefundable(payment, refund)
      return refundPayment(payment, amount, now, made.scenario === 'error')
    },
    () => [insertRefund(made), ...counted],
    scenarios?.inTurn,
  )
  if (!result)
    throw paymentNotFound(unknownRefunded[account.behaviour](refund.available !== undefined))
  return made
}

/** Specification, *States and transitions*: only after success, and together never more than the amount. */
function checkRefundable(payment: Payment, { amount, available }: NewRefund): void {
  const { status, amount_available } = refundSummary(payment)
  if (status !== 'available')
    throw notRefundable(status, 'its refund_summary.status must be available')
  if (available !== undefined && available !== amount_available)
    throw refundAmountMismatch(amount_available)
  if (amount > amount_available)
    throw notRefundable('amount_not_available', `only ${amount_available} pence are left`)
}
