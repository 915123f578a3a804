/** Counts the requests to the API that an account made in each of the last minutes. */

import { RECORD_ROWS } from '../../core/budgets.ts'
import { idFloor, timeOf } from '../../core/ids.ts'
import type { Database, MachineTime } from '../../core/ports.ts'
import { remember } from '../../core/remember.ts'
import { MINUTE } from '../../core/time.ts'
import { findPart, join, numbered, where } from '../../platform/database/select.ts'
import { evidenceRows } from './columns.ts'

export const MINUTES = 15

export type Traffic = Awaited<ReturnType<typeof readTraffic>>
export type Minute = Traffic['minutes'][number]

const minuteOf = (time: number): number => Math.floor(time / MINUTE) * MINUTE

export const firstMinute = (wall: MachineTime): number => minuteOf(wall) - (MINUTES - 1) * MINUTE

/**
 * Oldest first; the last is the present minute. `most`: the record keeps that many exchanges of the account.
 * `keptSince`: older requests are no longer kept, although they may be of these minutes; undefined if all are kept.
 * `unkept`: how many requests, page steps and attempts were only counted. Times in milliseconds of the machine.
 */
export async function readTraffic(
  database: Database,
  room: string,
  { wall, most }: { wall: MachineTime; most: number },
) {
  const first = firstMinute(wall)
  const begins = Array.from({ length: MINUTES }, (_, i) => first + i * MINUTE)
  const keptSince = await keptFrom(database, room, first, most)
  const from = idFloor(keptSince ?? first)
  const [counted, gaps] = await Promise.all([
    countMinutes(database, room, begins, from),
    readGaps(database, room, from),
  ])
  const minutes = begins.map((begin, i) => {
    const { requests = 0, refused = 0 } = counted.find(({ minute }) => minute === i) ?? {}
    const inside = gaps.filter(({ exchange_id }) => minuteOf(timeOf(exchange_id)) === begin)
    const unkept = inside.reduce((sum, { gap }) => sum + (gap?.count ?? 1), 0)
    return { from: begin, requests, refused, unkept }
  })
  return { minutes, keptSince }
}

/** When the record begins, if that is after `first` because older requests were deleted. */
async function keptFrom(database: Database, room: string, first: number, most: number) {
  const [last] = await database.query<{ exchange_id: string }>(
    `select exchange_id from exchanges where account = $1 and exchange_id >= $2
     order by exchange_id desc limit 1 offset ${most - 1}`,
    [room, idFloor(first)],
  )
  return last && timeOf(last.exchange_id)
}

/** Counts in memory, by the minute. `sum` is that of the last `MINUTES`. */
export function createMinuteCounts(wall: () => MachineTime) {
  const counts = new Map<number, number>()
  return {
    count() {
      const minute = minuteOf(wall())
      remember(counts, minute, (counts.get(minute) ?? 0) + 1, MINUTES)
    },
    sum() {
      const first = firstMinute(wall())
      return [...counts].reduce((all, [minute, count]) => all + (minute < first ? 0 : count), 0)
    },
  }
}

/** The index has every column that is read. Each range is counted by itself: a row is compared with two limits. */
function countMinutes(database: Database, room: string, begins: number[], from: string) {
  const counts = begins.map((begin, i) => {
    const [low, high] = [idFloor(begin), idFloor(begin + MINUTE)]
    return where(
      `select ${i} as minute, cast(count(*) as integer) as requests,
         cast(coalesce(sum(refused), 0) as integer) as refused
       from exchanges where account = ? and exchange_id >= ? and exchange_id < ? and kind = 'api'`,
      room,
      low > from ? low : from,
      high,
    )
  })
  const { sql, values } = join(counts, ' union all ')
  type Row = { minute: number; requests: number; refused: number }
  return database.query<Row>(numbered(sql), values)
}

const readGaps = (database: Database, room: string, from: string) =>
  findPart(
    database,
    evidenceRows,
    [where(`account = ? and exchange_id >= ? and kind = 'gap'`, room, from)],
    { limit: RECORD_ROWS, order: 'newest' },
  )
