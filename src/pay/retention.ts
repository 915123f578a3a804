import type { Account, Behaviour } from '../core/account.ts'
import * as errors from '../core/errors.ts'
import { idFloor } from '../core/ids.ts'
import type { AccountTime, Database, MachineTime } from '../core/ports.ts'
import { createTime, DAY } from '../core/time.ts'
import { findKeys } from '../platform/accounts/store.ts'
import { STEP } from '../platform/database/delete-in-steps.ts'
import { keptFor } from './differences/states.ts'

/** Specification, *Limits*: a payment is gone 7 days after its creation, in any state. Milliseconds. */
export const RETENTION_MS = keptFor.specification

export const daysKept = (behaviour: Behaviour): number => keptFor[behaviour] / DAY

export const paymentNotFound = (
  code: Parameters<typeof errors.paymentNotFound>[0],
  behaviour: Behaviour,
) => errors.paymentNotFound(code, daysKept(behaviour))

/**
 * Milliseconds. Rows are deleted a day after their payment is gone, so that an instance whose clock is ahead deletes
 * nothing that others still serve.
 */
export const DELETION_DELAY_MS = DAY

/** The last result: under load dozens of reads share a millisecond. Without this benchmark P2 was some 8 % slower. */
const remembered = {
  specification: { now: Number.NaN, id: '' },
  'govuk-pay': { now: Number.NaN, id: '' },
} satisfies Record<Behaviour, { now: number; id: string }>

/**
 * The lowest identifier that a payment can have without being gone. Reads compare with it, so that a payment is gone to
 * the millisecond, whenever the sweep runs. The behaviour is that of the account, so that its lists and reads agree.
 */
export function oldestKept(now: AccountTime, behaviour: Behaviour): string {
  const last = remembered[behaviour]
  if (now !== last.now) remembered[behaviour] = { now, id: idFloor(now - keptFor[behaviour] + 1) }
  return remembered[behaviour].id
}

/** The account that reads, and its time: they decide whether a payment is gone. */
export type Reading = { account: Pick<Account, 'behaviour'>; now: AccountTime }

export const isGone = (payment_id: string, { account, now }: Reading): boolean =>
  payment_id < oldestKept(now, account.behaviour)

/** Identifiers whose first characters are the same share a counter in payment_counts: this many characters. */
export const COUNTER_PREFIX = 5

/**
 * The beginning of the lowest identifiers whose payments stay. A counter is deleted together with all payments that it
 * counts: otherwise totals would be wrong once a clock that was ahead is set right.
 */
const oldestStored = (now: number, behaviour: Behaviour): string =>
  idFloor(now - keptFor[behaviour] - DELETION_DELAY_MS + 1).slice(0, COUNTER_PREFIX)

/** Tables whose rows are deleted before their payment, and the columns by which rows are chosen. */
export const PAYMENT_TABLES = {
  // A payment may have as many refunds as it has pence.
  refunds: 'payment_id, refund_id',
  idempotency_keys: 'payment_id',
}

/** Rooms to sweep one by one: the clock is behind the machine's, or payments stay longer. Ended accounts have none. */
export const APART = `select room from accounts where ended = 0
  and (frozen_at is not null or clock_offset < 0 or behaviour <> 'specification')`

const COUNTED = { rows: 'payment_counts where 1 = 1', key: 'account', value: 'bucket', room: 'id' }

/**
 * Deletes the rows of payments that have been gone for a day, in small steps, until none is left or `stop` is aborted.
 * A message that was never delivered becomes FAILED, which is how the API already shows it, and is due no more. `now`
 * is the machine's time: an account's clock that is ahead deletes nothing earlier.
 */
export async function sweep(database: Database, now: MachineTime, stop?: AbortSignal) {
  const time = createTime(() => now)
  for await (const row of findKeys<string>(database, COUNTED, stop)) {
    const oldest =
      row.name === null
        ? oldestStored(now, 'specification')
        : oldestStored(Math.min(now, time.now(row)), row.behaviour)
    if (row.least < oldest) await sweepRoom(database, [oldest, row.id], stop)
  }
}

/** Deletes the rows of the room's payments whose identifiers are below `before`. */
async function sweepRoom(
  database: Database,
  values: [before: string, room: string],
  stop: AbortSignal | undefined,
): Promise<void> {
  // Only payments have an index by room and identifier, so the other rows are found through them.
  const gone = 'select payment_id from payments where account = $2 and payment_id < $1'
  const some = `payment_id in (${gone} order by payment_id limit ${STEP})`
  const tables = Object.entries(PAYMENT_TABLES)
  const messages = 'webhook_messages where body is not null'
  // Another instance may sweep beside this one, and on PostgreSQL each statement sees what that has committed.
  const isLast = [messages, ...tables.map(([table]) => `${table} where 1 = 1`)].map(
    rows => `not exists (select 1 from ${rows} and payment_id = payments.payment_id)`,
  )
  const change = [
    ...tables.map(
      ([table, key]) =>
        `delete from ${table} where (${key}) in (select ${key} from ${table} where ${some} limit ${STEP})`,
    ),
    `update webhook_messages set body = null, due_at = null,
       status = case when status = 'PENDING' then 'FAILED' else status end
     where message_id in (select message_id from ${messages} and ${some} limit ${STEP})`,
    `delete from payments where ${[some, ...isLast].join(' and ')}`,
    // Last, because by the counters the next sweep finds the rows that an end of the process left.
    `delete from payment_counts where bucket < $1 and account = $2 and not exists (${gone})`,
  ]
  while (!stop?.aborted) {
    await database.write(change.map(sql => ({ sql, values })))
    const [any] = await database.query(`${gone} limit 1`, values)
    if (!any) return
  }
}
