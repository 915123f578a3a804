import type { Account } from './account.ts'

/**
 * The ports: the things outside that Farthing needs, such as a database, and the promises that each implementation must
 * keep. They are plain arguments. src/app/start.ts passes the real ones to src/app/app.ts, and tests pass others.
 */

/** A value that a statement binds. Booleans are 0 and 1; times are whole milliseconds since 1970. */
export type Value = string | number | null

/** One SQL statement in PostgreSQL's dialect, with `$1` placeholders. */
export type Statement = {
  sql: string
  values: Value[]
  /** The statement must change exactly so many rows. If it does not, the whole write is undone. */
  expect?: number
  /** Set if it writes the record of requests: if it finds the file damaged, only writes of the record fail. */
  ofRecord?: true
  /** A second statement, for other rows, that is sent to the database together with this one. */
  also?: { sql: string; values: Value[] }
}

export interface Database {
  /** Sees every write that has resolved `true`, on any instance. */
  query<Row>(sql: string, values?: Value[]): Promise<Row[]>

  /**
   * Runs all statements or none. Resolves `true` once the changes are durable, and `false`, with nothing written, if a
   * statement does not change as many rows as it expects. After a rejection the outcome may be unknown.
   */
  write(statements: Statement[]): Promise<boolean>

  /** Rejects if reads or writes are known not to work. */
  check(): Promise<void>

  /** The bytes that can still be written: free on the volume and as free pages in the file; Infinity without a file. */
  freeBytes(): Promise<number>

  /** The time of the database's server, in milliseconds; undefined for a database without a server. */
  serverTime(): Promise<number | undefined>

  /** Waits for the reads and writes under way, rejects later ones, and closes the connections. */
  close(): Promise<void>
}

/**
 * A time, in whole milliseconds since 1970, by the clock of an account or of the machine. Both clocks agree until
 * somebody moves the account's. Neither type can be passed where the other is needed; a plain number can.
 */
export type AccountTime = number & { readonly clock?: 'account' }
export type MachineTime = number & { readonly clock?: 'machine' }

export type Time = {
  /** The account's time, for everything that its users can see: now, or at the machine's time `wall`. */
  now(account: Account, wall?: MachineTime): AccountTime
  /** The machine's time: for claims, caches and the deletion of old rows. */
  wall(): MachineTime
}

/** 26 characters of `[0-9a-v]`, which sort by time. With a seed each room has random numbers of its own. */
export type NewId = (now: number, room?: string) => string

/** Random texts; with a seed each room has its own, as for `NewId`. A secret has 26 characters and 130 random bits. */
export type Secrets = { secret(room?: string): string; uuid(room?: string): string }

/** The IPv4 and IPv6 addresses of a host name. The list is empty when there are none or the look-up fails. */
export type Resolve = (host: string) => Promise<string[]>

/** The result of one attempt to deliver a message. */
export type AttemptResult = {
  status: 'SUCCESSFUL' | 'FAILED'
  /** The receiver's HTTP status, or null if no status arrived. */
  status_code: number | null
  /** Milliseconds until the status line or the failure; null when nothing was sent. */
  response_time: number | null
  /** The status code and its reason phrase, or the reason why there is no status. */
  result: string
  /** Without a status, the error code, such as CERT_HAS_EXPIRED. Logged and recorded, not stored with the message. */
  cause?: string
  /** The status of the redirect that led to a GET, or else of the last. Recorded, not stored with the message. */
  redirected?: number
  /** The rest of the response, if the POST asks for it and a status arrived. Never rejects. */
  answer?: Promise<ReceiverResponse>
}

export type ReceiverResponse = {
  /** Names as the receiver wrote them, with values whose bytes are read as Latin-1. */
  headers: [name: string, value: string][]
  /** The first KEPT_ANSWER_BYTES of the body. */
  body: Buffer
  /** Bytes of the body that arrived. Reading ends at ANSWER_BYTES or ANSWER_PIECES, and with the attempt's time. */
  size: number
  /** The headers of the request as they were sent. */
  sent: Record<string, string>
}

/** An HTTP POST. `body` is sent as UTF-8. */
export type Post = {
  url: string
  headers: Record<string, string>
  body: string
  /** Milliseconds; two seconds without it. */
  timeout?: number
  /** Default: follows no redirect. */
  redirects?: Redirects | undefined
  /** Default: repeats no request. */
  repeats?: Repeats | undefined
  /** Called before each request that `redirects` or `repeats` would add. After `false` no further request is sent. */
  goesOn?: () => Promise<boolean>
  keepsAnswer?: boolean
  /** The account whose slots it takes. */
  account?: Account
}

/** `most`: redirects in a row. Status of `asGet`: a GET without headers and body follows; of `unchanged`: the same. */
export type Redirects = { most: number; asGet: readonly number[]; unchanged: readonly number[] }

/** Repeats a request once after these statuses. Waits Retry-After or else `wait`, at most `longest` milliseconds. */
export type Repeats = { statuses: readonly number[]; wait: number; longest: number }

/** One attempt: the POST, and the message that it delivers. */
export type OutgoingMessage = Post & { account: Account; webhook_id: string; message_id: string }

/**
 * Sends the POST and returns the result of its last request. Never rejects. Takes at most `timeout` over name look-up,
 * connection, TLS, request and status; so does each request that `redirects` and `repeats` add. Connects to no address
 * that the callback address rule refuses.
 */
export type Send = (message: OutgoingMessage) => Promise<AttemptResult>

export type Ports = {
  database: Database
  time: Time
  newId: NewId
  secrets: Secrets
  resolve: Resolve
  send: Send
}
