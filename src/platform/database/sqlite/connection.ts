import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { PREPARED_STATEMENTS } from '../../../core/budgets.ts'
import type { Statement, Value } from '../../../core/ports.ts'

export const SQLITE = {
  BUSY: 5,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
} as const

export const SQLITE_IOERR_WRITE = 778

/** SQLite's extended result code. undefined if the error is not from SQLite. */
export const extendedCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined

/** SQLite's primary result code: the lowest byte of the extended one. 0 if the error is not from SQLite. */
export const primaryCode = (error: unknown): number => (extendedCode(error) ?? 0) & 0xff

/** One connection to an SQLite file. Every call blocks the thread. */
export type Connection = ReturnType<typeof connect>

/** Milliseconds to wait while another connection holds a lock. */
export const LONGEST_WAIT = 5_000
/** Milliseconds between two tries in `whenFree`. */
const SHORT_WAIT = 5

const SETTINGS = {
  journal_mode: 'wal',
  synchronous: 2, // FULL: acknowledged writes survive a power cut
  temp_store: 2, // MEMORY: there may be no writable folder for temporary files
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  wal_autocheckpoint: 4_000, // pages
  journal_size_limit: 67_108_864, // bytes
  busy_timeout: LONGEST_WAIT, // must be last: for the settings before it, `whenFree` waits
}

/** Opens a file, or `:memory:`. Throws if that fails. The page cache grows as pages are read. */
export function connect(path: string, cacheKilobytes: number) {
  const database = new DatabaseSync(path)
  applySettings(database, cacheKilobytes, path === ':memory:')
  const cache = new Map<string, ReturnType<typeof prepare>>()

  /** From the cache, or prepared now. A full cache evicts its oldest statement, which a Map has first. */
  function prepared(sql: string) {
    const cached = cache.get(sql)
    if (cached) return cached
    const [oldest] = cache.size >= PREPARED_STATEMENTS ? cache : []
    if (oldest) {
      cache.delete(oldest[0])
      finalise(oldest[1].statement)
    }
    const entry = prepare(database, sql)
    cache.set(sql, entry)
    return entry
  }

  return {
    inTransaction: () => database.isTransaction,
    exec: (sql: string) => database.exec(toSqlite(sql)),
    query<Row>(sql: string, values: Value[]) {
      const { statement, columns } = prepared(sql)
      const rows = statement.all(...checked(values)) as unknown as Value[][] // setReturnArrays
      // The statement names the columns, so its caller knows their types.
      return rows.map(row => objectOf(columns, row) as Row)
    },
    /** Returns the number of rows that the statement changed. `also` is ignored. */
    run: ({ sql, values }: Statement) =>
      Number(prepared(sql).statement.run(...checked(values)).changes),
    close: () => database.close(),
  }
}

/** Translates PostgreSQL's dialect, as far as the SQL in this repository needs it. */
const toSqlite = (sql: string): string =>
  sql.replaceAll(' collate "C"', '').replace(/\$(\d+)/g, '?$1')

function prepare(database: DatabaseSync, sql: string) {
  const statement = database.prepare(toSqlite(sql))
  statement.setReturnArrays(true)
  return { statement, columns: statement.columns().map(({ name }) => name) }
}

/** Frees SQLite's memory at once. Node 24 cannot do that; there the garbage collector frees it. */
const finalise = (statement: StatementSync & Partial<Disposable>): void =>
  statement[Symbol.dispose]?.()

/** A row as an ordinary object. Rows of node:sqlite are slow: without a prototype, V8 keeps them in dictionary mode. */
function objectOf(columns: string[], row: Value[]): Record<string, Value> {
  const object: Record<string, Value> = {}
  for (let i = 0; i < columns.length; i++) object[columns[i] ?? ''] = row[i] ?? null
  return object
}

/** Throws for numbers that SQLite would store as something else: NaN, fractions, and integers beyond 2^53. */
function checked(values: Value[]): Value[] {
  for (const value of values)
    if (typeof value === 'number' && !Number.isSafeInteger(value))
      throw new TypeError(`${value} cannot be stored: it is not a safe integer`)
  return values
}

function applySettings(database: DatabaseSync, cacheKilobytes: number, inMemory: boolean): void {
  for (const [name, wanted] of Object.entries({ cache_size: -cacheKilobytes, ...SETTINGS })) {
    const read = whenFree(() => {
      database.exec(`pragma ${name} = ${wanted}`)
      return Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    })
    if (inMemory && name === 'journal_mode') continue
    if (read !== wanted) throw new Error(`SQLite did not accept ${name} = ${wanted}: it is ${read}`)
  }
}

/**
 * Waits while another connection holds a lock, as busy_timeout does. SQLite ignores busy_timeout where waiting
 * could be a deadlock, as when two connections switch the same new file to WAL.
 */
function whenFree<Done>(action: () => Done): Done {
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; ; waited += SHORT_WAIT) {
    try {
      return action()
    } catch (error) {
      if (primaryCode(error) !== SQLITE.BUSY || waited >= LONGEST_WAIT) throw error
      Atomics.wait(sleeper, 0, 0, SHORT_WAIT)
    }
  }
}
