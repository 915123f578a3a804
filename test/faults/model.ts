/**
 * The model: Farthing's rules for states, amounts, times and messages, written a second time as plain objects without a
 * database, HTTP or concurrency. A step is a request and the response it must get; test/faults/model-run.ts sends the
 * request to the real service and compares. The model gives names such as `{payment-3}` to the identifiers that the
 * service generates. The contract tests cover the wording of responses, faulty requests, filters and links.
 */
import { DAY } from '../../src/core/time.ts'
import type { Agreement } from './model-agreements.ts'
import type { Payment } from './model-payments.ts'
import type { Message, Webhook } from './model-webhooks.ts'

/** All things that were made so far, oldest first. */
export type World = {
  /** Part of the callback URLs, so that two worlds on one database have different receivers. */
  name: string
  /** Milliseconds since 1970. */
  now: number
  payments: Payment[]
  agreements: Agreement[]
  webhooks: Webhook[]
  messages: Message[]
  /** The payment that was last made with an account's idempotency key. */
  keys: Map<string, Payment>
  /** Attempts per message before the process dies. Unsent messages wait for the next start. */
  attempts: 0 | 1 | 2
  /** The messages that receivers get during the current step. */
  sends: Message[]
  /** The number of names so far. */
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

/** A world has two accounts; each sees only its own things. */
export type Account = 0 | 1

export type Request = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** No key is sent if undefined. */
  account?: Account
  headers?: Record<string, string>
  json?: object
  form?: Record<string, string>
}

export type Expected = {
  status: number
  /** The properties that the body must have, among others. A property that is undefined must be absent. */
  body?: object
  location?: string
}

export type Step = { request: Request; expected: Expected }

/** Payment data is kept for 7 days. */
export const isGone = (world: World, { created }: { created: number }): boolean =>
  world.now >= created + 7 * DAY

export const newNumber = (world: World): number => ++world.names

export const iso = (time: number): string => new Date(time).toISOString()

export const refusal = (status: number, code: string): Expected => ({ status, body: { code } })

/** An identifier and a token of the right shape that the service never generates. */
export const NO_ID = '0'.repeat(26)
export const NO_TOKEN = '0'.repeat(52)

/** The nth newest, modulo their number; undefined if there are none. */
export const nthNewest = <Item>(items: Item[], nth: number): Item | undefined =>
  items[items.length - 1 - (nth % Math.max(items.length, 1))]
