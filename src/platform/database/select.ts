/** Builds the queries of searches and lists. */
import { STEP_BYTES } from '../../core/budgets.ts'
import type { Database, Value } from '../../core/ports.ts'

/** A condition of a search: SQL with one `?` for each value. */
export type Condition = { sql: string; values: Value[] }

export const where = (sql: string, ...values: Value[]): Condition => ({ sql, values })

export const ifGiven = (sql: string, value: Value | undefined): Condition[] =>
  value === undefined ? [] : [where(sql, value)]

/** The columns to select for a type of row. The compiler names a column that is missing. */
export const columnsFor = <Row>(columns: { [Name in keyof Row]-?: string }): string =>
  Object.entries<string>(columns)
    .map(([name, column]) => (name === column ? column : `${column} as ${name}`))
    .join(', ')

/** Joins the parts of a query, with `between` between two parts. */
export const join = (parts: Condition[], between: string): Condition =>
  where(parts.map(({ sql }) => sql).join(between), ...parts.flatMap(({ values }) => values))

export const allOf = (conditions: Condition[]): Condition => join(conditions, ' and ')

/** Replaces each `?` of the SQL by its number, as in `$1`: the port `Database` takes only those. */
export function numbered(sql: string): string {
  let position = 0
  return sql.replaceAll('?', () => `$${++position}`)
}

/** A range of identifiers. Neither `before` nor `after` is part of it. */
export type Range = { before?: string | undefined; after?: string | undefined }

export const inRange = (id: string, { before, after }: Range): Condition[] => [
  ...ifGiven(`${id} < ?`, before),
  ...ifGiven(`${id} > ?`, after),
]

/** A table that can be searched. Rows are sorted by identifier. */
export type Searchable<Row, Item> = {
  from: string
  columns: string
  id: string
  fromRow: (row: Row) => Item
}

/** A searchable table whose rows may be large. `bytes` is an SQL expression for their size. */
export type Sized<Row, Item> = Searchable<Row, Item> & { bytes: string }

/** At most `limit` rows: the newest, newest first, or the oldest, oldest first. */
export type Part = { limit: number; order: 'newest' | 'oldest' }

export function selectPart(
  { from, columns, id }: Omit<Searchable<never, unknown>, 'fromRow'>,
  conditions: Condition[],
  { limit, order }: Part,
): Condition {
  const { sql, values } = allOf(conditions)
  const direction = order === 'newest' ? 'desc' : 'asc'
  return where(
    `select ${columns} from ${from} where ${sql} order by ${id} ${direction} limit ?`,
    ...values,
    limit,
  )
}

export async function findPart<Row, Item>(
  database: Database,
  table: Searchable<Row, Item>,
  conditions: Condition[],
  part: Part,
): Promise<Item[]> {
  const { sql, values } = selectPart(table, conditions, part)
  return (await database.query<Row>(numbered(sql), values)).map(table.fromRow)
}

/** The first and the last `limit` items, oldest first: all of them, if there are no more. */
export async function findEnds<Row, Item>(
  database: Database,
  table: Searchable<Row, Item> & { idOf: (item: Item) => string },
  conditions: Condition[],
  limit: number,
): Promise<Item[]> {
  const first = await findPart(database, table, conditions, { limit, order: 'oldest' })
  const end = first[limit - 1]
  if (!end) return first
  const rest = [...conditions, where(`${table.id} > ?`, table.idOf(end))]
  const last = await findPart(database, table, rest, { limit, order: 'newest' })
  return [...first, ...last.reverse()]
}

export async function findOne<Row, Item>(
  database: Database,
  table: Searchable<Row, Item>,
  condition: Condition,
): Promise<Item | undefined> {
  const [item] = await findPart(database, table, [condition], { limit: 1, order: 'oldest' })
  return item
}

/** The number of rows. `from` is the SQL after the word `from`. */
export async function countRows(database: Database, from: Condition): Promise<number> {
  const sql = `select cast(count(*) as integer) as found from ${from.sql}`
  const [row] = await database.query<{ found: number }>(numbered(sql), from.values)
  return row?.found ?? 0
}

/** Conditions of consecutive steps through the rows; one query reads the rows of each step. */
export type Steps = AsyncIterable<Condition[]> | readonly Condition[][]

/**
 * Finds at most `most` bytes of rows, but at least one row. Reads STEP_BYTES at once, so that other reads get their
 * turn. `steps` are in the order of the rows; by default one step has all rows.
 */
export async function findWithin<Row, Item>(
  database: Database,
  table: Sized<Row, Item>,
  conditions: Condition[],
  { most, steps = [[]], ...part }: Part & { most: number; steps?: Steps },
): Promise<Item[]> {
  const { from, id, bytes } = table
  const columns = `${id} as id, ${bytes} as bytes`
  const sized = { from, columns, id, fromRow: (row: { id: string; bytes: number }) => row }
  const reads: string[][] = []
  let [sum, left] = [0, part.limit]
  for await (const step of steps) {
    let ofRead = Infinity
    const rows = await findPart(database, sized, [...conditions, ...step], { ...part, limit: left })
    for (const row of rows) {
      sum += row.bytes
      ofRead += row.bytes
      const isFull = sum > most && reads.length > 0
      left = isFull ? 0 : left - 1
      if (isFull) break
      if (ofRead <= STEP_BYTES) reads.at(-1)?.push(row.id)
      else {
        reads.push([row.id])
        ofRead = row.bytes
      }
    }
    if (left === 0) break
  }
  const found: Item[] = []
  for (const ids of reads) {
    const [low = '', high = ''] = [ids[0], ids.at(-1)].sort()
    const range = where(`${id} >= ? and ${id} <= ?`, low, high)
    const limit = ids.length
    found.push(...(await findPart(database, table, [...conditions, range], { ...part, limit })))
  }
  return found
}

/** A page of a search. `results` can be read once, and makes each result when it is read. */
export type FoundPage<Item> = { total: number; count: number; results: Iterable<Item> }

/** `total`: a query for the number of all results, if there is one that is faster than counting. */
type PageOfSearch = { page: number; displaySize: number; total?: Condition | undefined }

/** One page of rows and the number of all matching rows, from one snapshot. */
export async function findPage<Row, Item>(
  database: Database,
  { from, columns, id, fromRow }: Searchable<Row, Item>,
  conditions: Condition[],
  { page, displaySize, total }: PageOfSearch,
): Promise<FoundPage<Item>> {
  const matching = allOf(conditions)
  const counted =
    total ?? where(`select count(*) from ${from} where ${matching.sql}`, ...matching.values)
  const rows = await database.query<Row & { total: number; found: number | null }>(
    numbered(`select counted.total, page.* from
       (select cast((${counted.sql}) as integer) as total) counted
     left join
       (select 1 as found, ${columns} from ${from} where ${matching.sql}
        order by ${id} desc limit ? offset ?) page on 1 = 1
     order by ${id} desc`),
    [...counted.values, ...matching.values, displaySize, (page - 1) * displaySize],
  )
  const results = rows.filter(row => row.found !== null)
  return {
    total: rows[0]?.total ?? 0,
    count: results.length,
    results: results.values().map(fromRow),
  }
}
