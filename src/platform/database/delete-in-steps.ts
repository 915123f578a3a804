import type { Database, Value } from '../../core/ports.ts'

/** About the number of rows that one step of a deletion changes, so that it does not delay other writes. */
export const STEP = 200

/** Deletes matching rows in small steps, until none is left. Choose a `column` that is nearly unique: all rows with a chosen value go. */
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
