/** Deletes exchanges that are kept no longer. */
import { idFloor } from '../../core/ids.ts'
import type { Database, MachineTime } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { BEHIND, RETENTION_MS } from '../../pay/retention.ts'
import { deleteInSteps } from '../../platform/database/delete-in-steps.ts'
import { numbered, where } from '../../platform/database/select.ts'
import { BYTES } from './store.ts'

const TABLE = ['exchanges', 'exchange_id'] as const
/** Rows whose sizes are read at once: some 2 ms. */
const STEP = 1_000

/**
 * Deletes exchanges that began more than 24 hours ago or belong to a payment that is gone by `now`, the machine's time.
 * A clock that is behind keeps its payments longer, so those of its account have their 24 hours.
 */
export async function deleteOldExchanges(
  database: Database,
  now: MachineTime,
  stop?: AbortSignal,
): Promise<void> {
  await deleteInSteps(database, TABLE, 'exchange_id < $1', [idFloor(now - DAY)], stop)
  const gone = `payment_id is not null and payment_id < $1 and account not in (${BEHIND})`
  await deleteInSteps(database, TABLE, gone, [idFloor(now - RETENTION_MS + 1)], stop)
}

type Sized = { exchange_id: string; bytes: number }

/** Deletes all but the newest that are within both limits, of a room or of all rooms. The rows themselves are counted. */
export async function trimExchanges(
  database: Database,
  { room, rows, bytes }: { room?: string; rows: number; bytes: number },
  stop?: AbortSignal,
): Promise<void> {
  const ofRoom = room === undefined ? where('1 = 1') : where('account = ?', room)
  let kept = { rows: 0, bytes: 0 }
  for (let before = '~'; !stop?.aborted; ) {
    const some = await database.query<Sized>(
      numbered(`select exchange_id, ${BYTES} as bytes from exchanges
        where ${ofRoom.sql} and exchange_id < ? order by exchange_id desc limit ${STEP}`),
      [...ofRoom.values, before],
    )
    for (const { exchange_id, bytes: size } of some) {
      kept = { rows: kept.rows + 1, bytes: kept.bytes + size }
      if (kept.rows <= rows && kept.bytes <= bytes) continue
      const { sql, values } = where(
        `exchange_id <= ? and ${ofRoom.sql}`,
        exchange_id,
        ...ofRoom.values,
      )
      return deleteInSteps(database, TABLE, numbered(sql), values, stop)
    }
    const last = some.at(-1)
    if (!last || some.length < STEP) return
    before = last.exchange_id
  }
}

/** Rows that are deleted at once; they may be large. */
const DELETED = 100

/** Deletes the oldest rows, so many bytes of them. Resolves to the bytes: fewer if there were no more. */
export async function deleteOldest(database: Database, bytes: number): Promise<number> {
  let freed = 0
  while (freed < bytes) {
    const some = await database.query<Sized>(
      `select exchange_id, ${BYTES} as bytes from exchanges order by exchange_id limit ${DELETED}`,
    )
    const last = some.at(-1)
    if (!last) break
    const sql = 'delete from exchanges where exchange_id <= $1'
    await database.write([{ sql, values: [last.exchange_id] }])
    freed += some.reduce((sum, { bytes: size }) => sum + size, 0)
  }
  return freed
}

/** Deletes everything. PostgreSQL gives back its files, and SQLite frees the pages without writing to each of them. */
export async function deleteAll(database: Database): Promise<void> {
  await database.write([{ sql: 'truncate exchanges', values: [] }])
}
