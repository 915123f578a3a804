import { idFloor } from './ids.ts'
import type { Database } from './ports.ts'

/** SPEC *Limits*: a payment is gone when 7 days have passed since its creation, in whatever state. */
export const RETENTION_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Every payment that still exists has an identifier that sorts at or after this. Reads compare with
 * it, so that the rule holds to the millisecond whenever the sweep runs.
 */
export const oldestKept = (now: number): string => idFloor(now - RETENTION_MS + 1)

/** Rows that one step of the sweep touches: small enough to hold nobody up. */
const STEP = 200

const gone = (table: string, key: string) =>
  `delete from ${table} where ${key} in (select ${key} from ${table} where payment_id < $1 order by payment_id limit ${STEP})`

/**
 * Frees the space of what is gone, in small steps, and answers when there is nothing left. A message
 * that was never delivered becomes FAILED, as it already reads.
 */
export async function sweep(database: Database, now: number): Promise<void> {
  const cutoff = oldestKept(now)
  for (;;) {
    const [left] = await database.query<{ payment: string | null; message: string | null }>(
      `select (select payment_id from payments where payment_id < $1 limit 1) as payment,
              (select message_id from webhook_messages where payment_id < $1 and body is not null limit 1) as message`,
      [cutoff],
    )
    if (!left?.payment && !left?.message) return
    await database.write(
      [
        gone('refunds', 'refund_id'),
        `delete from idempotency_keys where payment_id in
           (select payment_id from idempotency_keys where payment_id < $1 order by payment_id limit ${STEP})`,
        `update webhook_messages set body = null,
           status = case when status = 'PENDING' then 'FAILED' else status end
         where message_id in (select message_id from webhook_messages
           where payment_id < $1 and body is not null order by payment_id limit ${STEP})`,
        gone('payments', 'payment_id'),
      ].map(sql => ({ sql, values: [cutoff] })),
    )
  }
}
