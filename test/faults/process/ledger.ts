/**
 * Records which changes were acknowledged and which requests got no response. After a crash all acknowledged
 * changes must be there, and each unanswered request must have taken effect completely or not at all.
 */
import assert from 'node:assert/strict'
import type { Body, Client } from '../../support/client.ts'

/** A request to a payment. */
export type Step =
  | 'open the page'
  | 'choose success'
  | 'confirm'
  | 'choose declined'
  | 'cancel'
  | 'capture'
  | 'authorise'
  | { refund: number }

/** A payment after some steps, predicted from the Specification, *States and transitions*. */
export type State = {
  events: string[]
  refunded: number
  chosen: boolean
}

export type Entry = {
  /** The body of the 201. */
  created: Body
  state: State
  /** A request without a response: it took effect or it did not. */
  unknown?: Step | undefined
  /** The last GET response, if nothing was changed since. */
  read?: Body | undefined
  refund_ids: string[]
}

/** A create without a response. */
export type Lost = { reference: string; amount: number; key: string | undefined }

export type Ledger = { entries: Map<string, Entry>; keys: Map<string, string>; lost: Lost[] }

export const newLedger = (): Ledger => ({ entries: new Map(), keys: new Map(), lost: [] })

export const newState = (): State => ({
  events: ['created'],
  refunded: 0,
  chosen: false,
})

export const statusOf = ({ events }: State): string => events.at(-1) ?? ''

/** The state after an accepted step. */
export function after(state: State, step: Step, delayed: boolean): State {
  const { events, refunded } = state
  if (typeof step === 'object') return { ...state, refunded: refunded + step.refund }
  const opened = events.length > 1 ? [] : ['started']
  const paid = ['submitted', delayed ? 'capturable' : 'success']
  const added = {
    'open the page': opened,
    'choose success': opened,
    confirm: paid,
    authorise: ['started', ...paid],
    'choose declined': [...opened, 'failed'],
    cancel: ['cancelled'],
    capture: ['success'],
  }[step]
  return {
    events: [...events, ...added],
    refunded,
    chosen: step === 'choose success',
  }
}

/** The properties that steps change. All others must stay as they were acknowledged. */
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

/** Compares a payment with the ledger, and records whether an unanswered step took effect. */
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
  assert.ok(now, `the acknowledged changes are there: ${story}`)
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

/** An unanswered create made one complete payment or none, and its idempotency key agrees. */
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

/** An acknowledged idempotency key makes no second payment. */
export async function checkKey(api: Client, key: string): Promise<void> {
  const body = { amount: 1, reference: 'again', description: 'Sent again' }
  const again = { ...body, return_url: 'https://example.org/back' }
  const answer = await api.post('/v1/payments', again, { 'Idempotency-Key': key })
  assert.equal(answer.status, 409, `${key} was acknowledged and makes a second payment`)
}
