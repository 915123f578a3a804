import type { Statement } from '../../ports.ts'
import { errorOf, type Result, type Writer } from './writer.ts'

export type QueueOptions = {
  /**
   * Called once when the outcome of a commit is unknown: the process must end. From then on every
   * query and write is rejected.
   */
  onUnknownOutcome: (error: unknown) => void
  /** Told of each commit, and how many writes shared it. */
  onCommit?: ((writes: number) => void) | undefined
}

type Pending = {
  statements: Statement[]
  resolve: (written: boolean) => void
  reject: (error: unknown) => void
}

/** Writes that share a commit, at most: with larger batches the two threads wait for each other in turn. */
const LARGEST_BATCH = 32
/** Batches handed over: while one is committed, the next is there already. */
const MOST_UNDERWAY = 2

/** Takes more pages than are free and gives them back; succeeds only where the disk has room. */
const TRY_ROOM = [
  'create table room (bytes blob) strict',
  'insert into room values (zeroblob(65536))',
  'drop table room',
].map((sql): Statement => ({ sql, values: [] }))

/**
 * Group commit: writes that arrive while others are being committed share the next transaction and its one
 * fsync, and are answered when it is on disk.
 */
export function createQueue(writer: Writer, options: QueueOptions) {
  const queue: Pending[] = []
  const underway = new Set<Promise<void>>()
  let turnAwaited = false
  let unknown: Error | undefined
  let full = false
  let closed = false

  function commitNext(): void {
    if (unknown) for (const { reject } of queue.splice(0)) reject(unknown)
    if (queue.length === 0 || underway.size >= MOST_UNDERWAY) return
    const batch = queue.splice(0, LARGEST_BATCH)
    const committed = writer.commit(batch.map(({ statements }) => statements)).then(results => {
      underway.delete(committed)
      settle(batch, results)
      commitNext()
    })
    underway.add(committed)
  }

  /** A batch that is not full waits until this turn of the event loop is over and the writer idle. */
  function commitSoon(): void {
    if (queue.length >= LARGEST_BATCH) commitNext()
    else if (!turnAwaited) {
      turnAwaited = true
      setImmediate(() => {
        turnAwaited = false
        if (underway.size === 0) commitNext()
      })
    }
  }

  function settle(batch: Pending[], results: Result[]): void {
    const failures = results.filter(result => typeof result === 'object')
    const nothingWritten = failures.length === results.length
    if (!nothingWritten) options.onCommit?.(batch.length)
    full = failures.some(({ kind }) => kind === 'full') || (full && nothingWritten)
    const fatal = failures.find(({ kind }) => kind === 'unknown')
    if (fatal && !unknown) {
      unknown = errorOf(fatal)
      options.onUnknownOutcome(unknown)
    }
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = results[i] ?? false
      if (typeof result === 'object') reject(errorOf(result))
      else resolve(result)
    }
  }

  function write(statements: Statement[]): Promise<boolean> {
    if (closed) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      queue.push({ statements, resolve, reject })
      commitSoon()
    })
  }

  return {
    write,
    /** Why nothing is read or written any more: the outcome of a commit is unknown. */
    broken: () => unknown,
    async check(): Promise<void> {
      if (unknown) throw unknown
      if (full) await write(TRY_ROOM)
    },
    /** Takes no further write; resolves when those that it has taken are answered. */
    async end(): Promise<void> {
      closed = true
      while (queue.length > 0 || underway.size > 0) {
        commitNext()
        await Promise.all(underway)
      }
    },
  }
}
