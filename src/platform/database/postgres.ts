import { hash } from 'node:crypto'
import pg from 'pg'
import { POOL_OF_ACCOUNT, POOL_SIZE, PREPARED_STATEMENTS } from '../../core/budgets.ts'
import { overloaded, unreadable } from '../../core/errors.ts'
import { currentGuest } from '../../core/guests.ts'
import type { Database, Statement, Value } from '../../core/ports.ts'
import { pause } from '../../core/retry.ts'
import { createSlots } from '../../core/slots.ts'

export type PostgresOptions = {
  url: string
  /** Called once for each connection that breaks. The pool replaces the connection. */
  onConnectionError: (error: Error) => void
  /** Called after each commit with the number of its writes, which is always 1 here. */
  onCommit?: ((writes: number) => void) | undefined
  /** False for migrations, which may take long. */
  timeouts?: boolean
  /** Set behind a pooler, see `isPooled`: then no statement has a name, and the server gets no time limits. */
  pooled?: boolean
}

/** Milliseconds that a statement waits for a connection. */
const CONNECTION_WAIT = 5_000
/** Milliseconds. The server cancels a statement after the first; the driver stops waiting for it after the second. */
const STATEMENT_TIMEOUT = 5_000
const QUERY_TIMEOUT = 6_000
const MOST_TRIES = 5
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const READ_ONLY = '25006'
/** The server, the database or the role has no connection left. */
const TOO_MANY_CONNECTIONS = '53300'
/** The most tries to get a connection, and the longest pause after each, in milliseconds: some five seconds in all. */
const MOST_CONNECTS = 20
const CONNECT_PAUSE = 500
/** Milliseconds until the pool may try again for more connections than the server gave. */
const WIDEN_AFTER = 10_000
const INT8 = 20

/** Reads bigint columns, which are times in milliseconds, as numbers. They fit exactly. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 ? Number : pg.types.getTypeParser(id, format as 'text'),
}

type Postgres = Database & {
  /**
   * Whether a pooler is before the server. It may give each transaction another connection, where named statements are
   * missing or are those of another client. It also takes no time limits.
   */
  isPooled(): Promise<boolean>
}

/** PostgreSQL, or an engine that speaks its protocol, at READ COMMITTED with durable commits. */
export function openPostgres(options: PostgresOptions): Postgres {
  const named = options.pooled ? unnamed : namedOnce
  const timeouts = {
    query_timeout: QUERY_TIMEOUT,
    ...(!options.pooled && {
      statement_timeout: STATEMENT_TIMEOUT,
      idle_in_transaction_session_timeout: 10_000,
    }),
  }
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECTION_WAIT,
    ...(options.timeouts !== false && timeouts),
    application_name: 'farthing',
    pipeline: true,
    types,
  })
  pool.on('connect', client => client.on('error', options.onConnectionError))
  const retries = inTurn(createRetries(pool))
  pool.on('error', () => {}) // repeats the error of an idle connection

  return {
    async query<Row>(sql: string, values: Value[] = []) {
      const { rows } = await retries(() => pool.query(named(sql, values)))
      // The statement names the columns, so its caller knows their types.
      return rows as Row[]
    },
    async write(statements) {
      const written = await retries(() => writeAll(pool, statements, named))
      if (written) options.onCommit?.(1)
      return written
    },
    async isPooled() {
      const client = await pool.connect()
      try {
        const { rows } = await client.query('select pg_backend_pid() as pid')
        // A pooler gives its clients numbers of its own, to cancel queries. pg has no type for the number.
        return rows[0]?.pid !== (client as pg.PoolClient & { processID: number }).processID
      } finally {
        client.release()
      }
    },
    async check() {
      const { rows } = await retries(() =>
        pool.query(`select current_setting('transaction_read_only') as read_only`),
      )
      if (rows[0]?.read_only === 'on') throw new Error('PostgreSQL is read-only')
    },
    freeBytes: async () => Infinity,
    async serverTime() {
      const { rows } = await retries(() =>
        pool.query('select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now'),
      )
      return rows[0]?.now
    },
    async close() {
      await retries.settled()
      await pool.end()
    },
  }
}

const names = new Map<string, string>()

type ToQuery = (text: string, values: Value[]) => pg.QueryConfig

const unnamed: ToQuery = (text, values) => ({ text, values })

