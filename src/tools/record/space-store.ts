/** Keeps the record within its bytes: of an account, of all accounts, and of the volume that payments need too. */
import {
  ACCOUNT_RECORD_BYTES,
  RECORD_LEAVES_BYTES,
  RECORD_ROWS,
  TEST_RECORD_ROWS,
} from '../../core/budgets.ts'
import { idFloor } from '../../core/ids.ts'
import type { Database, MachineTime } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { APART, RETENTION_MS } from '../../pay/retention.ts'
import { deleteInSteps } from '../../platform/database/delete-in-steps.ts'
import { numbered, where } from '../../platform/database/select.ts'
import type { Quota } from './admission.ts'
import { BYTES, isAmong } from './store.ts'

/** The most exchanges of an account that are kept. */
export const keptOf = (isTestAccount: boolean): number =>
  isTestAccount ? TEST_RECORD_ROWS : RECORD_ROWS

/** Bytes that are deleted at once, to have space for some time. */
const DELETED_AT_ONCE = 16 * 1024 * 1024
/** After this part of a budget was written, the rows are counted. No sum of them is kept that could drift. */
const COUNTED_AFTER = 1 / 8

export type Space = ReturnType<typeof createSpace>

/** `most`: how many bytes the records of all accounts may take together. */
export function createSpace(ports: { database: Database; most: number; isShared: boolean }) {
  const { database, most, isShared } = ports
  const ofAccount = Math.min(most, ACCOUNT_RECORD_BYTES)
  /** The rooms with new rows since they were last trimmed: the most rows of each, and the bytes that were written. */
  const rooms = new Map<string, { rows: number; bytes: number }>()
  let sinceAll = 0
  /** An earlier start may have left any number of bytes. */
  let isCounted = false
  let giving: Promise<unknown> | undefined

  /** PostgreSQL gives back its files, and SQLite frees the pages without writing to each of them. */
  const deleteAll = (how: 'truncate' | 'delete from') =>
    database.write([{ sql: `${how} exchanges`, values: [] }])
  const isDue = (bytes: number, budget: number) => bytes >= budget * COUNTED_AFTER
  /** Leaves space in the budget for the rows until the next count. */
  const within = (budget: number) => budget * (1 - COUNTED_AFTER)

  async function trimRoom(room: string, rows: number, stop?: AbortSignal): Promise<void> {
    rooms.delete(room)
    await trimExchanges(database, { room, rows, bytes: within(ofAccount) }, stop)
  }

  async function trimAll(stop?: AbortSignal): Promise<void> {
    sinceAll = 0
    await trimExchanges(database, { rows: Infinity, bytes: within(most) }, stop)
  }

  return {
    written({ room, unlimited }: Quota, bytes: number): void {
      const before = rooms.get(room)?.bytes ?? 0
      rooms.set(room, { rows: keptOf(unlimited), bytes: before + bytes })
      sinceAll += bytes
    },
    /** Deletes the oldest rows of a room, or of all rooms together, if they may have more bytes than their budget. */
    async keep(): Promise<void> {
      for (const [room, { rows, bytes }] of rooms)
        if (isDue(bytes, ofAccount)) await trimRoom(room, rows)
      if (isDue(sinceAll, most)) await trimAll()
    },
    /** As `keep`, and deletes the oldest rows of the rooms that have more rows than they may. */
    async trim(stop?: AbortSignal): Promise<void> {
      for (const [room, { rows }] of rooms) if (!stop?.aborted) await trimRoom(room, rows, stop)
      if (!isCounted || isDue(sinceAll, most)) await trimAll(stop)
      isCounted = true
    },
    /** Deletes the oldest rows if they take room that payments may need. Throws if that is not enough. */
    async makeRoom(): Promise<void> {
      const lacking = RECORD_LEAVES_BYTES - (await database.freeBytes())
      if (lacking <= 0) return
      if ((await deleteOldest(database, lacking + DELETED_AT_ONCE)) < lacking)
        throw new Error(
          `the volume of the database has less than ${RECORD_LEAVES_BYTES / 1024 ** 2} MB left`,
        )
    },
    /** Deletes rows after a write has found no room at all. Never rejects. */
    async giveWay(): Promise<void> {
      // PostgreSQL keeps the files of deleted rows.
      giving ??= (isShared ? deleteAll('truncate') : deleteOldest(database, DELETED_AT_ONCE))
        // To delete some, SQLite needs more room in its log than to delete all.
        .catch(() => deleteAll('delete from'))
        .catch(() => undefined)
        .finally(() => {
          giving = undefined
        })
      await giving
    },
  }
}

const TABLE = ['exchanges', 'exchange_id'] as const
/** Rows whose sizes are read at once: some 2 ms. */
const STEP = 1_000

/**
 * Deletes exchanges that began more than 24 hours ago or belong to a payment that is gone by `now`, the machine's time.
 * A clock that is behind keeps its payments longer, so those of its account have their 24 hours.
 */
export async function deleteOldExchanges(database: Database, now: MachineTime, stop?: AbortSignal) {
  await deleteInSteps(database, TABLE, ['exchange_id < $1', idFloor(now - DAY)], stop)
  const apart = new Set((await database.query<{ room: string }>(APART)).map(({ room }) => room))
  // In steps, because an account that is behind may have all of these rows.
  for (let last = { payment_id: '', exchange_id: '' }; !stop?.aborted; ) {
    const some = await database.query<typeof last & { account: string }>(
      `select payment_id, exchange_id, account from exchanges
       where payment_id is not null and (payment_id, exchange_id) > ($1, $2) and payment_id < $3
       order by payment_id, exchange_id limit ${DELETED}`,
      [last.payment_id, last.exchange_id, idFloor(now - RETENTION_MS + 1)],
    )
    const gone = some.filter(({ account }) => !apart.has(account))
    const { sql, values } = isAmong(
      'exchange_id',
      gone.map(({ exchange_id }) => exchange_id),
    )
    if (gone.length > 0)
      await database.write([{ sql: numbered(`delete from exchanges where ${sql}`), values }])
    if (some.length < DELETED) return
    last = some.at(-1) ?? last
  }
}

type Sized = { exchange_id: string; bytes: number }

/** Keeps the newest exchanges that are within both limits, of a room or of all rooms. */
async function trimExchanges(
  database: Database,
  { room, rows, bytes }: { room?: string; rows: number; bytes: number },
  stop?: AbortSignal,
): Promise<void> {
  const ofRoom = room === undefined ? where('1 = 1') : where('account = ?', room)
  let sum = { rows: 0, bytes: 0 }
  for (let before = '~'; !stop?.aborted; ) {
    const some = await database.query<Sized>(
      numbered(`select exchange_id, ${BYTES} as bytes from exchanges
        where ${ofRoom.sql} and exchange_id < ? order by exchange_id desc limit ${STEP}`),
      [...ofRoom.values, before],
    )
    for (const { exchange_id, bytes: size } of some) {
      sum = { rows: sum.rows + 1, bytes: sum.bytes + size }
      if (sum.rows <= rows && sum.bytes <= bytes) continue
      const older = numbered(`exchange_id <= ? and ${ofRoom.sql}`)
      return deleteInSteps(database, TABLE, [older, exchange_id, ...ofRoom.values], stop)
    }
    const last = some.at(-1)
    if (!last || some.length < STEP) return
    before = last.exchange_id
  }
}

/** Rows that are deleted at once; they may be large. */
const DELETED = 100

/** Resolves to the number of bytes that were deleted: fewer than `bytes` if there were no more. */
async function deleteOldest(database: Database, bytes: number): Promise<number> {
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
