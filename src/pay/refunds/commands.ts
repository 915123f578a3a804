import type { Account, Behaviour } from '../../core/account.ts'
import { notRefundable, paymentNotFound, refundAmountMismatch } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { changePayment, type Scenarios, type Write } from '../payments/commands.ts'
import { behaviourOf, type Payment } from '../payments/payment.ts'
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
): Promise<Refund & { behaviour: Behaviour }> {
  const { database, time, newId } = context
  const { room } = account
  const now = time.now(account)
  const { amount } = refund
  const refund_id = newId(now, room)
  const made: Refund = { refund_id, payment_id, room, amount, scenario: 'success' }
  let write: Write | undefined
  const result = await changePayment(
    context,
    async () => {
      const payment = await findPayment(database, room, payment_id, time.now(account))
      const plans = payment && (await scenarios?.apply(payment))
      made.scenario = plans?.applied?.scenario === 'error' ? 'error' : 'success'
      write = plans?.write
      return payment && { payment, account }
    },
    payment => {
      checkRefundable(payment, refund)
      return refundPayment(payment, amount, now, made.scenario === 'error')
    },
    () => ({ statements: [insertRefund(made)], write }),
    scenarios?.inTurn,
  )
  if (!result) throw paymentNotFound('P0600')
  return { ...made, behaviour: behaviourOf(result.payment) }
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