/** Gives the statement a name. The server prepares a named statement once per connection. */
function namedOnce(text: string, values: Value[]): pg.QueryConfig {
  let name = names.get(text)
  if (!name) {
    if (names.size >= PREPARED_STATEMENTS) return { text, values }
    name = hash('sha256', text).slice(0, 32)
    names.set(text, name)
  }
  return { name, text, values }
}

/** Combines `sql` and `also` into one statement, which returns the row count of `sql`. */
function toQuery({ sql, values, also }: Statement, named: ToQuery): pg.QueryConfig {
  if (!also) return named(sql, values)
  const shifted = also.sql.replace(/\$(\d+)/g, (_, place) => `$${Number(place) + values.length}`)
  return named(`with also as (${shifted}) ${sql}`, [...values, ...also.values])
}

const missed = ({ expect }: Statement, rowCount: number | null | undefined): boolean =>
  expect !== undefined && rowCount !== expect

async function writeAll(pool: pg.Pool, statements: Statement[], named: ToQuery): Promise<boolean> {
  const [only] = statements
  if (statements.length === 1 && only) {
    const { rowCount } = await pool.query(toQuery(only, named))
    return !missed(only, rowCount)
  }
  const client = await pool.connect()
  let isBroken = true
  try {
    const written = await runAll(client, statements, named)
    await client.query(written ? 'commit' : 'rollback')
    isBroken = false
    return written
  } catch (error) {
    // An error from the server leaves the connection usable, unless it leads to a former primary.
    if (error instanceof pg.DatabaseError && error.code !== READ_ONLY)
      isBroken = await client.query('rollback').then(
        () => false,
        () => true,
      )
    throw error
  } finally {
    client.release(isBroken)
  }
}

/** Sends the statements once `begin` has succeeded: without a transaction each would commit on its own. */
async function runAll(client: pg.PoolClient, statements: Statement[], named: ToQuery) {
  await client.query('begin')
  const sent = statements.map(statement => client.query(toQuery(statement, named)))
  const results = await Promise.allSettled(sent)
  for (const [i, result] of results.entries()) {
    const statement = statements[i]
    if (result.status === 'rejected') throw result.reason
    if (statement && missed(statement, result.value.rowCount)) return false
  }
  return true
}

type Repeat = <Done>(attempt: () => Promise<Done>) => Promise<Done>

/** Owners take turns for the connections, unlike in the pool's queue. `settled` resolves when all work has ended. */
function inTurn(repeat: Repeat): Repeat & { settled: () => Promise<unknown> } {
  const takeConnection = createSlots(POOL_OF_ACCOUNT, POOL_SIZE)
  const underway = new Set<Promise<unknown>>()
  async function run<Done>(attempt: () => Promise<Done>): Promise<Done> {
    const guest = currentGuest()
    const release = await takeConnection(guest?.owner ?? '', CONNECTION_WAIT)
    if (!release) throw overloaded()
    try {
      if (guest?.hasLeft?.()) throw unreadable()
      return await repeat(attempt)
    } finally {
      release()
    }
  }
  function tracked<Done>(attempt: () => Promise<Done>): Promise<Done> {
    const done = run(attempt)
    const ended: Promise<unknown> = done.catch(() => {}).finally(() => underway.delete(ended))
    underway.add(ended)
    return done
  }
  return Object.assign(tracked, { settled: () => Promise.all(underway) })
}

/** Repeats statements that the server rolled back because of another transaction, or that found no connection left. */
function createRetries(pool: pg.Pool): Repeat {
  let widening: NodeJS.Timeout | undefined

  /** Limits the pool to the connections that it has, so that callers wait for those. Returns false if it has none. */
  function narrow(): boolean {
    pool.options.max = Math.max(1, Math.min(pool.totalCount, POOL_SIZE))
    clearTimeout(widening)
    widening = setTimeout(() => {
      pool.options.max = POOL_SIZE
    }, WIDEN_AFTER).unref()
    return pool.totalCount > 0
  }

  return async <T>(attempt: () => Promise<T>): Promise<T> => {
    let connects = 1
    for (let tries = 1; ; ) {
      try {
        return await attempt()
      } catch (error) {
        const code = error instanceof pg.DatabaseError ? error.code : undefined
        if (code === TOO_MANY_CONNECTIONS && connects < MOST_CONNECTS) {
          connects += 1
          if (!narrow()) await pause(CONNECT_PAUSE)
        } else if ((code === SERIALIZATION_FAILURE || code === DEADLOCK) && tries < MOST_TRIES) {
          await pause(10 * 2 ** tries)
          tries += 1
        } else throw error
      }
    }
  }
}
