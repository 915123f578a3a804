import { idFloor } from './ids.ts'
import type { Database } from './ports.ts'

/** SPEC *Limits*: a payment is gone when 7 days have passed since its creation, in whatever state. */
export const RETENTION_MS = 7 * 24 * 60 * 60 * 1000

/** The last answer: dozens of reads share a busy millisecond. */
let remembered = { now: Number.NaN, id: '' }

/**
 * Every payment that still exists has an identifier that sorts at or after this. Reads compare with
 * it, so that the rule holds to the millisecond whenever the sweep runs.
 */
export function oldestKept(now: number): string {
  if (now !== remembered.now) remembered = { now, id: idFloor(now - RETENTION_MS + 1) }
  return remembered.id
}

/** Rows that one step of the sweep touches: small enough to hold nobody up. */
const STEP = 200

/** Tables whose rows go with their payment, the payment last. */
const TABLES = ['refunds', 'idempotency_keys', 'payments']

const gone = (table: string): string =>
  `delete from ${table} where payment_id in
     (select payment_id from ${table} where payment_id < $1 order by payment_id limit ${STEP})`

const left = [
  ...TABLES.map(table => `${table} where`),
  'webhook_messages where body is not null and',
]
  .map(from => `(select payment_id from ${from} payment_id < $1 limit 1)`)
  .join(', ')

/**
 * Frees the space of what is gone, in small steps, and answers when there is nothing left. A message
 * that was never delivered becomes FAILED, as it already reads. Takes no further step once `stop` is aborted.
 */
export async function sweep(database: Database, now: number, stop?: AbortSignal): Promise<void> {
  const cutoff = oldestKept(now)
  while (!stop?.aborted) {
    const [any] = await database.query<{ payment_id: string | null }>(
      `select coalesce(${left}) as payment_id`,
      [cutoff],
    )
    if (!any?.payment_id) return
    await database.write(
      [
        ...TABLES.map(gone),
        // Of the two hours that the cut-off is in, buckets go early: `totalBetween` counts those row by row.
        'delete from payment_counts where bucket < $1',
        `update webhook_messages set body = null,
           status = case when status = 'PENDING' then 'FAILED' else status end
         where message_id in (select message_id from webhook_messages
           where payment_id < $1 and body is not null order by payment_id limit ${STEP})`,
      ].map(sql => ({ sql, values: [cutoff] })),
    )
  }
}
