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

/** The IPv4 and IPv6 addresses of a host name. The list is empty when there are none or the look-up fails. */
export type Resolve = (host: string) => Promise<string[]>

/** The result of one attempt to deliver a message. */
export type AttemptResult = {
  status: 'SUCCESSFUL' | 'FAILED'
  /** The receiver's HTTP status, or null when none arrived. */
  status_code: number | null
  /** Milliseconds until the status line or the failure; null when nothing was sent. */
  response_time: number | null
  /** The status code and its reason phrase, or the reason why there is no status. */
  result: string
  /** The error code where there is no status, such as CERT_HAS_EXPIRED. It is logged and not stored. */
  cause?: string
}

/** An HTTP POST. `body` is sent as UTF-8. */
export type Post = { url: string; headers: Record<string, string>; body: string }

/** One attempt: the POST, and the message that it delivers. */
export type OutgoingMessage = Post & { account: Account; webhook_id: string; message_id: string }

/**
 * Sends the POST once and returns the result. Never rejects. Takes at most two seconds over name look-up,
 * connection, TLS, request and status. Follows no redirect, and connects to no address that the callback
 * address rule refuses.
 */
export type Send = (message: OutgoingMessage) => Promise<AttemptResult>

export type Ports = {
  database: Database
  time: Time
  newId: NewId
  resolve: Resolve
  send: Send
}
