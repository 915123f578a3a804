import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Database, Statement, Value } from '../ports.ts'

type Prepared = { statement: StatementSync; order: number[] }
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
}

const SETTINGS = {
  journal_mode: 'wal',
  synchronous: 2, // FULL: what was acknowledged survives a power cut
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  cache_size: -32_000,
  wal_autocheckpoint: 4_000,
  journal_size_limit: 67_108_864,
}

/** Writes queued before a commit; more wait for the next one. */
const LARGEST_BATCH = 256

const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13

/** Takes more pages than are free and gives them back; succeeds only where the disk has room. */
const TRY_ROOM = `begin immediate; create table room (bytes blob) strict;
  insert into room values (zeroblob(65536)); drop table room; commit`

/** What SQLite spells differently from PostgreSQL, for the SQL that is used here and no other. */
export const toSqlite = (sql: string): string => sql.replaceAll(' collate "C"', '')

/**
 * The embedded database: one connection, and group commit. Writes that arrive in one turn of the
 * event loop share one transaction and one fsync, each in its own savepoint, and are answered
 * when it is on disk.
 */
export function openSqlite(options: SqliteOptions): Database & { exec(sql: string): void } {
  const database = new DatabaseSync(options.path, { timeout: 5_000 })
  applySettings(database, options.path === ':memory:')
  const lock = holdLock(options.path)
  const prepared = new Map<string, Prepared>()
  const queue: Pending[] = []
  let scheduled = false
  let unknown: unknown
  let full = false
  let closed: (() => void) | undefined

  function prepare(sql: string): Prepared {
    let found = prepared.get(sql)
    if (!found) {
      const order: number[] = []
      const text = toSqlite(sql).replace(/\$(\d+)/g, (_, position) => {
        order.push(Number(position) - 1)
        return '?'
      })
      found = { statement: database.prepare(text), order }
      prepared.set(sql, found)
    }
    return found
  }

  function run({ sql, values, expect }: Statement): boolean {
    const { statement, order } = prepare(sql)
    const { changes } = statement.run(...bind(values, order))
    return expect === undefined || changes === expect
  }

  function runAll(statements: Statement[]): boolean {
    const [only] = statements
    if (statements.length === 1 && only) return run(only)
    database.exec('savepoint one_write')
    try {
      const written = statements.every(run)
      if (!written) database.exec('rollback to one_write')
      database.exec('release one_write')
      return written
    } catch (error) {
      if (database.isTransaction) database.exec('rollback to one_write; release one_write')
      throw error
    }
  }

  function commit(batch: Pending[]): void {
    const settle: (() => void)[] = []
    let noRoom = false
    try {
      if (unknown) throw unknown
      database.exec('begin immediate')
      for (const { statements, resolve, reject } of batch) {
        try {
          const written = runAll(statements)
          settle.push(() => resolve(written))
        } catch (error) {
          if (!database.isTransaction || isUnknownOutcome(error)) throw error
          noRoom ||= codeOf(error) === FULL
          settle.push(() => reject(error))
        }
      }
      database.exec('commit')
      full = noRoom
    } catch (error) {
      giveUp(error)
      for (const { reject } of batch) reject(error)
      return
    }
    for (const answer of settle) answer()
  }

  /** After a transaction failed as a whole. */
  function giveUp(error: unknown): void {
    full ||= codeOf(error) === FULL
    if (isUnknownOutcome(error)) {
      if (!unknown) options.onUnknownOutcome(error)
      unknown = error
    } else if (database.isTransaction) database.exec('rollback')
  }

  function tryRoom(): void {
    try {
      database.exec(TRY_ROOM)
      full = false
    } catch (error) {
      giveUp(error)
      throw error
    }
  }

  function flush(): void {
    scheduled = false
    while (queue.length > 0) commit(queue.splice(0, LARGEST_BATCH))
    closed?.()
  }

  return {
    exclusive: lock.held,
    exec: sql => database.exec(toSqlite(sql)),
    async query<Row>(sql: string, values: Value[] = []) {
      if (unknown) throw unknown
      const { statement, order } = prepare(sql)
      // A row's columns are those that the statement names: the caller states their type.
      return statement.all(...bind(values, order)) as Row[]
    },
    write(statements) {
      return new Promise((resolve, reject) => {
        queue.push({ statements, resolve, reject })
        if (!scheduled) setImmediate(flush)
        scheduled = true
      })
    },
    async check() {
      if (unknown) throw unknown
      if (full) tryRoom()
    },
    async close() {
      if (scheduled) await new Promise<void>(resolve => (closed = resolve))
      database.close()
      lock.release()
    },
  }
}

function bind(values: Value[], order: number[]): Value[] {
  return order.map(position => {
    const value = values[position]
    if (value === undefined || (typeof value === 'number' && !Number.isSafeInteger(value)))
      throw new TypeError(`parameter $${position + 1} cannot be bound: ${String(value)}`)
    return value
  })
}

function applySettings(database: DatabaseSync, inMemory: boolean): void {
  for (const [name, wanted] of Object.entries(SETTINGS)) {
    database.exec(`pragma ${name} = ${wanted}`)
    const read = Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    if (inMemory && name === 'journal_mode') continue
    if (read !== wanted) throw new Error(`SQLite did not accept ${name} = ${wanted}: it is ${read}`)
  }
}

/**
 * A second connection holds a lock on a small file beside the database for as long as this process
 * lives, however it ends. Who gets it is alone.
 */
function holdLock(path: string): { held: boolean; release: () => void } {
  if (path === ':memory:') return { held: true, release: () => {} }
  const lock = new DatabaseSync(`${path}.lock`)
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return { held: true, release: () => lock.close() }
  } catch {
    lock.close()
    return { held: false, release: () => {} }
  }
}

/** SQLite's primary result code, or 0 for what is no error of SQLite's. */
const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

const isUnknownOutcome = (error: unknown): boolean =>
  codeOf(error) === IO_ERROR || codeOf(error) === CORRUPT
