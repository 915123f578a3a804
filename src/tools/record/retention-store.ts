/** Deletes exchanges that are kept no longer. */
import { idFloor } from '../../core/ids.ts'
import type { Database, MachineTime } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { BEHIND, RETENTION_MS } from '../../pay/retention.ts'
import { deleteInSteps } from '../../platform/database/delete-in-steps.ts'

const TABLE = ['exchanges', 'exchange_id'] as const

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

/** Deletes of each room all but the newest. */
export async function trimExchanges(
  database: Database,
  written: Iterable<{ room: string; most: number }>,
  stop?: AbortSignal,
): Promise<void> {
  for (const { room, most } of written) {
    const [first] = await database.query<{ exchange_id: string }>(
      `select exchange_id from exchanges where account = $1
       order by exchange_id desc limit 1 offset ${most}`,
      [room],
    )
    if (first)
      await deleteInSteps(
        database,
        TABLE,
        'account = $1 and exchange_id <= $2',
        [room, first.exchange_id],
        stop,
      )
  }
}
