/** The work of the clients and receivers with which the check is tested. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createNewId } from '../../src/core/ids.ts'
import { SECOND } from '../../src/core/time.ts'
import { type NewExchange, NO_REQUEST } from '../../src/tools/record/exchange.ts'
import { makeGapRow } from '../../src/tools/record/row.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import { activeAgreement, payByAgreement } from './agreements.ts'
import { type Body, type Client, type Fields, sendUnchecked, webPayment } from './client.ts'
import { ask, made } from './control.ts'
import { choose, read } from './journeys.ts'
import type { Service } from './service.ts'
import { answering, subscribe } from './subscriber.ts'

export type Keeper = ReturnType<typeof createKeeper>

/** `expected`: the findings that are no pass, in the order of the report, with their number if it is not 1. */
export type Integration = {
  what: string
  expected: string[]
  act: (keeper: Keeper) => Promise<unknown>
}

export const client = (
  what: string,
  expected: string,
  act: Integration['act'],
): [string, Integration] => [
  what,
  { what, expected: expected.split(', ').filter(each => each !== ''), act },
]

export const times = async (count: number, act: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i++) await act(i)
}

/** A client whose requests are each a millisecond after the one before, so that the record has their order. */
export function ticking(api: Client, { clock }: Service): Client {
  const tick =
    <Given extends unknown[], Result>(act: (...given: Given) => Result) =>
    (...given: Given): Result => {
      clock.advance(1)
      return act(...given)
    }
  const { get, post, postForm, createPayment, request } = api
  return {
    ...api,
    get: tick(get),
    post: tick(post),
    postForm: tick(postForm),
    createPayment: tick(createPayment),
    request: tick(request),
  }
}

/** Writes exchanges as the recorder would, each `after` milliseconds of the machine after the one before. */
export async function recordRows(
  { service, room }: { service: Pick<Service, 'clock' | 'database'>; room: string },
  after: number,
  rows: readonly Partial<NewExchange>[],
): Promise<void> {
  const newId = createNewId()
  const statements = rows.map(row => {
    service.clock.advance(after)
    const began = service.clock.now()
    const usual = { kind: 'api', operation: 'createPayment', status: 201, method: 'POST' } as const
    const all = { ...NO_REQUEST, room, payment_id: null, began, at: began, ...usual, ...row }
    return insertExchange(all)(newId(began))
  })
  await service.database.write(statements)
}

/** The actions of a client in this room. */
export function createKeeper(t: TestContext, service: Service, room: string, plain: Client) {
  const api = ticking(plain, service)
  const send = (method: 'GET' | 'POST', path: string, json?: Fields, headers = {}) => {
    service.clock.advance(1)
    const request = { key: api.key, method, json, headers }
    return sendUnchecked(`${service.baseUrl}${path}`, request).catch(() => {})
  }
  const control = (path: string, body?: object) => ask(service, api, path, body)
  /** The user pays on the pages, and nobody reads the outcome. */
  async function pay(fields: Fields = {}): Promise<Body> {
    const payment = await api.createPayment(fields)
    await end(payment)
    return payment
  }
  async function end(payment: Body): Promise<void> {
    await choose(api, payment, 'success')
    await api.postForm(`${payment._links.next_url.href}/confirm`, {})
  }
  const payAndRead = async (fields: Fields = {}): Promise<Body> => read(api, await pay(fields))
  const KEY = () => ({ 'Idempotency-Key': `order-${service.clock.now()}` })
  return {
    t,
    service,
    room,
    api,
    record: (after: number, rows: readonly Partial<NewExchange>[]) =>
      recordRows({ service, room }, after, rows),
    control,
    pay,
    end,
    payAndRead,
    create: api.createPayment,
    read: (payment: Body) => read(api, payment),
    choose: (payment: Body, scenario: string) => choose(api, payment, scenario),
    wait: (ms: number) => api.advance(ms),
    plan: (plan: object): Promise<Body> => made(control('plans', plan)),
    /** The response to each of these three requests may be lost. */
    tryToCreate: () => send('POST', '/v1/payments', webPayment),
    tryToCharge: ({ agreement_id }: Body, headers?: Record<string, string>) => {
      const { return_url, ...fields } = webPayment
      const json = { ...fields, authorisation_mode: 'agreement', agreement_id }
      return send('POST', '/v1/payments', json, headers)
    },
    tryToRefund: ({ payment_id }: Body, guard: Fields = {}) =>
      send('POST', `/v1/payments/${payment_id}/refunds`, { amount: 100, ...guard }),
    search: (reference: string) =>
      api.get(`/v1/payments?reference=${encodeURIComponent(reference)}`),
    async captured(): Promise<Body> {
      const payment = await payAndRead()
      await api.advance(5 * SECOND)
      return payment
    },
    /** Takes a payment with this agreement or a new one. The response must have this status. */
    async charge(agreement?: Body, status = 201, headers: Record<string, string> = KEY()) {
      const used = agreement ?? (await activeAgreement(api))
      const answer = await payByAgreement(api, used, {}, headers)
      assert.equal(answer.status, status, answer.text)
      return answer.body
    },
    /** A webhook whose receiver answers with this status. */
    async hook(status = 200, subscriptions = ['card_payment_captured']): Promise<Body> {
      const behaviour = { onRequest: answering(status) }
      const made = { at: '/control/webhooks', subscriptions, behaviour }
      return (await subscribe(t, api, made)).webhook
    },
    /** Writes a gap of this moment to the record. */
    async leaveGap(): Promise<void> {
      service.clock.advance(1)
      const now = service.clock.now()
      const gap = { count: 571, refused: 0, from: now, to: now, bounds: [] }
      await service.database.write([insertExchange(makeGapRow(room, gap))(createNewId()(now))])
    },
  }
}

type Attempt = number | 'timeout' | 'printed'

/** Rows of attempts, a second apart: `ms` of each, `timeout`, or `printed` by `farthing listen`. */
export const attemptsAt = (
  { external_id: webhook_id }: Body,
  attempts: readonly Attempt[],
  payment_id: string | null = null,
): Partial<NewExchange>[] =>
  attempts.map((ms, i) => ({
    payment_id,
    message_id: `message ${i}`,
    webhook_id,
    kind: 'out',
    operation: 'card_payment_captured',
    status: ms === 'timeout' ? null : 200,
    refused: ms === 'timeout',
    path: 'https://localhost/hook',
    result: ms === 'timeout' ? 'timeout' : '200 OK',
    ms: ms === 'timeout' ? 2_000 : Number(ms) || 0,
    ...(ms === 'printed' && { facts: { printed: true } }),
  }))
