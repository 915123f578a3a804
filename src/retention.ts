import { idFloor } from './ids.ts'
import type { Database } from './ports.ts'

/** Specification, *Limits*: a payment is gone 7 days after its creation, in any state. Milliseconds. */
export const RETENTION_MS = 7 * 24 * 60 * 60 * 1000

/** The last result: under load dozens of reads share a millisecond. Without it P2 was some 8 % slower. */
let remembered = { now: Number.NaN, id: '' }

/**
 * The lowest identifier that a payment which still exists can have. Reads compare with it, so that payments go to
 * the millisecond, whenever the sweep runs.
 */
export function oldestKept(now: number): string {
  if (now !== remembered.now) remembered = { now, id: idFloor(now - RETENTION_MS + 1) }
  return remembered.id
}

/** The most rows of a table that one step of the sweep changes, so that it does not delay other writes. */
const STEP = 200

/** Tables whose rows are deleted with their payment. The payment is last. */
const TABLES = ['refunds', 'idempotency_keys', 'payments']

const deleteOld = (table: string): string =>
  `delete from ${table} where payment_id in
     (select payment_id from ${table} where payment_id < $1 order by payment_id limit ${STEP})`

const findOld = [
  ...TABLES.map(table => `${table} where`),
  'webhook_messages where body is not null and',
]
  .map(from => `(select payment_id from ${from} payment_id < $1 limit 1)`)
  .join(', ')

/**
 * Deletes the rows of payments that are gone, in small steps, until none is left or `stop` is aborted. A message
 * that was never delivered becomes FAILED, which is how the API already shows it.
 */
export async function sweep(database: Database, now: number, stop?: AbortSignal): Promise<void> {
  const cutoff = oldestKept(now)
  while (!stop?.aborted) {
    const [any] = await database.query<{ payment_id: string | null }>(
      `select coalesce(${findOld}) as payment_id`,
      [cutoff],
    )
    if (!any?.payment_id) return
    await database.write(
      [
        ...TABLES.map(deleteOld),
        // Deletes the buckets of the two hours around the cut-off early: `totalBetween` counts these row by row.
        'delete from payment_counts where bucket < $1',
        `update webhook_messages set body = null,
           status = case when status = 'PENDING' then 'FAILED' else status end
         where message_id in (select message_id from webhook_messages
           where payment_id < $1 and body is not null order by payment_id limit ${STEP})`,
      ].map(sql => ({ sql, values: [cutoff] })),
    )
  }
}
