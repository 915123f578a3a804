/** Group commit: writes that arrive during a commit share the next transaction and its one fsync. */
import { currentOwner } from '../../../core/guests.ts'
import type { Statement } from '../../../core/ports.ts'
import { createRounds } from '../../../core/rounds.ts'
import { type Connection, extendedCode, primaryCode, SQLITE } from './connection.ts'

/** The failure of a write, as data that can be posted to another thread. */
export type Failure = {
  message: string
  /** SQLite's extended result code. undefined if the error is not from SQLite. */
  errcode: number | undefined
  /** unknown: nobody knows whether the transaction is on disk. full: the disk is full. undone: nothing was written. */
  kind: 'unknown' | 'full' | 'undone'
}

/** The outcome of one write: true or false if the port's `write` resolves so, a failure if it rejects. */
export type Result = boolean | Failure

/** Commits batches in the order in which they are given, on this thread or another. */
export type Writer = {
  /** Resolves to one result per write once the batch is on disk. Never rejects. */
  commit(batch: Statement[][]): Promise<Result[]>
  close(): Promise<void>
}

/** Commits a batch in one transaction. A failed write is undone alone. After an unknown outcome later writes fail. */
export function createCommit(connection: Connection): (batch: Statement[][]) => Result[] {
  let fatal: Failure | undefined
  /** Set once a write of the record of requests may have met damage. From then on all writes of the record fail. */
  let damage: Failure | undefined

  /** The record may be lost: its writes fail, and the others are committed without them. */
  function commitOthers(batch: Statement[][], failure: Failure): Result[] {
    const others = commit(batch.filter(write => !write.some(isOfRecord)))
    return batch.map(write => (write.some(isOfRecord) ? failure : (others.shift() ?? failure)))
  }

  function commit(batch: Statement[][]): Result[] {
    if (fatal) return batch.map(() => fatal ?? false)
    if (damage && batch.flat().some(isOfRecord)) return commitOthers(batch, damage)
    try {
      connection.exec('begin immediate')
      let results = runWithoutSavepoints(connection, batch)
      if (!results) {
        // Another process may get the lock in between. The second pass sees what that process wrote.
        connection.exec('rollback; begin immediate')
        results = runWithSavepoints(connection, batch)
      }
      connection.exec('commit')
      return results
    } catch (error) {
      const failure = failureOf(error)
      const mayBeOfRecord = primaryCode(error) === SQLITE.CORRUPT && batch.flat().some(isOfRecord)
      if (mayBeOfRecord && connection.inTransaction()) {
        connection.exec('rollback')
        damage = { ...failure, kind: 'undone' }
        return commitOthers(batch, damage)
      }
      if (failure.kind === 'unknown') fatal = failure
      else if (connection.inTransaction()) connection.exec('rollback')
      return batch.map(() => failure)
    }
  }

  return commit
}

function runStep(connection: Connection, step: Statement): number | Failure {
  try {
    return connection.run(step)
  } catch (error) {
    const failure = failureOf(error)
    if (!connection.inTransaction() || failure.kind === 'unknown') throw error
    return failure
  }
}

/** `dirty`: the write did not succeed, and the transaction still holds some of its changes. */
function run(connection: Connection, statements: Statement[]): { result: Result; dirty: boolean } {
  let begun = false
  for (const statement of statements)
    for (const step of stepsOf(statement)) {
      const changes = runStep(connection, step)
      if (typeof changes === 'object') return { result: changes, dirty: begun }
      if (step.expect !== undefined && changes !== step.expect)
        return { result: false, dirty: begun || changes > 0 }
      begun = true
    }
  return { result: true, dirty: false }
}

/** Returns undefined as soon as a write is dirty: without savepoints only the whole transaction can be undone. */
function runWithoutSavepoints(connection: Connection, batch: Statement[][]) {
  const results: Result[] = []
  for (const statements of batch) {
    const { result, dirty } = run(connection, statements)
    if (dirty) return undefined
    results.push(result)
  }
  return results
}

const runWithSavepoints = (connection: Connection, batch: Statement[][]): Result[] =>
  batch.map(statements => {
    connection.exec('savepoint one_write')
    const { result, dirty } = run(connection, statements)
    if (dirty) connection.exec('rollback to one_write')
    connection.exec('release one_write')
    return result
  })

