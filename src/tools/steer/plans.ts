import type { Account } from '../../core/account.ts'
import { PLANS } from '../../core/budgets.ts'
import { untilWritten } from '../../core/retry.ts'
import { findPayment } from '../../pay/payments/store.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { countPlans, insertPlan } from '../plans/store.ts'
import { clockMove, moveClock } from './clock.ts'
import { notFound, tooMany } from './errors.ts'
import { readFields } from './fields.ts'
import { type NewPlan, newPlan, readPlan } from './plan-wire.ts'

type PlanContext = ToolContext & {
  /** The endpoints that a plan can name. */
  operations: readonly Endpoint[]
}

export const hasAllPlans = () => tooMany(`an account has at most ${PLANS} plans: delete some`)

/** Stores a plan, with its defaults. Throws an error for an impossible plan. */
export async function makePlan(
  { database, time, newId, operations }: PlanContext,
  account: Account,
  input: NewPlan,
): Promise<Plan> {
  const { room, behaviour } = account
  const read = readPlan(input, { operations, behaviour })
  const { payment_id } = read
  const now = time.now(account)
  if (payment_id !== undefined && !(await findPayment(database, account, payment_id, now)))
    throw notFound('payment')
  const plan: Plan = { ...read, plan_id: newId(now, room), room, seen: 0, acted: 0 }
  return untilWritten(async () => {
    if (await insertPlan(database, plan)) return plan
    if ((await countPlans(database, room)) >= PLANS) throw hasAllPlans()
    return undefined
  })
}

/** A request below /control that a button stands for, so that no terminal is needed. */
type Act = { path: 'plans' | 'clock'; body: Readonly<Record<string, unknown>> }

/** Has the effect of the request, and throws its errors. */
export async function steer(context: PlanContext, account: Account, { path, body }: Act) {
  if (path === 'plans') await makePlan(context, account, readFields(body, newPlan.fields))
  else await moveClock(context, account, readFields(body, clockMove.fields))
}
