import { Worker } from 'node:worker_threads'
import type { Database, Statement } from '../ports.ts'
import { type Connection, connect } from './sqlite-connection.ts'
import { showPresence } from './sqlite-presence.ts'
import { createReader } from './sqlite-reader.ts'
import type { Order } from './sqlite-thread.ts'
import { createCommit, errorOf, type Failure, failureOf, type Result } from './sqlite-writer.ts'

type Pending = {
  statements: Statement[]
  resolve: (written: boolean) => void
  reject: (error: unknown) => void
}

export type SqliteOptions = {
  /** A file, made when it is not there, or `:memory:`. */
  path: string
  /**
   * Called once when the outcome of a commit is unknown: the process must end. From then on every
   * query and write is rejected.
   */
  onUnknownOutcome: (error: unknown) => void
  /** Told of each commit, and how many writes shared it. */
  onCommit?: ((writes: number) => void) | undefined
}

/** In kilobytes: the indexes of a million payments, and the payments of a day's tests. */
const READ_CACHE = 96_000

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
 * The embedded database: one connection that reads, all reads of a turn together, and one that writes on a
 * thread of its own, with group commit. Writes that arrive while others are being committed share the
 * next transaction and its one fsync, and are answered when it is on disk.
 */
export function openSqlite(
  options: SqliteOptions,
): Database & { exec(sql: string): Promise<void> } {
  const connection = connect(options.path, READ_CACHE)
  const reader = createReader(connection, () => unknown)
  const presence = showPresence(options.path)
  const writer = options.path === ':memory:' ? sameThread(connection) : ownThread(options.path)
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
    ifAlone: presence.ifAlone,
    exec: sql => writer.exec(sql),
    query: reader.query,
    write,
    async check() {
      if (unknown) throw unknown
      if (full) await write(TRY_ROOM)
    },
    async close() {
      closed = true
      while (queue.length > 0 || underway.size > 0) {
        commitNext()
        await Promise.all(underway)
      }
      await writer.close()
      reader.close()
      presence.end()
    },
  }
}

type Writer = {
  commit(batch: Statement[][]): Promise<Result[]>
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

/** A database in memory is its connection: there is nothing that another thread could open. */
function sameThread(connection: Connection): Writer {
  const commit = createCommit(connection)
  return {
    commit: async batch => commit(batch),
    exec: async sql => connection.exec(sql),
    async close() {},
  }
}

const THREAD = new URL(import.meta.url.replace(/sqlite(\.[jt]s)$/, 'sqlite-thread$1'))

function ownThread(path: string): Writer {
  const thread = new Worker(THREAD, { workerData: path })
  const waiting: ((results: Result[]) => void)[] = []
  let dead: Failure | undefined

  const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
  thread.on('message', (results: Result[]) => waiting.shift()?.(results))
  thread.on('error', error => {
    dead = { ...failureOf(error), kind: 'unknown' }
    for (const resolve of waiting.splice(0)) resolve([dead])
  })

  function ask(order: Order): Promise<Result[]> {
    return new Promise(resolve => {
      if (dead) return resolve([dead])
      waiting.push(resolve)
      thread.postMessage(order)
    })
  }

  return {
    async commit(batch) {
      const results = await ask({ commit: batch })
      return dead ? batch.map(() => dead ?? false) : results
    },
    async exec(sql) {
      const [failure] = await ask({ exec: sql })
      if (typeof failure === 'object') throw errorOf(failure)
    },
    async close() {
      thread.postMessage('close')
      await ended
    },
  }
}
