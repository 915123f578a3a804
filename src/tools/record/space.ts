/** Keeps the record within its bytes: of an account, of all, and of the volume that it shares with the payments. */
import { ACCOUNT_RECORD_BYTES, RECORD_LEAVES_BYTES } from '../../core/budgets.ts'
import type { Database } from '../../core/ports.ts'
import type { Room } from './admission.ts'
import { deleteAll, deleteOldest, trimExchanges } from './retention-store.ts'

/** The most exchanges of an account that are kept. */
const KEPT = 10_000
const KEPT_OF_TEST_ACCOUNT = 1_000

export const keptOf = (isTestAccount: boolean): number =>
  isTestAccount ? KEPT_OF_TEST_ACCOUNT : KEPT

/** Bytes that make room for some time. */
const DELETED_AT_ONCE = 16 * 1024 * 1024
/** After so much of a budget was written, the rows are counted. Their sum is looked up and not kept: it cannot drift. */
const COUNTED_AFTER = 1 / 8

type Written = { rows: number; bytes: number }

export type Space = {
  /** Notes that rows of the room were written, of so many bytes. */
  written(room: Room, bytes: number): void
  /** Deletes the oldest rows of whatever may have more bytes than its budget. */
  keep(): Promise<void>
  /** As `keep`, and deletes the oldest of the rooms that have more rows than they may. */
  trim(stop?: AbortSignal): Promise<void>
  /** Deletes the oldest rows if they take room that payments may need. Throws if that is not enough. */
  makeRoom(): Promise<void>
  /** Deletes rows after a write has found no room at all. Never rejects. */
  giveWay(): Promise<void>
}

type SpacePorts = {
  database: Database
  /** The bytes of the record of all accounts. */
  most: number
  isShared: boolean
}

export function createSpace({ database, most, isShared }: SpacePorts): Space {
  const ofAccount = Math.min(most, ACCOUNT_RECORD_BYTES)
  /** The rooms with new rows since they were last trimmed: how many rows each may keep, and what was written. */
  const rooms = new Map<string, Written>()
  let sinceAll = 0
  /** An earlier start may have left any number of bytes. */
  let isCounted = false
  let giving: Promise<void> | undefined

  const isDue = (bytes: number, budget: number) => bytes >= budget * COUNTED_AFTER
  /** What is written until the next count is within the budget too. */
  const within = (budget: number) => budget * (1 - COUNTED_AFTER)

  async function trimRoom(room: string, rows: number, stop?: AbortSignal): Promise<void> {
    rooms.delete(room)
    await trimExchanges(database, { room, rows, bytes: within(ofAccount) }, stop)
  }

  async function trimAll(stop?: AbortSignal): Promise<void> {
    sinceAll = 0
    await trimExchanges(database, { rows: Infinity, bytes: within(most) }, stop)
  }

  async function give(): Promise<void> {
    // PostgreSQL keeps the files of deleted rows.
    if (isShared) await deleteAll(database)
    else await deleteOldest(database, DELETED_AT_ONCE)
  }

  return {
    written({ name, unlimited }, bytes) {
      const before = rooms.get(name)?.bytes ?? 0
      rooms.set(name, { rows: keptOf(unlimited), bytes: before + bytes })
      sinceAll += bytes
    },
    async keep() {
      for (const [room, { rows, bytes }] of rooms)
        if (isDue(bytes, ofAccount)) await trimRoom(room, rows)
      if (isDue(sinceAll, most)) await trimAll()
    },
    async trim(stop) {
      for (const [room, { rows }] of rooms) if (!stop?.aborted) await trimRoom(room, rows, stop)
      if (!isCounted || isDue(sinceAll, most)) await trimAll(stop)
      isCounted = true
    },
    async makeRoom() {
      const lacking = RECORD_LEAVES_BYTES - (await database.room())
      if (lacking <= 0) return
      if ((await deleteOldest(database, lacking + DELETED_AT_ONCE)) < lacking)
        throw new Error(
          `the volume of the database has less than ${RECORD_LEAVES_BYTES / 1024 ** 2} MB left`,
        )
    },
    giveWay() {
      giving ??= give()
        // To delete some, SQLite needs more room in its log than to delete all.
        .catch(() => deleteAll(database))
        .catch(() => undefined)
        .finally(() => {
          giving = undefined
        })
      return giving
    },
  }
}
