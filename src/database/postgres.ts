import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Database, Statement, Value } from '../ports.ts'
import { pause } from '../retry.ts'

export type PostgresOptions = {
  url: string
  /** Told once of each connection that breaks; the pool replaces it. */
  onConnectionError: (error: Error) => void
  /** Told of each commit; here each write has its own. */
  onCommit?: ((writes: number) => void) | undefined
  /** A statement may take as long as it takes: for changes of tables. */
  patient?: boolean
}

const POOL_SIZE = 10
/** Milliseconds. The server ends a statement after the first; the second is for a server that does not. */
const STATEMENT_TIMEOUT = 5_000
const QUERY_TIMEOUT = 6_000
const MOST_TRIES = 5
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const INT8 = 20

/** Times are bigint columns; as milliseconds they fit a number exactly. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 ? Number : pg.types.getTypeParser(id, format as 'text'),
}

/** PostgreSQL, or an engine that speaks its protocol, at READ COMMITTED with durable commits. */
export function openPostgres(
  options: PostgresOptions,
): Database & { exec(sql: string): Promise<void> } {
  const limits = options.patient
    ? {}
    : {
        statement_timeout: STATEMENT_TIMEOUT,
        query_timeout: QUERY_TIMEOUT,
        idle_in_transaction_session_timeout: 10_000,
      }
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: 5_000,
    ...limits,
    application_name: 'farthing',
    pipeline: true,
    types,
  })
  pool.on('connect', client => client.on('error', options.onConnectionError))
  pool.on('error', () => {}) // the same error once more, if nobody was using the connection

  return {
    async query<Row>(sql: string, values: Value[] = []) {
      const { rows } = await withRetries(() => pool.query(named(sql, values)))
      // A row's columns are those that the statement names: the caller states their type.
      return rows as Row[]
    },
    async write(statements) {
      const written = await withRetries(() => writeAll(pool, statements))
      if (written) options.onCommit?.(1)
      return written
    },
    async exec(sql) {
      await pool.query(sql)
    },
    async check() {
      const { rows } = await pool.query(`select current_setting('transaction_read_only') as closed`)
      if (rows[0]?.closed === 'on') throw new Error('PostgreSQL takes no writes')
    },
    close: () => pool.end(),
  }
}

const names = new Map<string, string>()
/** Each connection of the server keeps the plans of all that have a name; searches combine their filters in thousands of ways. */
const MOST_NAMED = 200

/** A prepared statement is planned once per connection and found again by its name. */
function named(text: string, values: Value[]): pg.QueryConfig {
  let name = names.get(text)
  if (!name) {
    if (names.size >= MOST_NAMED) return { text, values }
    name = createHash('sha256').update(text).digest('hex').slice(0, 32)
    names.set(text, name)
  }
  return { name, text, values }
}

const withBoth = new Map<string, string>()

/** One statement for the server, whose row count is that of `sql`. */
function toQuery({ sql, values, also }: Statement): pg.QueryConfig {
  if (!also) return named(sql, values)
  let text = withBoth.get(sql)
  if (!text) {
    const shifted = also.sql.replace(/\$(\d+)/g, (_, place) => `$${Number(place) + values.length}`)
    text = `with also as (${shifted}) ${sql}`
    withBoth.set(sql, text)
  }
  return named(text, [...values, ...also.values])
}

const missed = ({ expect }: Statement, rowCount: number | null | undefined): boolean =>
  expect !== undefined && rowCount !== expect

async function writeAll(pool: pg.Pool, statements: Statement[]): Promise<boolean> {
  const [only] = statements
  if (statements.length === 1 && only) {
    const { rowCount } = await pool.query(toQuery(only))
    return !missed(only, rowCount)
  }
  const client = await pool.connect()
  let broken = true
  try {
    const written = await runAll(client, statements)
    await client.query(written ? 'commit' : 'rollback')
    broken = false
    return written
  } catch (error) {
    // What the server itself complains about leaves the connection as it was.
    if (error instanceof pg.DatabaseError)
      broken = await client.query('rollback').then(
        () => false,
        () => true,
      )
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * All statements travel together, once there is a transaction: without one each would be a commit of its own.
 * Their answers count in their order, up to the first miss or failure.
 */
async function runAll(client: pg.PoolClient, statements: Statement[]): Promise<boolean> {
  await client.query('begin')
  const sent = statements.map(statement => client.query(toQuery(statement)))
  const answers = await Promise.allSettled(sent)
  for (const [i, answer] of answers.entries()) {
    const statement = statements[i]
    if (answer.status === 'rejected') throw answer.reason
    if (statement && missed(statement, answer.value.rowCount)) return false
  }
  return true
}

/** What the database undid by itself, because of another transaction, is tried again. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? error.code : undefined
      const undone = code === SERIALIZATION_FAILURE || code === DEADLOCK
      if (!undone || tries === MOST_TRIES) throw error
      await pause(10 * 2 ** tries)
    }
  }
}
