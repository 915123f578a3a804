import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Statement, Value } from '../../ports.ts'

/** SQLite's primary result codes, as far as something is done about them. */
export const SQLITE = {
  BUSY: 5,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
} as const

/** The extended code of a write that failed. */
export const SQLITE_IOERR_WRITE = 778

/** SQLite's extended result code; undefined for what is no error of SQLite's. */
export const extendedCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined

/** The lowest byte of the extended code; 0 for what is no error of SQLite's. */
export const primaryCode = (error: unknown): number => (extendedCode(error) ?? 0) & 0xff

/** Prepared statements that a connection keeps. The filters of searches combine in thousands of ways. */
const MOST_PREPARED = 200

type Prepared = { statement: StatementSync; order: number[]; columns: string[] }

/** One connection to a SQLite file. Everything that it does blocks its thread. */
export type Connection = {
  inTransaction(): boolean
  exec(sql: string): void
  query<Row>(sql: string, values: Value[]): Row[]
  /** The number of rows that the statement changed. */
  run(statement: Statement): number
  close(): void
}

/** For another connection that holds a lock, in milliseconds; and between two tries where SQLite does not wait itself. */
export const LONGEST_WAIT = 5_000
const SHORT_WAIT = 5

const SETTINGS = {
  journal_mode: 'wal',
  synchronous: 2, // FULL: what was acknowledged survives a power cut
  temp_store: 2, // memory: there may be no folder for temporary files that can be written
  foreign_keys: 1,
  trusted_schema: 0,
  cell_size_check: 1,
  wal_autocheckpoint: 4_000,
  journal_size_limit: 67_108_864,
  busy_timeout: LONGEST_WAIT, // the last: until then `whenFree` waits, and SQLite does not
}

/** What SQLite spells differently from PostgreSQL, for the SQL that is used here and no other. */
const toSqlite = (sql: string): string => sql.replaceAll(' collate "C"', '')

/**
 * Opens a file, made when it is not there, or `:memory:`; throws where that cannot be had. The cache
 * takes memory as pages are read, up to `cacheKilobytes`.
 */
export function connect(path: string, cacheKilobytes: number): Connection {
  const database = new DatabaseSync(path)
  applySettings(database, { cache_size: -cacheKilobytes, ...SETTINGS }, path === ':memory:')
  const prepared = new Map<string, Prepared>()

  /** A Map keeps the order of insertion, so the statement that was used least recently is its first. */
  function prepare(sql: string): Prepared {
    const found = prepared.get(sql) ?? prepareAnew(database, sql)
    prepared.delete(sql)
    prepared.set(sql, found)
    const [oldest] = prepared.size > MOST_PREPARED ? prepared : []
    if (oldest) {
      prepared.delete(oldest[0])
      finalise(oldest[1].statement)
    }
    return found
  }

  return {
    inTransaction: () => database.isTransaction,
    exec: sql => database.exec(toSqlite(sql)),
    query<Row>(sql: string, values: Value[]) {
      const { statement, order, columns } = prepare(sql)
      const rows = statement.all(...bind(values, order)) as unknown as Value[][] // setReturnArrays
      // A row's columns are those that the statement names: the caller states their type.
      return rows.map(row => objectOf(columns, row) as Row)
    },
    run({ sql, values }) {
      const { statement, order } = prepare(sql)
      return Number(statement.run(...bind(values, order)).changes)
    },
    close: () => database.close(),
  }
}

function prepareAnew(database: DatabaseSync, sql: string): Prepared {
  const order: number[] = []
  const text = toSqlite(sql).replace(/\$(\d+)/g, (_, position) => {
    order.push(Number(position) - 1)
    return '?'
  })
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  return { statement, order, columns: statement.columns().map(({ name }) => name) }
}

/** Frees SQLite's memory at once. Node 24 has no way to do that and frees it with the garbage. */
const finalise = (statement: StatementSync & Partial<Disposable>): void =>
  statement[Symbol.dispose]?.()

/** node:sqlite's own objects have no prototype, and V8 is slow with those. */
function objectOf(columns: string[], row: Value[]): Record<string, Value> {
  const object: Record<string, Value> = {}
  for (let i = 0; i < columns.length; i++) object[columns[i] ?? ''] = row[i] ?? null
  return object
}

function bind(values: Value[], order: number[]): Value[] {
  return order.map(position => {
    const value = values[position]
    if (value === undefined || (typeof value === 'number' && !Number.isSafeInteger(value)))
      throw new TypeError(`parameter $${position + 1} cannot be bound: ${String(value)}`)
    return value
  })
}

function applySettings(
  database: DatabaseSync,
  settings: Record<string, number | string>,
  inMemory: boolean,
): void {
  for (const [name, wanted] of Object.entries(settings)) {
    const read = whenFree(() => {
      database.exec(`pragma ${name} = ${wanted}`)
      return Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    })
    if (inMemory && name === 'journal_mode') continue
    if (read !== wanted) throw new Error(`SQLite did not accept ${name} = ${wanted}: it is ${read}`)
  }
}

/**
 * Waits while another connection holds a lock, as SQLite does itself; but where two make the same new
 * file a WAL database it gives up at once, because they could wait for each other for ever.
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
