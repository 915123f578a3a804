/**
 * Records acknowledged changes and requests without a response. After a crash all acknowledged changes must be there,
 * and each unanswered request must have taken effect completely or not at all.
 */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { statusesOf } from '../../support/journeys.ts'
import { newWorld, type Step, type World } from '../model.ts'
import { create, steps } from '../model-moves.ts'
import { amountLeft } from '../model-payments.ts'

export type StepName = keyof typeof steps

export type Entry = {
  created: Body
  /** The model of the payment, after all that was acknowledged. */
  world: World
  /** A request without a response: it took effect or not. */
  unknown?: StepName | undefined
  /** The last GET response, if nothing was changed since. */
  read?: Body | undefined
  refund_ids: string[]
}

export function newEntry(created: Body): Entry {
  const { amount, delayed_capture: delayed, authorisation_mode: mode } = created
  const world = newWorld('ledger', 0)
  create(world, 0, { mode, amount, delayed })
  return { created, world, refund_ids: [] }
}

/** The world after a step, and the response to it. */
export function after(world: World, name: StepName): Step & { world: World } {
  const next = structuredClone(world)
  return { ...steps[name](next), world: next }
}

export type Lost = { reference: string; amount: number; key: string | undefined }

export const newLedger = () => ({
  /** By the identifiers of their payments. */
  entries: new Map<string, Entry>(),
  /** The payments by their idempotency keys. */
  keys: new Map<string, string>(),
  lost: [] as Lost[],
})

/** The statuses that a payment went through, and the amount that was refunded. */
export function courseOf({ payments: [payment] }: World) {
  assert.ok(payment)
  const statuses = payment.events.map(({ status }) => status)
  return { statuses, refunded: payment.amount - amountLeft(payment) }
}

/** The properties that steps change. All others must stay as they were acknowledged. */
const CHANGING = [
  ...'state refund_summary settlement_summary authorisation_summary fee net_amount'.split(' '),
  ...'card_brand card_details _links'.split(' '),
]

const fixedPart = (payment: Body): Body =>
  Object.fromEntries(Object.entries(payment).filter(([name]) => !CHANGING.includes(name)))

/** Compares a payment with the ledger, and records whether an unanswered step took effect. */
export async function checkEntry(api: Client, entry: Entry): Promise<void> {
  const { payment_id, amount } = entry.created
  const path = `/v1/payments/${payment_id}`
  const payment = await api.get(path)
  assert.equal(payment.status, 200, `${payment_id} was acknowledged: ${payment.text}`)
  const refunds = await api.get(`${path}/refunds`)
  const seen = {
    statuses: await statusesOf(api, entry.created),
    refunded: amount - payment.body.refund_summary.amount_available,
  }
  const { unknown, world } = entry
  const possible = unknown ? [world, after(world, unknown).world] : [world]
  const now = possible.find(each => isDeepStrictEqual(courseOf(each), seen))
  const story = JSON.stringify({ payment_id, acknowledged: courseOf(world), unknown, seen })
  assert.ok(now, `the acknowledged changes are there: ${story}`)
  assert.deepEqual(fixedPart(payment.body), fixedPart(entry.created))
  if (entry.read && !unknown) assert.deepEqual(payment.body, entry.read)
  assert.equal(payment.body.state.status, seen.statuses.at(-1), 'as in the last event')
  const listed: Body[] = refunds.body._embedded.refunds
  const sum = listed.reduce((total, { amount }) => total + amount, 0)
  assert.equal(sum, seen.refunded, `the refunds add up: ${story}`)
  const ids = listed.map(({ refund_id }) => refund_id)
  assert.deepEqual(
    entry.refund_ids.filter(id => !ids.includes(id)),
    [],
    'every acknowledged refund is there',
  )
  Object.assign(entry, { world: now, unknown: undefined, read: payment.body, refund_ids: ids })
}

/** An unanswered create made one complete payment or none, and its idempotency key agrees. */
export async function checkLost(api: Client, lost: Lost): Promise<Entry | undefined> {
  const { reference, amount, key } = lost
  const found = await api.get(`/v1/payments?reference=${reference}`)
  assert.ok(found.body.total <= 1, `${reference} was sent once and is there ${found.body.total}x`)
  const [made] = found.body.results
  if (key !== undefined) {
    const again = { ...webPayment, reference: `${reference}-again` }
    const answer = await api.post('/v1/payments', again, { 'Idempotency-Key': key })
    assert.equal(answer.status, made ? 409 : 201, `the key of ${reference}: ${answer.text}`)
  }
  if (!made) return undefined
  assert.equal(made.amount, amount)
  const { body } = await api.get(`/v1/payments/${made.payment_id}`)
  const entry = newEntry(body)
  await checkEntry(api, entry)
  return entry
}

/** An acknowledged idempotency key makes no second payment. */
export async function checkKey(api: Client, key: string): Promise<void> {
  const answer = await api.post('/v1/payments', webPayment, { 'Idempotency-Key': key })
  assert.equal(answer.status, 409, `${key} was acknowledged and makes a second payment`)
}
