import { ACCOUNT_COLUMNS, type Account } from '../core/account.ts'
import { idFloor } from '../core/ids.ts'
import type { AccountTime, Database, MachineTime, Value } from '../core/ports.ts'
import { createTime, DAY } from '../core/time.ts'
import { STEP } from '../platform/database/delete-in-steps.ts'

/** Specification, *Limits*: a payment is gone 7 days after its creation, in any state. Milliseconds. */
export const RETENTION_MS = 7 * DAY

/**
 * Milliseconds. Rows are deleted a day after their payment is gone, so that an instance whose clock is ahead deletes
 * nothing that others still serve.
 */
export const DELETION_DELAY_MS = DAY

/** The last result: under load dozens of reads share a millisecond. Without it benchmark P2 was some 8 % slower. */
let remembered = { now: Number.NaN, id: '' }

/**
 * The lowest identifier that a payment which still exists can have. Reads compare with it, so that payments go to
 * the millisecond, whenever the sweep runs.
 */
export function oldestKept(now: AccountTime): string {
  if (now !== remembered.now) remembered = { now, id: idFloor(now - RETENTION_MS + 1) }
  return remembered.id
}

/** A counter in payment_counts covers the identifiers that begin with the same characters, this many. */
export const COUNTER_PREFIX = 5

/**
 * The beginning of the lowest identifiers whose payments are not to be deleted yet: those of whole counters, so that a
 * counter goes with all that it counts. Otherwise totals would be wrong once a clock that was ahead is set right.
 */
const oldestStored = (now: number): string =>
  idFloor(now - RETENTION_MS - DELETION_DELAY_MS + 1).slice(0, COUNTER_PREFIX)

/** Tables whose rows are deleted with their payment, each with the columns that choose rows to delete. The payment is last. */
export const PAYMENT_TABLES = {
  // A payment may have as many refunds as it has pence.
  refunds: 'payment_id, refund_id',
  idempotency_keys: 'payment_id',
  payments: 'payment_id',
}

/** Rooms whose clock is behind the machine's. They are swept by their own time. The room of an ended account is empty. */
export const BEHIND =
  'select room from accounts where ended = 0 and (frozen_at is not null or clock_offset < 0)'

/**
 * Deletes the rows of payments that have been gone for a day, in small steps, until none is left or `stop` is aborted. A message
 * that was never delivered becomes FAILED, which is how the API already shows it. `now` is the machine's time.
 */
export async function sweep(database: Database, now: MachineTime, stop?: AbortSignal) {
  const behind = await database.query<Account>(
    `select ${ACCOUNT_COLUMNS} from accounts where room in (${BEHIND})`,
    [],
  )
  const time = createTime(() => now)
  for (const account of behind) {
    const values = [oldestStored(time.now(account)), account.room]
    await sweepScope(database, ' and account = $2', values, stop)
  }
  const others = behind.length > 0 ? ` and account not in (${BEHIND})` : ''
  await sweepScope(database, others, [oldestStored(now)], stop)
}

/**
 * Sweeps the rooms of a condition for the column `account`, with its `values`. The first is an identifier: the rows are
 * those of payments below it.
 */
async function sweepScope(
  database: Database,
  inScope: string,
  values: Value[],
  stop: AbortSignal | undefined,
): Promise<void> {
  const tables = Object.entries(PAYMENT_TABLES)
  const old = tables.map(([table]) => `${table} where payment_id < $1${inScope}`)
  const scoped =
    inScope && ` and webhook_id in (select webhook_id from webhooks where true${inScope})`
  const oldMessages = `webhook_messages where payment_id < $1 and body is not null${scoped}`
  const first = [...old, oldMessages].map(from => `(select payment_id from ${from} limit 1)`)
  const change = [
    ...tables.map(
      ([table, key], i) => `delete from ${table} where (${key}) in
        (select ${key} from ${old[i]} order by payment_id limit ${STEP})`,
    ),
    `delete from payment_counts where bucket < $1${inScope}
       and not exists (select 1 from ${old.at(-1)})`,
    `update webhook_messages set body = null,
       status = case when status = 'PENDING' then 'FAILED' else status end
     where message_id in (select message_id from ${oldMessages} order by payment_id limit ${STEP})`,
  ]
  while (!stop?.aborted) {
    const [any] = await database.query<{ payment_id: string | null }>(
      `select coalesce(${first.join(', ')}) as payment_id`,
      values,
    )
    if (!any?.payment_id) return
    await database.write(change.map(sql => ({ sql, values })))
  }
}
