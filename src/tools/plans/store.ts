import { PLANS } from '../../core/budgets.ts'
import type { Database, Statement } from '../../core/ports.ts'
import { remember } from '../../core/remember.ts'
import { countRows, where } from '../../platform/database/select.ts'
import type { Counted, Plan } from './plan.ts'

/** `body` is JSON with every field of the plan that is not a column here. */
type Row = Pick<Plan, 'plan_id' | 'room' | 'seen' | 'acted'> & { body: string }

const bodyOf = ({ plan_id, room, seen, acted, ...body }: Plan): string => JSON.stringify(body)

const fromRow = ({ body, ...columns }: Row): Plan => ({ ...JSON.parse(body), ...columns })

/** The plans of a room, in the order in which they were made. */
export async function findPlans(database: Database, room: string): Promise<Plan[]> {
  const rows = await database.query<Row>(
    'select plan_id, account as room, seen, acted, body from plans where account = $1 order by position',
    [room],
  )
  return rows.map(fromRow)
}

/** SQL for the plan_id of the last plan of a row of `accounts`, or null. The look-up of a key reads it too. */
export const LAST_PLAN_SQL =
  '(select plan_id from plans where plans.account = accounts.room order by position desc limit 1)'

/** With 10 plans of 4 KB each they take some 10 MB. */
const MOST_ROOMS = 200
/** A room with more plans reads them for each request. */
const MOST_REMEMBERED = 10

/**
 * Remembers plans by the last of their room. New plans come after it, and nothing but the counts and the note of a plan
 * change. So while a room has the same last plan, no plan is missing here: perhaps some were removed, or have old counts.
 */
export function createKnownPlans(database: Database) {
  const byLast = new Map<string, readonly Plan[]>()
  /** `last` is the plan_id of the last plan, if known. */
  return async (room: string, last = ''): Promise<readonly Plan[]> => {
    const remembered = byLast.get(last)
    if (remembered) return remembered
    const plans = await findPlans(database, room)
    const newest = plans.at(-1)
    if (newest && plans.length <= MOST_REMEMBERED)
      remember(byLast, newest.plan_id, plans, MOST_ROOMS)
    return plans
  }
}

export const countPlans = (database: Database, room: string): Promise<number> =>
  countRows(database, where('plans where account = ?', room))

/** Returns false if the room has all the plans that it may have, or another plan took its position. */
export const insertPlan = (database: Database, plan: Plan): Promise<boolean> =>
  database.write([
    {
      sql: `insert into plans (plan_id, account, position, seen, acted, body)
            select $1, $2, coalesce(max(position), 0) + 1, 0, 0, $3 from plans where account = $4
            having count(*) < ${PLANS} on conflict do nothing`,
      values: [plan.plan_id, plan.room, bodyOf(plan), plan.room],
      expect: 1,
    },
  ])

/** Counts a request, unless another request was counted after the plan was read. */
export const countRequest = ({ plan, seen, acted, note = plan.note }: Counted): Statement => ({
  sql: `update plans set seen = $3, acted = $4, body = $7
        where plan_id = $1 and account = $2 and seen = $5 and acted = $6`,
  values: [
    plan.plan_id,
    plan.room,
    seen,
    acted,
    plan.seen,
    plan.acted,
    bodyOf({ ...plan, ...(note && { note }) }),
  ],
  expect: 1,
})

export const deletePlan = (database: Database, room: string, plan_id: string): Promise<boolean> =>
  database.write([
    {
      sql: 'delete from plans where account = $1 and plan_id = $2',
      values: [room, plan_id],
      expect: 1,
    },
  ])

export const deletePlans = (database: Database, room: string): Promise<boolean> =>
  database.write([{ sql: 'delete from plans where account = $1', values: [room] }])
