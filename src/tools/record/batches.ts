import { HELD_RESPONSE_BYTES, UNWRITTEN_BYTES, UNWRITTEN_ROWS } from '../../core/budgets.ts'
import { workFor } from '../../core/guests.ts'
import type { Database, Time } from '../../core/ports.ts'
import { createPause } from '../../core/turns.ts'
import { createAdmission, type Quota } from './admission.ts'
import type { Exchange } from './exchange.ts'
import { bytesOf, makeGapRow, type RawExchange, type RowMaker } from './row.ts'
import type { Space } from './space-store.ts'
import { insertExchange } from './store.ts'

/** Milliseconds between writes. RETRY_AFTER: after a write that failed. */
const WRITE_EVERY = 250
/** After each commit SQLite reads its pages anew. With 250 ms a loaded instance reads payments a twelfth slower. */
const WRITE_EVERY_UNDER_LOAD = 2_000
const RETRY_AFTER = 2_000
/** The fewest milliseconds that one row of counted exchanges covers. Under load it covers all until the next write. */
const GAP_MS = 1_000
const MOST_ROWS = 100
/** The most bytes of one write: payments wait while it is committed. */
const MOST_BYTES = 512 * 1024
/** Exchanges whose rows are made together: a row alone takes several times as long, because its code is cold again. */
const ROWS_AT_ONCE = 16

export type BatchPorts = {
  database: Database
  time: Pick<Time, 'wall'>
  /** The identifier of a row that is written now. */
  nextId: () => string
  makeRow: RowMaker
  /** Receives the first error, and the next only after a write has succeeded. Recording and all else go on. */
  onFault: (error: unknown) => void
  /** Called when an exchange of the room is in memory, and again when it is written. */
  onRecorded: (room: string) => void
  space: Pick<Space, 'written' | 'keep' | 'makeRoom'>
}

type OnRow = (row: Exchange) => void
type Arrived = { quota: Quota; raw: RawExchange; onRow: OnRow | undefined }

type Row = ReturnType<typeof rowOf>

/** Makes rows of exchanges, and writes them in batches, one batch after the other. */
export function createBatches(ports: BatchPorts) {
  const { time, onFault } = ports
  const admission = createAdmission()
  const queue = createQueue(ports)
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  /** The latest `gapsUntil` of the callers that wait for the next write, which they share. */
  let nextGapsUntil = -Infinity
  let [closed, isFailing] = [false, false]

  /** While some exchanges are only counted, the recorded ones may wait longer. */
  function schedule(ms = admission.hasGaps() ? WRITE_EVERY_UNDER_LOAD : WRITE_EVERY): void {
    if (timer || closed) return
    timer = setTimeout(() => {
      timer = undefined
      void flushDue(time.wall() - GAP_MS)
    }, ms)
    timer.unref()
  }

  function flushDue(gapsUntil: number): Promise<void> {
    if (flushing) return flushing
    const until = Math.max(gapsUntil, nextGapsUntil)
    nextGapsUntil = -Infinity
    // The work belongs to no request, because the first to ask may leave.
    flushing = workFor(undefined, () => writeRows(ports, queue, admission, until))
      .then(written => {
        if (written) isFailing = false
      })
      .catch(error => {
        if (!isFailing) onFault(error)
        isFailing = true
        schedule(RETRY_AFTER)
      })
      .finally(() => {
        flushing = undefined
        if (queue.length() > 0 || admission.hasGaps()) schedule()
      })
    return flushing
  }

  async function writeAfter(gapsUntil: number): Promise<void> {
    nextGapsUntil = Math.max(nextGapsUntil, gapsUntil)
    await flushing // that write may not have the newest rows
    await flushDue(gapsUntil)
  }

  return {
    /** Records the exchange, or counts it. `onRow` gets the row, once that is done. */
    add(quota: Quota, refused: boolean, exchange: () => RawExchange, onRow?: OnRow): void {
      const now = time.wall()
      const bound = queue.isFull() ? 'memory' : admission.refuse(quota, refused, now)
      if (bound) {
        admission.count(quota.room, refused, now, bound)
        onRow?.({ exchange_id: ports.nextId(), ...ports.makeRow(exchange()).row })
      } else queue.add({ quota, raw: exchange(), onRow })
      schedule()
      ports.onRecorded(quota.room)
    },
    mayHave: (room: string): boolean => flushing !== undefined || queue.has(room),
    isBehind: (): boolean => queue.length() >= MOST_ROWS,
    /** Never rejects, nor does `flush`, which also writes the counts that may still grow. */
    write: () => writeAfter(time.wall() - GAP_MS),
    flush: () => writeAfter(Infinity),
    forget: () => admission.forget(time.wall()),
    pause: () => admission.pause(time.wall()),
    async close(): Promise<void> {
      closed = true
      clearTimeout(timer)
      await writeAfter(Infinity)
    },
  }
}

