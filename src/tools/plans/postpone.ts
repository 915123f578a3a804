/** Lets plans send messages later, in the time of their account. The request that caused a message does not wait for it. */
import { untilWritten } from '../../core/retry.ts'
import { createSlots, inSlot } from '../../core/slots.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Postpone } from '../../pay/webhooks/attempts.ts'
import { postponeMessage } from '../../pay/webhooks/message-store.ts'
import type { PlanPorts } from './find-plans.ts'
import { asksForPayment, delayOf, evaluate, fieldsOf, MESSAGE } from './plan.ts'
import { countRequests, type KnownPlans } from './store.ts'

/** Messages of a room take turns, so that a compare-and-swap fails only against other instances. */
export function createPostpone({ database, time }: PlanPorts, { counted }: KnownPlans): Postpone {
  const takeTurn = createSlots(1, Infinity)
  return (account, { message_id, payment_id, created }) =>
    inSlot(takeTurn, account.room, async () => {
      const { isPostponed } = await untilWritten(async () => {
        const plans = (await counted(account.room)).filter(({ on }) => on === MESSAGE)
        if (plans.length === 0) return { isPostponed: false }
        const now = time.now(account)
        const payment = plans.some(asksForPayment)
          ? await findPayment(database, account, payment_id, now)
          : undefined
        const subject = {
          operation: MESSAGE,
          payment_id,
          given: payment && fieldsOf(payment.given),
        }
        const { acting, counted: counts } = evaluate(plans, subject)
        const due_at = acting && created + delayOf(acting, acting.seen + 1)
        const statements = countRequests(counts)
        if (due_at !== undefined) statements.push(postponeMessage(message_id, due_at))
        const isWritten = statements.length === 0 || (await database.write(statements))
        return isWritten ? { isPostponed: acting !== undefined } : undefined
      })
      return isPostponed
    })
}
