/**
 * What clients were told, and what they asked for without hearing the end of it. After a crash the
 * service must know all of the first, and of the second each thing wholly or not at all.
 */
import assert from 'node:assert/strict'
import type { Body, Client } from '../../support/client.ts'

/** What a client does to a payment that it created. */
export type Step =
  | 'open the page'
  | 'choose success'
  | 'confirm'
  | 'choose declined'
  | 'cancel'
  | 'capture'
  | 'authorise'
  | { refund: number }

/** What the specification says of a payment after some steps, in the test's own words. */
export type State = {
  events: string[]
  refunded: number
  /** Which event types webhooks are told of, without their common beginning. */
  told: string[]
  chosen: boolean
}

export type Entry = {
  /** The body of the 201. */
  created: Body
  state: State
  /** A request that got no answer: it took effect or it did not. */
  unknown?: Step | undefined
  /** The last answer of GET, while nothing was asked for since. */
  read?: Body | undefined
  refund_ids: string[]
}

/** A create that got no answer. */
export type Lost = { reference: string; amount: number; key: string | undefined }

export type Ledger = { entries: Map<string, Entry>; keys: Map<string, string>; lost: Lost[] }

export const newLedger = (): Ledger => ({ entries: new Map(), keys: new Map(), lost: [] })

export const newState = (): State => ({
  events: ['created'],
  refunded: 0,
  told: [],
  chosen: false,
})

export const statusOf = ({ events }: State): string => events.at(-1) ?? ''

/** The state after a step that the service accepts. */
export function after(state: State, step: Step, delayed: boolean): State {
  const { events, refunded, told } = state
  if (typeof step === 'object')
    return { ...state, refunded: refunded + step.refund, told: [...told, 'refunded'] }
  const opened = events.length > 1 ? [] : ['started']
  const paid = delayed
    ? { events: ['submitted', 'capturable'], told: ['succeeded'] }
    : { events: ['submitted', 'success'], told: ['succeeded', 'captured'] }
  const added = {
    'open the page': { events: opened, told: [] },
    'choose success': { events: opened, told: [] },
    confirm: paid,
    authorise: { events: ['started', ...paid.events], told: paid.told },
    'choose declined': { events: [...opened, 'failed'], told: ['failed'] },
    cancel: { events: ['cancelled'], told: ['cancelled'] },
    capture: { events: ['success'], told: ['captured'] },
  }[step]
  return {
    events: [...events, ...added.events],
    refunded,
    told: [...told, ...added.told],
    chosen: step === 'choose success',
  }
}

/** What a payment's steps change; all else must stay as it was acknowledged. */
const CHANGING = new Set([
  'state',
  'refund_summary',
  'settlement_summary',
  'card_brand',
  'card_details',
  'authorisation_summary',
  'fee',
  'net_amount',
  '_links',
])

const fixedPart = (payment: Body): Body =>
  Object.fromEntries(Object.entries(payment).filter(([name]) => !CHANGING.has(name)))

/** Compares one payment with what was acknowledged, and learns how an unknown step ended. */
export async function checkEntry(api: Client, entry: Entry): Promise<void> {
  const { payment_id, amount, delayed_capture } = entry.created
  const path = `/v1/payments/${payment_id}`
  const payment = await api.get(path)
  assert.equal(payment.status, 200, `${payment_id} was acknowledged: ${payment.text}`)
  const events = await api.get(`${path}/events`)
  const refunds = await api.get(`${path}/refunds`)
  const seen = {
    events: events.body.events.map((event: Body) => event.state.status),
    refunded: amount - payment.body.refund_summary.amount_available,
  }
  const { unknown, state } = entry
  const possible = unknown ? [state, after(state, unknown, delayed_capture)] : [state]
  const now = possible.find(
    ({ events, refunded }) =>
      refunded === seen.refunded && events.join() === (seen.events as string[]).join(),
  )
  const story = JSON.stringify({ payment_id, acknowledged: state, unknown, seen })
  assert.ok(now, `what was acknowledged is there, wholly: ${story}`)
  assert.deepEqual(fixedPart(payment.body), fixedPart(entry.created))
  if (entry.read && !unknown) assert.deepEqual(payment.body, entry.read)
  assert.equal(payment.body.state.status, statusOf(now), 'the state is that of the last event')
  const listed: Body[] = refunds.body._embedded.refunds
  const sum = listed.reduce((total, { amount }) => total + amount, 0)
  assert.equal(sum, now.refunded, `the refunds add up: ${story}`)
  const ids = listed.map(({ refund_id }) => refund_id)
  assert.deepEqual(
    entry.refund_ids.filter(id => !ids.includes(id)),
    [],
    'every acknowledged refund is there',
  )
  Object.assign(entry, { state: now, unknown: undefined, read: payment.body, refund_ids: ids })
}

/** A create without an answer made one whole payment or none, and its key tells the same. */
export async function checkLost(api: Client, lost: Lost): Promise<Entry | undefined> {
  const { reference, amount, key } = lost
  const found = await api.get(`/v1/payments?reference=${reference}`)
  assert.ok(found.body.total <= 1, `${reference} was sent once and is there ${found.body.total}x`)
  const [made] = found.body.results
  if (key !== undefined) {
    const again = { amount, reference: `${reference}-again`, description: 'Sent again' }
    const body = { ...again, return_url: 'https://example.org/back' }
    const answer = await api.post('/v1/payments', body, { 'Idempotency-Key': key })
    assert.equal(answer.status, made ? 409 : 201, `the key of ${reference}: ${answer.text}`)
  }
  if (!made) return undefined
  assert.equal(made.amount, amount)
  const { body } = await api.get(`/v1/payments/${made.payment_id}`)
  const entry = { created: body, state: newState(), refund_ids: [] }
  await checkEntry(api, entry)
  return entry
}

/** A key that was acknowledged makes no second payment. */
export async function checkKey(api: Client, key: string): Promise<void> {
  const body = { amount: 1, reference: 'again', description: 'Sent again' }
  const again = { ...body, return_url: 'https://example.org/back' }
  const answer = await api.post('/v1/payments', again, { 'Idempotency-Key': key })
  assert.equal(answer.status, 409, `${key} was acknowledged and makes a second payment`)
}