const isOfRecord = ({ ofRecord }: Statement): boolean => ofRecord === true

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

/** An Error with the codes that node:sqlite gives to its own errors. */
const errorOf = ({ message, errcode }: Failure): Error =>
  Object.assign(new Error(message), errcode !== undefined && { code: 'ERR_SQLITE_ERROR', errcode })

export type QueueOptions = {
  /** Called once when an outcome is unknown or the file gone: the process must end. Later reads and writes reject. */
  onUnknownOutcome: (error: unknown) => void
  /** Called after each commit with the number of writes that shared it. */
  onCommit?: ((writes: number) => void) | undefined
}

type Pending = {
  statements: Statement[]
  resolve: (written: boolean) => void
  reject: (error: unknown) => void
}

function settleOne({ resolve, reject }: Pending, result: Result, unknown: Error | undefined) {
  if (typeof result === 'object') reject(errorOf(result))
  else if (unknown) reject(unknown)
  else resolve(result)
}

/** The most writes in one batch. With larger batches each of the two threads waits for the other in turn. */
const LARGEST_BATCH = 32
/** A write with more values counts as several: others would wait for its rows. */
const VALUES_OF_ONE = 400
const weightOf = ({ statements }: Pending): number =>
  Math.max(1, statements.reduce((sum, { values }) => sum + values.length, 0) / VALUES_OF_ONE)
/** The most batches that the writer has at once. While it commits one, the next is already there. */
const MOST_UNDERWAY = 2

/** Writes 64 KiB and deletes them. Fails while neither the file nor the disk has that much room. */
const TRY_ROOM = [
  'create table room (bytes blob) strict',
  'insert into room values (zeroblob(65536))',
  'drop table room',
].map((sql): Statement => ({ sql, values: [] }))

/** Passes writes to the writer in batches, in which owners take turns. A write resolves when its batch is on disk. */
export function createQueue(writer: Writer, options: QueueOptions) {
  const queue = createRounds<Pending>()
  const underway = new Set<Promise<void>>()
  let scheduled = false
  let unknown: Error | undefined
  let full = false
  let closed = false

  function commitNext(): void {
    if (unknown) for (const { reject } of queue.take(Infinity)) reject(unknown)
    if (queue.length() === 0 || underway.size >= MOST_UNDERWAY) return
    const batch = queue.take(LARGEST_BATCH, weightOf)
    const committed = writer.commit(batch.map(({ statements }) => statements)).then(results => {
      underway.delete(committed)
      settle(batch, results)
      commitNext()
    })
    underway.add(committed)
  }

  /** An idle writer gets a batch at the end of this turn of the event loop, a busy writer when a batch has finished. */
  function schedule(): void {
    if (queue.length() >= LARGEST_BATCH) commitNext()
    else if (!scheduled) {
      scheduled = true
      setImmediate(() => {
        scheduled = false
        if (underway.size === 0) commitNext()
      })
    }
  }

  function abandon(error: Error): void {
    if (unknown) return
    unknown = error
    options.onUnknownOutcome(error)
  }

  function settle(batch: Pending[], results: Result[]): void {
    const failures = results.filter(result => typeof result === 'object')
    const nothingWritten = failures.length === results.length
    if (!nothingWritten) options.onCommit?.(batch.length)
    full = failures.some(({ kind }) => kind === 'full') || (full && nothingWritten)
    const fatal = failures.find(({ kind }) => kind === 'unknown')
    if (fatal) abandon(errorOf(fatal))
    for (const [i, write] of batch.entries()) settleOne(write, results[i] ?? false, unknown)
  }

  function write(statements: Statement[]): Promise<boolean> {
    if (closed) return Promise.reject(new Error('the database is closed'))
    return new Promise((resolve, reject) => {
      queue.add(currentOwner(), { statements, resolve, reject })
      schedule()
    })
  }

  return {
    write,
    /** Rejects all reads and writes from now on with `error`, because no write would be kept. */
    abandon,
    broken: () => unknown,
    async check(): Promise<void> {
      if (unknown) throw unknown
      if (full) await write(TRY_ROOM)
    },
    /** Rejects further writes, and resolves when all earlier ones are settled. */
    async end(): Promise<void> {
      closed = true
      while (queue.length() > 0 || underway.size > 0) {
        commitNext()
        await Promise.all(underway)
      }
    },
  }
}
