import type { Database, Value } from '../../core/ports.ts'

/** The most rows of a table that one step of a deletion changes, so that it does not delay other writes. */
export const STEP = 200

/** Deletes matching rows in small steps, until none is left. `column` is one that tells most of them apart. */
export async function deleteInSteps(
  database: Database,
  [table, column]: readonly [table: string, column: string],
  condition: string,
  values: Value[],
  stop?: AbortSignal,
): Promise<void> {
  const find = `select ${column} from ${table} where ${condition} limit ${STEP}`
  const remove = `delete from ${table} where ${condition} and ${column} in (${find})`
  while (!stop?.aborted) {
    const rows = await database.query(find, values)
    if (rows.length > 0) await database.write([{ sql: remove, values }])
    if (rows.length < STEP) return
  }
}
