import type { Database } from '../../core/ports.ts'
import { remember } from '../../core/remember.ts'
import type { Plan } from './plan.ts'
import { findPlans } from './store.ts'

/** The most rooms whose plans are remembered. */
const MOST_ROOMS = 200

/**
 * Reads the plans of a room, perhaps with some that were removed, and with counts that may be old. `last` is the
 * plan_id of its last plan, if the caller knows it.
 */
type KnownPlans = (room: string, last: string | undefined) => Promise<readonly Plan[]>

/**
 * Remembers plans by the last of their room. New plans come after it, and nothing but the counts of a plan changes. So
 * while a room has the same last plan, no plan is missing here.
 */
export function createKnownPlans(database: Database): KnownPlans {
  const known = new Map<string, readonly Plan[]>()
  return async (room, last) => {
    const remembered = last === undefined ? undefined : known.get(last)
    if (remembered) return remembered
    const plans = await findPlans(database, room)
    const newest = plans.at(-1)
    if (newest) remember(known, newest.plan_id, plans, MOST_ROOMS)
    return plans
  }
}
