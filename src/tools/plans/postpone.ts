/** Lets plans send messages later, in the time of their account. The request that caused a message does not wait for it. */
import { createGathering, createSharing } from '../../core/gather.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Postpone } from '../../pay/webhooks/attempts.ts'
import { postponeMessage } from '../../pay/webhooks/message-store.ts'
import type { PlanPorts } from './find-plans.ts'
import { asksForPayment, delayOf, evaluate, fieldsOf, MESSAGE, type Plan } from './plan.ts'
import type { KnownPlans } from './store.ts'
import { countsOf, MOST_TOGETHER } from './waves.ts'

type Asking = { account: Parameters<Postpone>[0]; message: Parameters<Postpone>[1] }

const isOfMessages = ({ on }: Plan): boolean => on === MESSAGE

/** In a room one run follows the other, so that a compare-and-swap fails only against other instances. */
export function createPostpone({ database, time }: PlanPorts, { counted }: KnownPlans): Postpone {
  async function postponeSome(asking: Asking[]): Promise<boolean[] | undefined> {
    const room = asking[0]?.account.room ?? ''
    const counts = countsOf((await counted(room)).filter(isOfMessages))
    const paymentOf = ({ account, message: { payment_id } }: Asking) =>
      findPayment(database, account, payment_id, time.now(account))
    const payments = counts.plans.some(asksForPayment)
      ? await Promise.all(asking.map(paymentOf))
      : []
    const postponed = asking.map(({ message: { message_id, payment_id, created } }, i) => {
      const given = payments[i] && fieldsOf(payments[i].given)
      const subject = { operation: MESSAGE, payment_id, given }
      const { acting, counted: matched } = evaluate(counts.plans, subject)
      counts.note(matched)
      return acting && postponeMessage(message_id, created + delayOf(acting, acting.seen + 1))
    })
    const statements = [...counts.statements(), ...postponed.filter(write => write !== undefined)]
    const isWritten = statements.length === 0 || (await database.write(statements))
    return isWritten ? postponed.map(write => write !== undefined) : undefined
  }
  const together = createGathering(MOST_TOGETHER, (asking: Asking[]) =>
    untilWritten(() => postponeSome(asking)),
  )
  const hasPlans = createSharing<boolean>()
  return async (account, message) =>
    (await hasPlans(account.room, async () => (await counted(account.room)).some(isOfMessages))) &&
    together(account.room, { account, message })
}
