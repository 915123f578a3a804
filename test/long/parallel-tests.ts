/** 200 tests at once, each with an account, plans, a clock and a receiver of its own: each sees what it sees alone. */
import assert from 'node:assert/strict'
import { startFarthing } from '../../src/testing/library.ts'
import type { Account, Farthing } from '../../src/testing/public.d.ts'
import { seeded } from '../faults/process/workload.ts'
import { webPayment } from '../support/client.ts'
import type { Job } from './run.ts'

const TESTS = 200
/** A test of 200 on a busy machine. */
const PATIENCE = { timeout: '60s' } as const

const scenarios = ['success', 'declined', 'error', 'cancel'] as const

export const job: Job = {
  title: '200 tests at once, shuffled, against the same tests alone',
  async run({ seed, scale }) {
    const random = seeded(seed)
    const rounds = Math.ceil(100 * scale)
    await using farthing = await startFarthing()
    const alone: unknown[] = []
    for (let n = 0; n < TESTS; n++) alone.push(await story(farthing, n))
    for (let round = 0; round < rounds; round++) {
      const together = await Promise.all(
        shuffle(alone.keys(), random).map(async n => ({ n, seen: await story(farthing, n) })),
      )
      for (const { n, seen } of together)
        assert.deepEqual(seen, alone[n], `test ${n} of round ${round}`)
    }
    return `${TESTS} tests alone, then ${rounds} times at once`
  },
}

function shuffle(numbers: Iterable<number>, random: () => number): number[] {
  const keyed = [...numbers].map(n => ({ n, key: random() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ n }) => n)
}

/** One test. Returns everything that it saw except identifiers. Numbers, times and outcomes follow from `n`. */
async function story(farthing: Farthing, n: number): Promise<unknown> {
  const at = new Date(Date.UTC(2020 + (n % 7), n % 12, 1 + (n % 28), n % 24))
  await using account = await farthing.account({ at })
  const receiver = await account.receive()
  await account.plan({ scenario: scenarios[n % 4] ?? 'error', given: { reference: 'planned' } })
  const fault = { on: 'searchPayments', skip: n % 3, times: 1 + (n % 2), answer: { status: 503 } }
  const plan = await account.plan(fault)
  const opened = await openPlanned(account, n)
  const paid = await account.payment({ amount: 1_000 + n, scenario: 'success', refund: n + 1 })
  const waiting = account.waitForPayment({ reference: 'later', status: 'success' }, PATIENCE)
  await account.clock.advance(`${(n % 5) + 1}h`)
  await account.payment({ amount: n + 1, reference: 'later', scenario: 'success' })
  const { amount, created_date } = await waiting
  const searches: unknown[] = []
  for (let i = 0; i < 5; i++) {
    const { status, body } = await account.send('GET', '/v1/payments')
    searches.push([status, body.total])
  }
  await account.settled(PATIENCE)
  const messages = receiver
    .all()
    .map(({ event_type, payment }) => [event_type, payment.reference, payment.amount])
  const requests = (await account.requests()).map(each => [
    each.operation,
    each.reference,
    each.status,
    each.answered,
    each.at,
  ])
  const counts = await plan.counts()
  await account.clock.advance('7d')
  const { status } = await account.send('GET', `/v1/payments/${paid.payment_id}`)
  if (n % 2) await account.reset({ at })
  const now = await account.clock.now()
  return { opened, amount, created_date, searches, messages, requests, counts, status, now }
}

/** Creates a payment for which there is a plan, and opens its page. */
async function openPlanned(account: Account, n: number): Promise<unknown> {
  const fields = { ...webPayment, amount: n + 1, reference: 'planned' }
  const { body } = await account.send('POST', '/v1/payments', fields)
  const { status } = await account.send('GET', new URL(body._links.next_url.href).pathname)
  return [status, (await account.send('GET', `/v1/payments/${body.payment_id}`)).body.state]
}
