/** Clients that send one request after another and keep a ledger of the responses. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type Answer, createClient } from '../../support/client.ts'
import { tokenOf } from '../../support/expected-payment.ts'
import { rawRequest } from '../model-run.ts'
import {
  after,
  checkEntry,
  checkKey,
  checkLost,
  courseOf,
  type Entry,
  newEntry,
  newLedger,
  type StepName,
} from './ledger.ts'

/** A number from 0 to 1, the same sequence for the same seed (mulberry32). */
export type Random = () => number
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The outcome of a request is unknown. The client stops until the next run. */
class NoAnswer extends Error {}

export type Workload = ReturnType<typeof createWorkload>

/** `baseUrls` may change while it runs: each request reads it again. */
export function createWorkload(baseUrls: string[], key: string, random: Random) {
  const api = createClient(baseUrls, key)
  const ledger = newLedger()
  const touched = new Set<Entry>()
  let earlier: Entry[] = []
  const busy = new Set<Entry>()
  let stopped = false
  let references = 0
  let answered = 0
  let enough = Infinity

  async function ask(request: Promise<Answer>, expected: number): Promise<Answer> {
    const answer = await request.catch(error => {
      if (error instanceof assert.AssertionError) throw error
      throw new NoAnswer(String(error.cause ?? error))
    })
    if (answer.status >= 500) throw new NoAnswer(answer.text)
    assert.equal(answer.status, expected, answer.text)
    answered += 1
    if (answered >= enough) stopped = true
    return answer
  }

  async function create(): Promise<Entry> {
    const reference = `REF-${++references}-${Math.floor(random() * 1e9)}`
    const amount = 1 + Math.floor(random() * 9_999)
    const idempotencyKey = random() < 0.5 ? `key-${reference}` : undefined
    const moto = random() < 0.25
    const body = {
      amount,
      reference,
      description: `Payment £${amount} ëß`,
      delayed_capture: random() < 0.5,
      metadata: { reference, nth: references, odd: references % 2 === 1 },
      ...(moto ? { authorisation_mode: 'moto_api' } : { return_url: 'https://example.org/back' }),
    }
    const headers = idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}
    const answer = await ask(api.post('/v1/payments', body, headers), 201).catch(error => {
      ledger.lost.push({ reference, amount, key: idempotencyKey })
      throw error
    })
    const { payment_id } = answer.body
    const entry = newEntry(answer.body)
    assert.ok(!ledger.entries.has(payment_id), 'a new payment has a new identifier')
    ledger.entries.set(payment_id, entry)
    if (idempotencyKey) ledger.keys.set(idempotencyKey, payment_id)
    return entry
  }

  async function take(entry: Entry, name: StepName): Promise<void> {
    Object.assign(entry, { read: undefined, unknown: name })
    const { request, expected, world } = after(entry.world, name)
    const { payment_id } = entry.created
    const realOf = new Map([
      ['{payment-1}', payment_id],
      ['{token-1}', tokenOf(entry.created)],
    ])
    const { method, url, headers, payload } = rawRequest({ keys: [key], realOf }, request)
    const sent = api.request(method, url, { headers, ...(payload && { body: payload }) })
    const { body } = await ask(sent, expected.status)
    Object.assign(entry, { unknown: undefined, world })
    if (body?.refund_id) entry.refund_ids.push(body.refund_id)
  }

  async function journey(): Promise<void> {
    const old = random() < 0.2 ? unfinished() : undefined
    const entry = old ?? (await create())
    busy.add(entry)
    touched.add(entry)
    try {
      for (let next = nextStep(entry, random); next; next = nextStep(entry, random))
        await take(entry, next)
      const path = `/v1/payments/${entry.created.payment_id}`
      if (random() < 0.5) entry.read = (await ask(api.get(path), 200)).body
    } finally {
      busy.delete(entry)
    }
  }

  function unfinished(): Entry | undefined {
    const entry = earlier[Math.floor(random() * earlier.length)]
    return entry && !busy.has(entry) ? entry : undefined
  }

  async function client(): Promise<void> {
    while (!stopped)
      try {
        await journey()
      } catch (error) {
        if (error instanceof NoAnswer) return
        stopped = true
        throw error
      }
  }

  return {
    ledger,
    /** The entries that the last run used. */
    touched,
    answered: () => answered,
    stop: () => {
      stopped = true
    },
    /** Runs the clients until each one got no response, `answers` more responses came, or `stop` was called. */
    async run(clients: number, answers = Infinity) {
      stopped = false
      enough = answered + answers
      earlier = [...touched]
      touched.clear()
      await Promise.all(Array.from({ length: clients }, client))
    },
    /** Compares the service with the ledger, all entries by default. */
    async check(entries = [...ledger.entries.values()]) {
      await inParallel(entries, entry => checkEntry(api, entry))
      const ids = new Set(entries.map(entry => entry.created.payment_id))
      const keys = [...ledger.keys].filter(([, id]) => ids.has(id)).slice(-KEYS_CHECKED)
      await inParallel(keys, ([key]) => checkKey(api, key))
      await inParallel(ledger.lost.splice(0), async lost => {
        const entry = await checkLost(api, lost)
        if (entry) ledger.entries.set(entry.created.payment_id, entry)
      })
    },
  }
}

/** Idempotency keys to try again after each crash. */
const KEYS_CHECKED = 50

/** Repeated names are chosen more often. */
const CHOICES: StepName[] = [
  ...(['open', 'success', 'success', 'declined', 'confirm', 'confirm', 'confirm'] as const),
  ...(['authorise', 'cancel', 'capture', 'capture', 'refund 60', 'refund the rest'] as const),
]

/** A step that changes the payment, or undefined to leave the payment as it is. */
function nextStep({ world }: Entry, random: Random): StepName | undefined {
  const steps = CHOICES.filter(name => {
    const next = after(world, name)
    return next.expected.status < 400 && !isDeepStrictEqual(next.world.payments, world.payments)
  })
  const stays = courseOf(world).statuses.at(-1) === 'success' ? 0.5 : 0.1
  return random() < stays ? undefined : steps[Math.floor(random() * steps.length)]
}

/** Handles sixteen items at a time. The first failure rejects. */
export async function inParallel<Item>(
  items: Item[],
  each: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of rest) await each(item)
    }),
  )
}
