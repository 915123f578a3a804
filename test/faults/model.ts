/**
 * The model: what Farthing does, written a second time as plain objects and without a database, HTTP or
 * concurrency. Each step says which request is made and what must come back; test/faults/model-run.ts
 * makes the request to the real service and compares. Identifiers that the service makes up have
 * names here, like `{payment-3}`, which stand in requests and answers for the real ones.
 */
import type { Agreement } from './model-agreements.ts'
import type { Payment } from './model-payments.ts'
import type { Message, Webhook } from './model-webhooks.ts'

/** The one moment at which everything below is, and all that was made so far, oldest first. */
export type World = {
  /** Of its own, so that its receivers are told from those of other worlds on the same database. */
  name: string
  /** Milliseconds since 1970. */
  now: number
  payments: Payment[]
  agreements: Agreement[]
  webhooks: Webhook[]
  messages: Message[]
  /** Which payment was last made with an account's idempotency key. */
  keys: Map<string, Payment>
  /** How many attempts at a message are made before the process dies: what is left waits for its next start. */
  attempts: 0 | 1 | 2
  /** What receivers see during the step that is being taken. */
  sends: Message[]
  /** How many names were given. */
  names: number
}

export const newWorld = (name: string, now: number): World => ({
  name,
  now,
  payments: [],
  agreements: [],
  webhooks: [],
  messages: [],
  keys: new Map(),
  attempts: 2,
  sends: [],
  names: 0,
})

/** The two accounts of a world; each sees only what it made. */
export type Account = 0 | 1

export type Request = {
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'PUT'
  path: string
  /** Whose key is sent; none when undefined. */
  account?: Account | undefined
  headers?: Record<string, string>
  json?: unknown
  form?: [name: string, value: string][]
}

/** What must come back. Without `body` and `page` there is no body, or nothing is said of it. */
export type Expected = {
  status: number
  body?: unknown
  headers?: Record<string, string>
  /** Of a hosted page: its main heading, and texts that it holds. */
  page?: { heading: string; holds: string[] }
}

export type Step = { request: Request; expected: Expected }

/** The address of the service in links. */
const BASE = 'http://farthing.test'

const DAY = 24 * 60 * 60 * 1000

/** SPEC *Limits*: payment data is there for 7 days. */
export const isGone = (world: World, { created }: { created: number }): boolean =>
  world.now >= created + 7 * DAY

export const newNumber = (world: World): number => ++world.names

export const iso = (time: number): string => new Date(time).toISOString()

export const link = (path: string) => ({ href: BASE + path, method: 'GET' })

export const formLink = (path: string, params: Record<string, string> = {}) => ({
  href: BASE + path,
  method: 'POST',
  type: 'application/x-www-form-urlencoded',
  params,
})

export const answer = (status: number, body?: unknown, headers?: Record<string, string>) => ({
  status,
  ...(body !== undefined && { body: given(body) }),
  ...(headers && { headers }),
})

/** An error; `at` names the field or the header at fault. */
export const refusal = (
  status: number,
  code: string,
  at: { field?: string; header?: string } = {},
): Expected => ({ status, body: { code, ...at } })

/** The same without keys whose value is undefined: JSON has no such value. */
export function given<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

/** An identifier and a token of the right shape that nobody was ever given. */
export const NO_ID = '0'.repeat(26)
export const NO_TOKEN = '0'.repeat(52)

/** The nth newest, counted around; undefined when there are none. */
export const nthNewest = <Item>(items: Item[], nth: number): Item | undefined =>
  items[items.length - 1 - (nth % Math.max(items.length, 1))]
