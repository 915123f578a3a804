import type { Database, NewId, Time } from '../ports.ts'
import { createAdmission, type Gap } from './admission.ts'
import { type Held, isRefused, makeGapRow, type RowMaker, sizeOf } from './row.ts'
import { insertExchange } from './store.ts'

/** Milliseconds between writes, and after one that failed. */
const WRITE_EVERY = 250
/** After each commit SQLite reads its pages anew. With 250 ms a loaded instance reads payments a twelfth slower. */
const WRITE_EVERY_UNDER_LOAD = 1_000
const RETRY_AFTER = 2_000
/** Milliseconds that one row of counted exchanges covers. */
const GAP_MS = 1_000
const MOST_ROWS = 100
/** The limits of the memory between two writes. */
const MOST_HELD = 2_000
const MOST_HELD_BYTES = 8 * 1024 * 1024

export type Batches = {
  /** True if an exchange of this size fits; then `hold` it. Otherwise it is counted. */
  admits(room: string, refused: boolean, bytes: number): boolean
  hold(exchange: Held): void
  /** Writes everything in memory. Never rejects. */
  flush(): Promise<void>
  /** Removes the accounts that may record as much as new ones. */
  forget(): void
  close(): Promise<void>
}

type BatchPorts = {
  database: Database
  time: Pick<Time, 'wall'>
  newId: NewId
  makeRow: RowMaker
  onFault: (error: unknown) => void
  /** Receives the rooms that have new rows. */
  onWritten: (room: string) => void
}

/** Holds exchanges, and makes and writes their rows in batches, one batch after the other. */
export function createBatches(ports: BatchPorts): Batches {
  const { time, onFault } = ports
  const admission = createAdmission()
  const held: Held[] = []
  let heldBytes = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  let closed = false

  function schedule(ms: number): void {
    if (timer || closed) return
    timer = setTimeout(() => {
      timer = undefined
      void flushDue(time.wall() - GAP_MS)
    }, ms)
    timer.unref()
  }

  /** Under load, when exchanges are only counted, the others may wait longer. */
  const scheduleNext = () =>
    schedule(admission.hasGaps(Infinity) ? WRITE_EVERY_UNDER_LOAD : WRITE_EVERY)

  /**
   * Rows that cannot be written are counted. Exchanges that arrive meanwhile wait for the next write: otherwise each
   * would be a commit of its own.
   */
  async function writeHeld(gapsUntil: number): Promise<void> {
    const gaps = admission.takeGaps(gapsUntil)
    for (let due = held.length; due > 0 || gaps.size > 0; ) {
      const some = held.splice(0, Math.min(due, MOST_ROWS))
      due -= some.length
      for (const each of some) heldBytes -= sizeOf(each)
      try {
        await writeRows(ports, some, gaps)
        gaps.clear()
      } catch (error) {
        admission.putBack(gaps)
        for (const each of some) admission.count(each.room, isRefused(each), each.began)
        throw error
      }
    }
  }

  function flushDue(gapsUntil: number): Promise<void> {
    flushing ??= writeHeld(gapsUntil)
      .catch(error => {
        onFault(error)
        schedule(RETRY_AFTER)
      })
      .finally(() => {
        flushing = undefined
        if (held.length > 0 || admission.hasGaps(Infinity)) scheduleNext()
      })
    return flushing
  }

  async function flush(): Promise<void> {
    await flushing
    await flushDue(Infinity)
  }

  return {
    admits(room, refused, bytes) {
      const now = time.wall()
      const fits = held.length < MOST_HELD && heldBytes + bytes <= MOST_HELD_BYTES
      const admitted = fits && admission.admit(room, refused, now)
      if (!admitted) admission.count(room, refused, now)
      if (!timer) scheduleNext()
      return admitted
    },
    hold(exchange) {
      heldBytes += sizeOf(exchange)
      held.push(exchange)
    },
    flush,
    forget: () => admission.forget(time.wall()),
    async close() {
      closed = true
      clearTimeout(timer)
      await flush()
    },
  }
}

async function writeRows(
  { database, newId, makeRow, onWritten }: BatchPorts,
  some: Held[],
  gaps: Map<string, Gap>,
): Promise<void> {
  const rows = [
    ...some.map(each => makeRow(each, newId(each.began))),
    ...[...gaps].map(([room, gap]) => makeGapRow(room, gap, newId(gap.from))),
  ]
  await database.write(rows.map(insertExchange))
  for (const { account } of rows) onWritten(account)
}
