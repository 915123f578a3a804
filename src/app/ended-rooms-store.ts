import { ACCOUNT_COLUMNS, type Account } from '../core/account.ts'
import type { Database, MachineTime } from '../core/ports.ts'
import { MINUTE } from '../core/time.ts'
import { DELETION_DELAY_MS } from '../pay/retention.ts'
import { leaveRoom } from '../platform/accounts/store.ts'
import { deleteInSteps, STEP } from '../platform/database/delete-in-steps.ts'

/** Milliseconds after the end of a room, when no request that began before that end still writes. */
const LATE_REQUESTS = 5 * MINUTE

/** Rooms that ended at or after `$1` and before `$2`. */
const ENDED = 'select room from ended_rooms where since >= $1 and since < $2'

/** The tables with rows of rooms, each with the key by which rows are deleted. Messages go before their webhooks. */
export const ROOM_TABLES = {
  webhook_messages: 'message_id',
  refunds: 'refund_id',
  idempotency_keys: 'payment_id',
  payments: 'payment_id',
  payment_counts: 'account, bucket',
  agreements: 'agreement_id',
  listener_attempts: 'attempt_id',
  webhooks: 'webhook_id',
  plans: 'plan_id',
  resends: 'account',
  // The record is last: if it is damaged, the rows of the other tables are deleted all the same.
  exchanges: 'exchange_id',
}

const isOld = (table: string): string =>
  table === 'webhook_messages'
    ? `webhook_id in (select webhook_id from webhooks where account in (${ENDED}))`
    : `account in (${ENDED})`

/** The first expired test accounts of which no row is left. */
const FORGOTTEN = `select name from accounts where ended = 1 and expires <= $1
  and not exists (select 1 from ended_rooms where ended_rooms.account = accounts.name)
  order by name limit ${STEP}`

/** Ends test accounts a day after they expired: if a wrong clock is corrected before that, their keys work again. */
export async function endExpiredAccounts(database: Database, now: MachineTime, stop?: AbortSignal) {
  const expired = await database.query<Account>(
    `select ${ACCOUNT_COLUMNS} from accounts where ended = 0 and expires <= $1`,
    [now - DELETION_DELAY_MS],
  )
  for (const account of expired)
    if (!stop?.aborted) await leaveRoom(database, account, { ...account, ended: 1 }, now)
}

/** Deletes the rows of rooms that ended a while ago, in small steps, and then expired accounts without any rows. */
export async function deleteEndedRooms(database: Database, now: MachineTime, stop?: AbortSignal) {
  const until = now - LATE_REQUESTS
  if (!(await emptyRooms(database, [0, until], stop))) return
  await deleteInSteps(database, ['ended_rooms', 'room'], ['since < $1', until], stop)
  // The keys first: the accounts say which. Another instance may delete some of these accounts meanwhile.
  const forget = [
    `delete from api_keys where account in (${FORGOTTEN})`,
    `delete from accounts where name in (${FORGOTTEN})
       and not exists (select 1 from api_keys where api_keys.account = accounts.name)`,
  ].map(sql => ({ sql, values: [now] }))
  while (!stop?.aborted && (await database.query(FORGOTTEN, [now])).length > 0)
    await database.write(forget)
}

/** Deletes the rows of rooms that ended at or after `from` and before `until`. Resolves false if `stop` was aborted. */
export async function emptyRooms(
  database: Database,
  period: [from: MachineTime, until: MachineTime],
  stop?: AbortSignal,
): Promise<boolean> {
  const [any] = await database.query(`${ENDED} limit 1`, period)
  if (!any) return !stop?.aborted
  const parts = await Array.fromAsync(partsOf(database, period))
  for (const table of Object.entries(ROOM_TABLES))
    for (const part of parts) await deleteInSteps(database, table, [isOld(table[0]), ...part], stop)
  return !stop?.aborted
}

/** Each step of a deletion looks at all rooms of its period: at so many, or more if they ended in one millisecond. */
const ROOMS_AT_ONCE = 100

/** Parts of the period in which so many rooms ended. */
async function* partsOf(
  database: Database,
  [from, until]: [from: MachineTime, until: MachineTime],
) {
  for (let begin: MachineTime | undefined = from; begin !== undefined; ) {
    const [next]: { since: MachineTime }[] = await database.query(
      `select since from ended_rooms where since > $1 and since < $2 order by since limit 1 offset ${ROOMS_AT_ONCE}`,
      [begin, until],
    )
    yield [begin, next?.since ?? until] as const
    begin = next?.since
  }
}