/**
 * Resolves to whether there was anything to write. Exchanges that arrive meanwhile wait for the next write: otherwise
 * each would be a commit of its own.
 */
async function writeRows(
  ports: BatchPorts,
  queue: ReturnType<typeof createQueue>,
  admission: ReturnType<typeof createAdmission>,
  gapsUntil: number,
): Promise<boolean> {
  const { database, nextId, space, onRecorded } = ports
  const gaps = admission.takeGaps(gapsUntil)
  const isDue = queue.length() > 0 || gaps.size > 0
  for (let due = queue.length(); due > 0 || gaps.size > 0; ) {
    const taken = await queue.take(Math.min(due, MOST_ROWS))
    due -= taken.length
    const some = taken.map(row => ({ ...row, exchange_id: nextId() }))
    try {
      await space.makeRoom()
      const ofGaps = [...gaps].map(([room, gap]) => insertExchange(makeGapRow(room, gap))(nextId()))
      await database.write([...some.map(row => row.insert(row.exchange_id)), ...ofGaps])
      for (const { quota, bytes } of some) space.written(quota, bytes)
      for (const room of new Set(some.map(({ quota }) => quota.room))) onRecorded(room)
      gaps.clear()
    } catch (error) {
      admission.putBack(gaps)
      for (const { quota, refused, began } of some)
        admission.count(quota.room, refused, began, 'database')
      throw error
    } finally {
      for (const { onDone, exchange_id } of some) onDone?.(exchange_id)
    }
  }
  await space.keep()
  return isDue
}

const isLong = (raw: RawExchange): boolean =>
  raw.kind === 'api' && (bytesOf(raw.responseBody)?.length ?? 0) > HELD_RESPONSE_BYTES

/** The bytes that are held until the row is made. */
const heldBytes = (raw: RawExchange): number =>
  'requestBody' in raw
    ? Buffer.byteLength(bytesOf(raw.requestBody) ?? '') +
      Buffer.byteLength(bytesOf(raw.responseBody) ?? '')
    : 0

/** The exchanges in memory. */
function createQueue(ports: BatchPorts) {
  /** The exchanges whose rows are not made yet. */
  const arrived: Arrived[] = []
  const rows: Row[] = []
  let bytes = 0

  /**
   * Makes rows after the responses, but does not leave all of them to the next write: objects of a request that are
   * held so long leave V8's young generation, which took some 20 MB more under load.
   */
  async function makeRows(): Promise<void> {
    const pause = createPause()
    for (let next = arrived.shift(); next; next = arrived.shift()) {
      const row = rowOf(ports, next)
      rows.push(row)
      bytes += row.bytes - heldBytes(next.raw)
      await pause()
    }
  }

  return {
    isFull: () => rows.length + arrived.length >= UNWRITTEN_ROWS || bytes >= UNWRITTEN_BYTES,
    add(exchange: Arrived): void {
      bytes += heldBytes(exchange.raw)
      if (arrived.push(exchange) === ROWS_AT_ONCE || isLong(exchange.raw)) setImmediate(makeRows)
    },
    has: (room: string) => [...arrived, ...rows].some(({ quota }) => quota.room === room),
    length: () => rows.length + arrived.length,
    /** Removes and returns the oldest rows, to be written together. */
    async take(most: number): Promise<Row[]> {
      await makeRows()
      const taken: Row[] = []
      for (let size = 0; taken.length < most && size < MOST_BYTES; ) {
        const row = rows.shift()
        if (!row) break
        taken.push(row)
        size += row.bytes
      }
      for (const row of taken) bytes -= row.bytes
      return taken
    },
  }
}

function rowOf({ makeRow }: BatchPorts, { quota, raw, onRow }: Arrived) {
  const { row, insert, bytes } = makeRow(raw)
  const { refused, began } = row
  const onDone = onRow && ((exchange_id: string) => onRow({ exchange_id, ...row }))
  return { quota, refused, began, insert, bytes, onDone }
}
