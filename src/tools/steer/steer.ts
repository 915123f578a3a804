import type { Account } from '../../core/account.ts'
import { clockMove, moveClock } from './clock.ts'
import { readFields } from './fields.ts'
import { newPlan } from './plan-wire.ts'
import { makePlan, type PlanContext } from './plans.ts'

/** A request below /control, for whoever has a button and no terminal. */
export type Act = { path: 'plans' | 'clock'; body: Readonly<Record<string, unknown>> }

/** Does what the request would do. Throws its errors. */
export async function steer(context: PlanContext, account: Account, { path, body }: Act) {
  if (path === 'plans') await makePlan(context, account, readFields(body, newPlan.fields))
  else await moveClock(context, account, readFields(body, clockMove.fields))
}
