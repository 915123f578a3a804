import { PLANS } from '../../core/budgets.ts'
import { createSharing, inSizes } from '../../core/gather.ts'
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

/** Rooms with up to FEW plans, and large rooms, are remembered: of each kind 2,000 plans of 4 KB, or some 10 MB. */
const FEW = 10
const MOST_ROOMS = 200
const MOST_LARGE_ROOMS = 20

/**
 * Remembers the plans of a room by its last plan. New plans come after that, and only the counts and the note of a plan
 * change. So while a room has the same last plan, no plan is missing here, but some may be removed or have old counts.
 */
export function createKnownPlans(database: Database) {
  const byLast = new Map<string, readonly Plan[]>()
  const largeByLast = new Map<string, readonly Plan[]>()

  async function read(room: string): Promise<readonly Plan[]> {
    const plans = await findPlans(database, room)
    const { plan_id } = plans.at(-1) ?? {}
    if (plan_id === undefined) return plans
    if (plans.length <= FEW) remember(byLast, plan_id, plans, MOST_ROOMS)
    else remember(largeByLast, plan_id, plans, MOST_LARGE_ROOMS)
    return plans
  }
  const share = createSharing<readonly Plan[]>()
  const remembered = (last: string) => byLast.get(last) ?? largeByLast.get(last)

  return {
    /** `last` is the plan_id of the last plan, if known. */
    known: async (room: string, last = ''): Promise<readonly Plan[]> =>
      remembered(last) ?? share(`${room} ${last}`, async () => remembered(last) ?? read(room)),
    /** All plans as they are now. Only their counts are read, if the rest is remembered. */
    async counted(room: string): Promise<readonly Plan[]> {
      const counts = await database.query<Pick<Plan, 'plan_id' | 'seen' | 'acted'>>(
        'select plan_id, seen, acted from plans where account = $1 order by position',
        [room],
      )
      const plans = new Map(
        remembered(counts.at(-1)?.plan_id ?? '')?.map(plan => [plan.plan_id, plan]),
      )
      const now = counts.map(count => ({ ...plans.get(count.plan_id), ...count }))
      return now.every(isWhole) ? now : read(room)
    },
  }
}

export type KnownPlans = ReturnType<typeof createKnownPlans>

const isWhole = (plan: Partial<Plan>): plan is Plan => plan.room !== undefined

export const countPlans = (database: Database, room: string): Promise<number> =>
  countRows(database, where('plans where account = ?', room))

/** Resolves to false if the room has the most plans that it may have, or if another plan took the position. */
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

/** Counts requests, unless another request was counted after the plans were read. */
export const countRequests = (counted: Counted[]): Statement[] => inSizes(counted).map(countPart)

function countPart(counted: Counted[]): Statement {
  const rows = counted.map((_, i) => `($${[2, 3, 4, 5, 6, 7].map(n => i * 6 + n).join(', $')})`)
  const values = counted.flatMap(({ plan, seen, acted, note }) => [
    plan.plan_id,
    plan.seen,
    plan.acted,
    seen,
    acted,
    note === undefined ? null : bodyOf({ ...plan, note }),
  ])
  return {
    // Both databases name the columns of `values` column1, column2 and so on.
    sql: `update plans set seen = cast(column4 as integer), acted = cast(column5 as integer),
            body = coalesce(column6, body)
          from (values ${rows.join(', ')}) given
          where account = $1 and plan_id = column1 and seen = cast(column2 as integer)
            and acted = cast(column3 as integer)`,
    values: [counted[0]?.plan.room ?? '', ...values],
    expect: counted.length,
  }
}

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
