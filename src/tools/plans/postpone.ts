/** Lets plans send messages later, in the time of their account. The request that caused a message does not wait for it. */
import { createGathering } from '../../core/gather.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Postpone } from '../../pay/webhooks/attempts.ts'
import { postponeMessage } from '../../pay/webhooks/message-store.ts'
import type { PlanPorts } from './find-plans.ts'
import { asksForPayment, delayOf, evaluate, fieldsOf, MESSAGE } from './plan.ts'
import type { KnownPlans } from './store.ts'
import { countsOf, MOST_TOGETHER } from './waves.ts'

type Asking = { account: Parameters<Postpone>[0]; message: Parameters<Postpone>[1] }

/** In a room one run follows the other, so that a compare-and-swap fails only against other instances. */
export function createPostpone({ database, time }: PlanPorts, { counted }: KnownPlans): Postpone {
  async function postponeSome(asking: Asking[]): Promise<boolean[] | undefined> {
    const [{ account } = {}] = asking
    const counts = countsOf((await counted(account?.room ?? '')).filter(({ on }) => on === MESSAGE))
    if (counts.plans.length === 0) return asking.map(() => false)
    const asksFor = counts.plans.some(asksForPayment)
    const payments = await Promise.all(
      asking.map(({ account, message: { payment_id } }) =>
        asksFor ? findPayment(database, account, payment_id, time.now(account)) : undefined,
      ),
    )
    const postponed = asking.map(({ message: { message_id, payment_id, created } }, i) => {
      const given = payments[i] && fieldsOf(payments[i].given)
      const { acting, counted } = evaluate(counts.plans, { operation: MESSAGE, payment_id, given })
      counts.note(counted)
      return acting && postponeMessage(message_id, created + delayOf(acting, acting.seen + 1))
    })
    const statements = [...counts.statements(), ...postponed.filter(write => write !== undefined)]
    const isWritten = statements.length === 0 || (await database.write(statements))
    return isWritten ? postponed.map(write => write !== undefined) : undefined
  }
  const together = createGathering(MOST_TOGETHER, (asking: Asking[]) =>
    untilWritten(() => postponeSome(asking)),
  )
  return (account, message) => together(account.room, { account, message })
}
