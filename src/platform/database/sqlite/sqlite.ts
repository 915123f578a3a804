import { promises } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { READ_TURN_MS, SLICE_MS } from '../../../core/budgets.ts'
import { unreadable } from '../../../core/errors.ts'
import { startThread } from '../../../core/files.ts'
import { currentGuest } from '../../../core/guests.ts'
import type { Database, Statement, Value } from '../../../core/ports.ts'
import { createRounds } from '../../../core/rounds.ts'
import {
  createCommit,
  createQueue,
  type Failure,
  failureOf,
  type QueueOptions,
  type Result,
  type Writer,
} from './commit.ts'
import { type Connection, connect } from './connection.ts'
import { watchFile } from './file.ts'

type SqliteOptions = QueueOptions & {
  /** A file, which is created if it does not exist, or `:memory:`. */
  path: string
}

const THREAD = 'platform/database/sqlite/thread'

/** Kilobytes: room for the indexes of a million payments, and for the payments of a day's tests. */
const READ_CACHE = 96_000

/** Two connections: one reads on the main thread, the other writes on a thread of its own, with group commit. */
export function openSqlite(options: SqliteOptions): Database {
  // The thread starts while this one opens the file.
  const thread = options.path === ':memory:' ? undefined : startThread(THREAD)
  const connection = connectBeside(thread, options.path)
  const writer = thread ? onThread(thread, options.path) : onSameThread(connection)
  const queue = createQueue(writer, options)
  /** If only the log was deleted, saves the acknowledged writes: the connection still has the log open. */
  function save(gone: Error): void {
    try {
      connection.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // The writes in the log are lost then.
    }
    queue.abandon(gone)
  }
  const stopWatch = options.path === ':memory:' ? () => {} : watchFile(options.path, save)
  const reader = createReader(connection, queue.broken)

  return {
    query: reader.query,
    write: queue.write,
    check: queue.check,
    async freeBytes() {
      if (options.path === ':memory:') return Infinity
      const { bavail, bsize } = await promises.statfs(options.path)
      const [pages] = await reader.query<{ free: number }>(FREE_PAGES)
      return bavail * bsize + (pages?.free ?? 0)
    },
    serverTime: async () => undefined,
    async close() {
      stopWatch()
      await queue.end()
      await writer.close()
      reader.close()
    },
  }
}

function connectBeside(thread: Worker | undefined, path: string): Connection {
  try {
    return connect(path, READ_CACHE)
  } catch (error) {
    void thread?.terminate()
    throw error
  }
}

/** The bytes of the free pages. */
const FREE_PAGES = `select cast(freelist_count * page_size as integer) as free
  from pragma_freelist_count, pragma_page_size`

/** These are prepared statements, because SQLite parses the text of `exec` each time. */
const BEGIN: Statement = { sql: 'begin', values: [] }
const COMMIT: Statement = { sql: 'commit', values: [] }
const ROLLBACK: Statement = { sql: 'rollback', values: [] }

/**
 * Runs the reads of one turn of the event loop in one transaction at its end: separate reads would find SQLite's code
 * and pages evicted from the CPU caches, and lock the file each. The snapshot begins after the last of them was called,
 * so each sees all writes acknowledged before it. Owners take turns. Reads reject once `failure` returns an error.
 */
export function createReader(connection: Connection, failure: () => Error | undefined) {
  const waiting = createRounds<() => void>()

  /** Returns false if the connection is closed. Each read then rejects on its own. */
  function begin(): boolean {
    try {
      connection.run(BEGIN)
      return true
    } catch {
      return false
    }
  }

  /** After a read that met damage, a commit fails too. */
  function end(): void {
    try {
      connection.run(COMMIT)
    } catch {
      if (connection.inTransaction()) connection.run(ROLLBACK)
    }
  }

  /** Runs waiting reads for SLICE_MS; the rest waits for the next turn. */
  function runSome(): void {
    const begun = performance.now()
    const together = waiting.length() > 1 && begin()
    let now = begun
    let turnBegun = begun
    do {
      waiting.next()?.()
      now = performance.now()
      if (now - turnBegun < READ_TURN_MS) continue
      waiting.pass()
      turnBegun = now
    } while (waiting.length() > 0 && now - begun < SLICE_MS)
    if (together && connection.inTransaction()) end()
    if (waiting.length() > 0) setImmediate(runSome)
  }

  return {
    /** Rejects with SQLite's error. */
    query: <Row>(sql: string, values: Value[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        if (waiting.length() === 0) setImmediate(runSome)
        const guest = currentGuest()
        waiting.add(guest?.owner ?? '', () => {
          if (guest?.hasLeft?.()) return reject(unreadable())
          try {
            const rows = connection.query<Row>(sql, values)
            const error = failure()
            if (error) reject(error)
            else resolve(rows)
          } catch (error) {
            reject(error)
          }
        })
      }),
    /** Runs the reads that wait, and closes the connection. */
    close() {
      while (waiting.length() > 0) runSome()
      connection.close()
    },
  }
}

/** A database in memory exists only in its connection, so reads and writes share this connection. */
function onSameThread(connection: Connection): Writer {
  const commit = createCommit(connection)
  return {
    commit: async batch => commit(batch),
    async close() {},
  }
}

/** The thread opens the file now: later its path may lead to another file. If opening fails, the first write fails. */
function onThread(thread: Worker, path: string): Writer {
  thread.postMessage(path)
  const waiting: ((results: Result[]) => void)[] = []
  let dead: Failure | undefined

  const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
  thread.on('message', (results: Result[]) => waiting.shift()?.(results))
  thread.on('error', error => {
    dead = { ...failureOf(error), kind: 'unknown' }
    for (const resolve of waiting.splice(0)) resolve([])
  })

  return {
    async commit(batch) {
      const results = await new Promise<Result[]>(resolve => {
        if (dead) return resolve([])
        waiting.push(resolve)
        thread.postMessage(batch)
      })
      return dead ? batch.map(() => dead ?? false) : results
    },
    async close() {
      thread.postMessage('close')
      await ended
    },
  }
}
