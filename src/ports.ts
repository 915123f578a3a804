import type { Account } from './accounts/account.ts'

/**
 * What Farthing needs from outside, and the promise that each implementation must keep.
 * Ports are plain arguments: src/app.ts is handed the real ones by src/serve.ts and others by the tests.
 */

/** What a statement may bind. Booleans are 0 and 1; times are whole milliseconds since 1970. */
export type Value = string | number | null

/** One SQL statement in PostgreSQL's dialect, with `$1` placeholders. */
export type Statement = {
  sql: string
  values: Value[]
  /** It touches the one row that it names by its key; touching none undoes the whole write. */
  expect?: 1
  /** Written with it, on other rows, in the same journey to the database. */
  also?: { sql: string; values: Value[] }
}

export interface Database {
  /** Sees everything that a `write` has answered `true` to, from any instance. */
  query<Row>(sql: string, values?: Value[]): Promise<Row[]>

  /**
   * All statements or none, in their order. Resolves `true` once the write is durable; `false`, with
   * nothing written, when a statement misses the row that it expects. After a rejection the
   * outcome may be unknown.
   */
  write(statements: Statement[]): Promise<boolean>

  /** Rejects when reads or writes cannot be expected to work. */
  check(): Promise<void>

  close(): Promise<void>
}

/**
 * The time, in whole milliseconds since 1970. There are two, and each caller names the one that it means. They are the
 * same until somebody moves an account's clock.
 */
export type Time = {
  /** The account's time, for everything that its users can see: identifiers, dates, what has expired. */
  now(account: Account): number
  /** The machine's time: for claims, caches and the deletion of old rows. */
  wall(): number
}

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
  time: Time
  newId: NewId
  resolve: Resolve
  send: Send
}
