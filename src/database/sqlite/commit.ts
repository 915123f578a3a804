import type { Statement } from '../../ports.ts'
import { type Connection, extendedCode, primaryCode, SQLITE } from './connection.ts'

/** Why a write came to nothing, in a form that can go from one thread to another. */
export type Failure = {
  message: string
  /** SQLite's extended result code; undefined for what is no error of SQLite's. */
  errcode: number | undefined
  /** unknown: nobody knows what of the transaction is on disk. full: there is no room for it. */
  kind: 'unknown' | 'full' | 'undone'
}

/** How one write ended: as the port's `write` resolves, or why it rejects. */
export type Result = boolean | Failure

/** What writes, on whichever thread, in the order in which it is asked. */
export type Writer = {
  commit(batch: Statement[][]): Promise<Result[]>
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

/**
 * Makes the function that commits the writes of a batch in one transaction, with one fsync, and
 * answers when they are on disk: group commit. A write that fails, or misses an expected row count,
 * undoes itself only. After a commit whose outcome is unknown nothing is written any more.
 */
export function createCommit(connection: Connection): (batch: Statement[][]) => Result[] {
  function runStep(step: Statement): number | Failure {
    try {
      return connection.run(step)
    } catch (error) {
      const failure = failureOf(error)
      if (!connection.inTransaction() || failure.kind === 'unknown') throw error
      return failure
    }
  }

  /** `partly`: it came to nothing, and some of what it did is still there. */
  function run(statements: Statement[]): { result: Result; partly: boolean } {
    let begun = false
    for (const statement of statements)
      for (const step of stepsOf(statement)) {
        const changes = runStep(step)
        if (typeof changes === 'object') return { result: changes, partly: begun }
        if (step.expect !== undefined && changes !== step.expect)
          return { result: false, partly: begun || changes > 0 }
        begun = true
      }
    return { result: true, partly: false }
  }

  /** undefined as soon as a write comes to nothing partly: only the whole transaction can be undone. */
  function runTogether(batch: Statement[][]): Result[] | undefined {
    const results: Result[] = []
    for (const statements of batch) {
      const { result, partly } = run(statements)
      if (partly) return undefined
      results.push(result)
    }
    return results
  }

  /** The slower way: a savepoint for each write, so that it can be undone by itself. */
  function runApart(batch: Statement[][]): Result[] {
    return batch.map(statements => {
      connection.exec('savepoint one_write')
      const { result, partly } = run(statements)
      if (partly) connection.exec('rollback to one_write')
      connection.exec('release one_write')
      return result
    })
  }

  let broken: Failure | undefined

  return batch => {
    if (broken) return batch.map(() => broken ?? false)
    try {
      connection.exec('begin immediate')
      let results = runTogether(batch)
      if (!results) {
        // Free for a moment, the lock may go to another process: what that writes counts in what follows.
        connection.exec('rollback; begin immediate')
        results = runApart(batch)
      }
      connection.exec('commit')
      return results
    } catch (error) {
      const failure = failureOf(error)
      if (failure.kind === 'unknown') broken = failure
      else if (connection.inTransaction()) connection.exec('rollback')
      return batch.map(() => failure)
    }
  }
}

const stepsOf = (statement: Statement): Statement[] =>
  statement.also ? [statement, statement.also] : [statement]

export function failureOf(error: unknown): Failure {
  const primary = primaryCode(error)
  const unknown = primary === SQLITE.IOERR || primary === SQLITE.CORRUPT
  return {
    message: error instanceof Error ? error.message : String(error),
    errcode: extendedCode(error),
    kind: unknown ? 'unknown' : primary === SQLITE.FULL ? 'full' : 'undone',
  }
}

/** The same as an error, with the codes that node:sqlite gives to its own. */
export const errorOf = ({ message, errcode }: Failure): Error =>
  Object.assign(new Error(message), errcode !== undefined && { code: 'ERR_SQLITE_ERROR', errcode })

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
