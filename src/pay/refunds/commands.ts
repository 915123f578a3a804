import type { Account, Behaviour } from '../../core/account.ts'
import { notRefundable, refundAmountMismatch } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import { unknownRefunded } from '../differences/errors.ts'
import { changePayment, type Scenarios } from '../payments/commands.ts'
import { reading } from '../payments/due-steps.ts'
import { behaviourOf, type Payment } from '../payments/payment.ts'
import {
  completeHeld,
  type NewRefund,
  type Refund,
  type RefundScenario,
  refund as refundPayment,
  refundSummary,
} from '../payments/refund.ts'
import { paymentNotFound } from '../retention.ts'
import { endRefund, heldRefundsOf, insertRefund } from './store.ts'

type NewRefundOf = {
  account: Account
  payment_id: string
  refund: NewRefund
  scenarios?: Scenarios | undefined
}

/** Resolves once the webhook messages were delivered. Throws an ApiError if the payment does not allow the refund. */
export async function createRefund(
  context: Context,
  { account, payment_id, refund, scenarios }: NewRefundOf,
): Promise<Refund & { behaviour: Behaviour }> {
  const { time, newId } = context
  const { room } = account
  const now = time.now(account)
  const { amount } = refund
  const refund_id = newId(now, room)
  const created: Refund = { refund_id, payment_id, room, amount, scenario: 'success' }
  const result = await changePayment(
    context,
    reading(context, account, payment_id),
    (payment, _, applied) => {
      checkRefundable(payment, refund)
      created.scenario = applied.refund ?? (applied.scenario === 'error' ? 'error' : 'success')
      return refundPayment(payment, amount, now, created.scenario)
    },
    { also: () => [insertRefund(created)], scenarios },
  )
  if (!result)
    throw paymentNotFound(
      unknownRefunded[account.behaviour](refund.available !== undefined),
      account.behaviour,
    )
  return { ...created, behaviour: behaviourOf(result.payment) }
}

/** The most refunds that one commit completes: each may have messages. */
const AT_ONCE = 16

/** Ends all held refunds of the payment. Resolves to false if there is none. */
export async function completeRefunds(
  context: Context,
  account: Account,
  payment_id: string,
  scenario: RefundScenario,
): Promise<boolean> {
  const read = reading(context, account, payment_id)
  for (let any = false; ; any = true) {
    let held: Refund[] = []
    const result = await changePayment(
      context,
      async () => {
        const found = await read()
        held = await heldRefundsOf(context.database, payment_id, AT_ONCE)
        return found
      },
      (payment, now) => (held.length > 0 ? completeHeld(payment, held, scenario, now) : undefined),
      { also: ({ at }) => held.map(refund => endRefund(refund, scenario, at)) },
    )
    if (!result?.moved) return any
  }
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
