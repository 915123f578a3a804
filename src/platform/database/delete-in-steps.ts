import type { Database, Value } from '../../core/ports.ts'

/** One step of a deletion changes about so many rows: few, so that it does not delay other writes. */
export const STEP = 200

/** Deletes matching rows in small steps, until none is left. `key`: columns. Rows with the same key go together. */
export async function deleteInSteps(
  database: Database,
  [table, key]: readonly [table: string, key: string],
  [condition, ...values]: readonly [sql: string, ...values: Value[]],
  stop?: AbortSignal,
): Promise<void> {
  const find = `select ${key} from ${table} where ${condition} limit ${STEP}`
  const remove = `delete from ${table} where ${condition} and (${key}) in (${find})`
  while (!stop?.aborted) {
    const rows = await database.query(find, values)
    if (rows.length > 0) await database.write([{ sql: remove, values }])
    if (rows.length < STEP) return
  }
}
