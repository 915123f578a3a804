/**
 * The ports: what Farthing needs from outside, and the promises that each implementation must keep. They are plain
 * arguments. src/start.ts passes the real ones to src/app.ts, and tests pass others.
 */

/** A value that a statement binds. Booleans are 0 and 1; times are whole milliseconds since 1970. */
export type Value = string | number | null

/** One SQL statement in PostgreSQL's dialect, with `$1` placeholders. */
export type Statement = {
  sql: string
  values: Value[]
  /** The statement must change exactly one row. If it does not, the whole write is undone. */
  expect?: 1
  /** A second statement, for other rows, that is sent to the database together with this one. */
  also?: { sql: string; values: Value[] }
}

export interface Database {
  /** Sees every write that has resolved `true`, on any instance. */
  query<Row>(sql: string, values?: Value[]): Promise<Row[]>

  /**
   * Runs all statements in order, or none. Resolves `true` once the write is durable. Resolves `false`, with
   * nothing written, if a statement does not change the row that it expects. After a rejection the outcome
   * may be unknown.
   */
  write(statements: Statement[]): Promise<boolean>

  /** Rejects if reads or writes are known not to work. */
  check(): Promise<void>

  /** Settles the reads and writes under way, rejects later ones, and closes the connections. */
  close(): Promise<void>
}

/**
 * The time, in milliseconds since 1970. The only way to ask for it; whatever is called `now`, `at`,
 * `since`, `until`, `created` or `revoked` is such a time.
 */
export type Clock = () => number

/** A new identifier for something made at `now`: 26 of `[0-9a-v]`, later ones sort after earlier ones. */
export type NewId = (now: number) => string

/** The addresses (IPv4 and IPv6) of a host name; an empty list when there are none or no answer came. */
export type Resolve = (host: string) => Promise<string[]>

/** How one try to deliver a message ended. */
export type Outcome = {
  status: 'SUCCESSFUL' | 'FAILED'
  /** The receiver's HTTP status, or null when none came. */
  status_code: number | null
  /** Milliseconds until the status line or the failure; null when nothing was sent. */
  response_time: number | null
  /** Status and reason phrase, or why there is none. */
  result: string
  /** The code of the error where there is no status, such as CERT_HAS_EXPIRED. Not kept: it is for the log. */
  cause?: string
}

/**
 * POSTs `body` to `url` with the given headers and answers how that ended. Never throws, takes at most
 * two seconds over name look-up, connection, TLS, request and status, follows no redirect, and
 * connects to no address that the callback address rule refuses.
 */
export type Send = (url: string, headers: Record<string, string>, body: string) => Promise<Outcome>

export type Ports = {
  database: Database
  clock: Clock
  newId: NewId
  resolve: Resolve
  send: Send
}
