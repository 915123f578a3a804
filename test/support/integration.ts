/** What the integrations do that the check is tried with. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { activeAgreement, payByAgreement } from './agreements.ts'
import type { Body, Client } from './client.ts'
import { choose, read } from './journeys.ts'
import type { Service } from './service.ts'
import { answering, subscribe } from './subscriber.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const DAY = 24 * 60 * MINUTE

export type Keeper = {
  t: TestContext
  service: Service
  /** The room of the account. */
  room: string
  /** Each request is a millisecond of the machine after the one before, so that the record has their order. */
  api: Client
}

export type Integration = {
  what: string
  /** Rules and levels of what is no pass, in the order of the report. */
  expected: string[]
  act: (keeper: Keeper) => Promise<unknown>
}

export const integration = (
  what: string,
  expected: string[],
  act: Integration['act'],
): Integration => ({ what, expected, act })

export const times = async (count: number, act: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i++) await act(i)
}

/** The user pays on the pages, and nobody reads how it ended. */
export async function pay(api: Client, fields: Record<string, unknown> = {}): Promise<Body> {
  const payment = await api.createPayment(fields)
  await choose(api, payment, 'success')
  await api.postForm(`${payment._links.next_url.href}/confirm`, {})
  return payment
}

export const payAndRead = async (
  api: Client,
  fields: Record<string, unknown> = {},
): Promise<Body> => read(api, await pay(api, fields))

export const search = (api: Client, reference: string) =>
  api.get(`/v1/payments?reference=${encodeURIComponent(reference)}`)

export const agreementPayment = async (
  api: Client,
  headers: Record<string, string>,
): Promise<Body> => {
  const answer = await payByAgreement(api, await activeAgreement(api), {}, headers)
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

export const KEY = { 'Idempotency-Key': 'one-order' }

export const hook = async (
  { t, api }: Keeper,
  status = 200,
  subscriptions = ['card_payment_captured'],
): Promise<Body> => {
  const behaviour = { onRequest: answering(status) }
  return (await subscribe(t, api, { at: '/control/webhooks', subscriptions, behaviour })).webhook
}
