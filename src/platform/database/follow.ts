/**
 * Lists that can be followed with a cursor that misses no row. Rows are listed in the order of their identifiers, but
 * two instances may commit them in another order. So a cursor also counts the rows listed in the last seconds before
 * it. If a slot of those seconds has more rows now, the list goes back to it, and repeats some rows.
 */
import { LIST_PAGE_BYTES } from '../../core/budgets.ts'
import { idFloor } from '../../core/ids.ts'
import type { Database } from '../../core/ports.ts'
import {
  allOf,
  type Condition,
  findWithin,
  ifGiven,
  inRange,
  numbered,
  type Part,
  type Range,
  type Sized,
  where,
} from './select.ts'

/** The first digits of an identifier that name its slot: 256 ms of time. */
const SLOT_DIGITS = 8
/** The slots that a cursor counts: 16 seconds, longer than a commit may take, with a second for clocks that differ. */
const SLOTS = 64
/** SLOTS in milliseconds, and one slot more: a row that a query missed was begun at most so long before it. */
export const LONGEST_COMMIT = (SLOTS + 1) * 256

/**
 * A table whose rows are followed. `idOf`: the identifier of a row. `edgeOf`: the end of the next step through a range,
 * or undefined for the last step: a filter without an index looks at every row, so it needs several steps.
 */
type Followed<Row, Item> = Sized<Row, Item> & {
  idOf: (item: Item) => string
  edgeOf?: (range: Range, order: Part['order']) => Promise<string | undefined>
}

/** How to page. At most one of `after` and `before`. */
export type Paging = {
  /** `next` of an earlier page, or an identifier, for exactly the rows that sort after it. */
  after?: string | undefined
  before?: string | undefined
  limit: number
}

export type FollowedPage<Row> = {
  /** Oldest first. */
  rows: Row[]
  next: string
  /** The `before` with which to get the page before this one; null without rows. */
  previous: string | null
}

type Counts = Map<number, number>

const slotOf = (id: string): number => Number.parseInt(id.slice(0, SLOT_DIGITS), 32)

/** Sorts before every identifier in the slot. */
const startOf = (slot: number): string => slot.toString(32).padStart(SLOT_DIGITS, '0')

/** A text that sorts before the identifiers that a cursor counts. */
const windowOf = (id: string): string => startOf(Math.max(0, slotOf(id) - SLOTS + 1))

/** The cursor after which all rows since `time` are listed. `time` is in milliseconds. */
export const cursorAt = (time: number): string => printCursor(idFloor(time), new Map())

/** A page of at most 1 MB: after `after`, else the newest, or with `since` the oldest. All pages need equal filters. */
export async function findFollowed<Row, Item>(
  database: Database,
  table: Followed<Row, Item>,
  filters: Condition[],
  { after, before, limit, since }: Paging & { since?: string | undefined },
): Promise<FollowedPage<Item>> {
  const { idOf } = table
  const conditions = [...filters, ...ifGiven(`${table.id} >= ?`, since)]
  const count = (range: Range) => countBySlot(database, table, conditions, range)
  const find = (range: Range, order: Part['order']) => {
    const part = { limit, order, most: LIST_PAGE_BYTES, steps: stepsOf(table, range, order) }
    return findWithin(database, table, conditions, part)
  }

  const start = after ?? (before === undefined ? since : undefined)
  if (start === undefined) {
    const rows = (await find({ before }, 'newest')).reverse()
    const [first, last] = [rows[0], rows.at(-1)]
    if (!first || !last) return { rows, next: cursorAt(0), previous: null }
    // A list of the newest rows never repeats rows from before its first one.
    const older = await count({ after: windowOf(idOf(last)), before: idOf(first) })
    return pageOf(rows, idOf, older)
  }

  const cursor = readCursor(start)
  let from = cursor.id
  let listed: Counts = new Map()
  if (cursor.counts) {
    listed = await count({ after: windowOf(from), before: textAfter(from) })
    const late = [...listed].find(([slot, found]) => found > (cursor.counts?.get(slot) ?? 0))?.[0]
    if (late !== undefined) {
      from = startOf(late)
      listed = new Map([...listed].filter(([slot]) => slot < late))
    }
  }
  const rows = await find({ after: from, before }, 'oldest')
  return rows.length === 0 ? { rows, next: start, previous: null } : pageOf(rows, idOf, listed)
}

function pageOf<Item>(rows: Item[], idOf: (item: Item) => string, before: Counts) {
  const ids = rows.map(idOf)
  const [first = '', last = ''] = [ids[0], ids.at(-1)]
  const counts = new Map(before)
  for (const id of ids) counts.set(slotOf(id), (counts.get(slotOf(id)) ?? 0) + 1)
  return { rows, next: printCursor(last, counts), previous: first }
}

/** The text that sorts next after the identifier. */
const textAfter = (id: string): string => `${id}0`

/** The steps through a range, in the order of their rows. */
async function* stepsOf<Row, Item>(
  { id, edgeOf }: Followed<Row, Item>,
  range: Range,
  order: Part['order'],
): AsyncGenerator<Condition[]> {
  for (let rest = range; ; ) {
    const edge = await edgeOf?.(rest, order)
    if (edge === undefined) return yield inRange(id, rest)
    if (order === 'newest') {
      yield [where(`${id} >= ?`, edge), ...inRange(id, { before: rest.before })]
      rest = { ...rest, before: edge }
    } else {
      yield [where(`${id} <= ?`, edge), ...inRange(id, { after: rest.after })]
      rest = { ...rest, after: edge }
    }
  }
}

async function countBySlot<Row, Item>(
  database: Database,
  table: Followed<Row, Item>,
  conditions: Condition[],
  range: Range,
): Promise<Counts> {
  const counts: Counts = new Map()
  for await (const step of stepsOf(table, range, 'oldest')) {
    const { sql, values } = allOf([...conditions, ...step])
    const slots = await database.query<{ slot: string; found: number }>(
      numbered(`select substr(${table.id}, 1, ${SLOT_DIGITS}) as slot, cast(count(*) as integer) as found
        from ${table.from} where ${sql} group by 1 order by 1`),
      values,
    )
    for (const { slot, found } of slots)
      counts.set(slotOf(slot), (counts.get(slotOf(slot)) ?? 0) + found)
  }
  return counts
}

function printCursor(id: string, counts: Counts): string {
  const newest = slotOf(id)
  const texts = Array.from({ length: SLOTS }, (_, back) => counts.get(newest - back) || '')
  return `${id}-${texts.join('.').replace(/(?<!\.)\.+$/, '')}`
}

const COUNTED = /^([0-9a-v]{26}|[0-9a-v]{10})-([\d.]{0,400})$/

/** Whether a list can begin at this text: after a cursor or an identifier, or before an identifier. */
export const isCursor = (text: string): boolean => isEdge(text) || COUNTED.test(text)
export const isEdge = (text: string): boolean => /^([0-9a-v]{26}|[0-9a-v]{10})$/.test(text)

/** `counts` is undefined for an identifier. */
function readCursor(text: string): { id: string; counts: Counts | undefined } {
  const [, id, counted = ''] = COUNTED.exec(text) ?? []
  if (id === undefined) return { id: text, counts: undefined }
  const counts = counted
    .split('.')
    .map((found, back) => [slotOf(id) - back, Number(found)] as const)
  return { id, counts: new Map(counts) }
}
