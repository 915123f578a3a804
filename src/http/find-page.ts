import { idFloor } from '../ids.ts'
import type { Database, Value } from '../ports.ts'
import type { Search } from './page.ts'
import { instant } from './search.ts'

/** A condition of a search: SQL with one `?` for each value. */
export type Condition = { sql: string; values: Value[] }

/** `values` take the places of the `?` in their order. */
export const where = (sql: string, ...values: Value[]): Condition => ({ sql, values })

/** from_date and to_date as the identifiers that are the first to match and the first not to. */
export const createdRange = ({ given: { from_date, to_date } }: Search) => ({
  from: from_date && idFloor(instant(from_date)),
  until: to_date && idFloor(instant(to_date)),
})

/** from_date and to_date on the time that an identifier begins with. */
export function createdBetween(search: Search, id: string): Condition[] {
  const { from, until } = createdRange(search)
  return [
    ...(from ? [where(`${id} >= ?`, from)] : []),
    ...(until ? [where(`${id} < ?`, until)] : []),
  ]
}

/** Nothing is ever settled, so a filter on the settled date matches nothing. */
export const settledBetween = ({ given }: Search): Condition[] =>
  given.from_settled_date || given.to_settled_date ? [where('1 = 0')] : []

/** A searchable table: its rows come newest first, by identifier. */
export type Searchable<Row, Item> = {
  from: string
  columns: string
  id: string
  fromRow: (row: Row) => Item
}

/**
 * One page of rows and the number of all that match, from one moment. `total` is a query of that
 * number, for who has a faster one than to count them.
 */
export async function findPage<Row, Item>(
  database: Database,
  { from, columns, id, fromRow }: Searchable<Row, Item>,
  conditions: Condition[],
  { page, displaySize }: Search,
  total?: Condition,
): Promise<{ total: number; results: Item[] }> {
  const matching = where(
    conditions.map(({ sql }) => sql).join(' and '),
    ...conditions.flatMap(({ values }) => values),
  )
  const counted =
    total ?? where(`select count(*) from ${from} where ${matching.sql}`, ...matching.values)
  let position = 0
  const rows = await database.query<Row & { total: number; found: number | null }>(
    `select counted.total, page.* from
       (select cast((${counted.sql}) as integer) as total) counted
     left join
       (select 1 as found, ${columns} from ${from} where ${matching.sql}
        order by ${id} desc limit ? offset ?) page on 1 = 1
     order by ${id} desc`.replaceAll('?', () => `$${++position}`),
    [...counted.values, ...matching.values, displaySize, (page - 1) * displaySize],
  )
  return {
    total: rows[0]?.total ?? 0,
    results: rows.filter(row => row.found !== null).map(fromRow),
  }
}
