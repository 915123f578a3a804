import { Worker } from 'node:worker_threads'
import type { Database, Statement, Value } from '../../ports.ts'
import {
  createCommit,
  createQueue,
  errorOf,
  type Failure,
  failureOf,
  type QueueOptions,
  type Result,
  type Writer,
} from './commit.ts'
import { type Connection, connect } from './connection.ts'
import type { Order } from './thread.ts'

export type SqliteOptions = QueueOptions & {
  /** A file, made when it is not there, or `:memory:`. */
  path: string
}

/** In kilobytes: the indexes of a million payments, and the payments of a day's tests. */
const READ_CACHE = 96_000

/**
 * The embedded database: one connection that reads, all reads of a turn together, and one that writes on a
 * thread of its own, with group commit.
 */
export function openSqlite(
  options: SqliteOptions,
): Database & { exec(sql: string): Promise<void> } {
  const connection = connect(options.path, READ_CACHE)
  const writer = options.path === ':memory:' ? sameThread(connection) : ownThread(options.path)
  const queue = createQueue(writer, options)
  const reader = createReader(connection, queue.broken)

  return {
    exec: sql => writer.exec(sql),
    query: reader.query,
    write: queue.write,
    check: queue.check,
    async close() {
      await queue.end()
      await writer.close()
      reader.close()
    },
  }
}

type Reader = {
  /** Rejects with SQLite's error. */
  query<Row>(sql: string, values?: Value[]): Promise<Row[]>
  /** Answers what was asked for before, and closes the connection. */
  close(): void
}

const BEGIN: Statement = { sql: 'begin', values: [] }
const END: Statement = { sql: 'commit', values: [] }

/**
 * Makes all reads that one turn of the event loop asks for at its end, one after the other and in one
 * transaction. Between two requests SQLite's code and pages would be driven out of the processor's
 * caches, and each read would take its own locks. The transaction's view of the file begins with its first
 * read, when all have been asked for: so each sees every write that was answered before it was asked for.
 * While `refusal` answers an error, reads are rejected with it.
 */
export function createReader(connection: Connection, refusal: () => Error | undefined): Reader {
  const asked: (() => void)[] = []

  /** False when the connection is closed: then each read tells who asked for it. */
  function begin(): boolean {
    try {
      connection.run(BEGIN)
      return true
    } catch {
      return false
    }
  }

  function answerAll(): void {
    const together = asked.length > 1 && begin()
    for (const answer of asked.splice(0)) answer()
    if (together && connection.inTransaction()) connection.run(END)
  }

  return {
    query: <Row>(sql: string, values: Value[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        if (asked.length === 0) setImmediate(answerAll)
        asked.push(() => {
          try {
            const rows = connection.query<Row>(sql, values)
            const refused = refusal()
            if (refused) reject(refused)
            else resolve(rows)
          } catch (error) {
            reject(error)
          }
        })
      }),
    close() {
      answerAll()
      connection.close()
    },
  }
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

const THREAD = new URL(import.meta.url.replace(/sqlite(\.[jt]s)$/, 'thread$1'))

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
