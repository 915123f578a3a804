import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { type Storm, spoken, storm } from '../faults/process/storm.ts'
import { type Attack, type Attacked, attackAll, onBoth } from '../support/attacked.ts'
import { sendUnchecked, webPayment } from '../support/client.ts'
import { signIn } from '../support/console.ts'
import { createLargePayments } from '../support/large-payments.ts'
import type { Job } from './run.ts'

/** Megabytes of memory, and milliseconds that a request of another account may take. */
const MEMORY = 600
const REQUEST = 500
const bars: Attack['bars'] = { memory: MEMORY, stranger: REQUEST, create: REQUEST }

export const job: Job = {
  title: 'shares: what one account asks for, and what another notices',
  run: ({ scale }) =>
    attackAll(
      Object.assign(
        {},
        ...Object.entries(attacks(scale)).map(([name, attack]) =>
          onBoth(name, { creates: true, ...attack }),
        ),
      ),
    ),
}

const attacks = (scale: number): Record<string, Attack> => ({
  'text searches whose clients leave': {
    // One of a hundred requests of another account may take longer.
    bars: { memory: MEMORY, p99: REQUEST },
    fill: ({ api }) => createLargePayments(api, 1_900 * scale),
    async run(at) {
      const path = '/console/requests?text=nothing+has+this'
      const search = { path, headers: await session(at), count: 1_100 * scale, leaveAfter: 1_500 }
      const { said } = await storm(at.service, at.api, search)
      await setTimeout(15_000 * scale)
      return said
    },
  },
  'GET /control/payments': {
    bars,
    fill: ({ api }) => createLargePayments(api, 10_000 * scale),
    run: at =>
      storms(
        at,
        { path: '/control/payments?status=refunded', count: 50 },
        { path: '/control/payments?status=refunded', count: 500 * scale },
        { path: '/control/payments', count: 500 * scale },
      ),
  },
  'pages of a payment with 300 requests': {
    bars,
    fill: fillTimeline,
    async run(at) {
      const { results } = (await at.api.get('/v1/payments?display_size=1')).body
      const path = `/console/payments/${results[0].payment_id}`
      const page = { path, headers: await session(at) }
      return storms(at, { ...page, count: 300 * scale }, { ...page, count: 900 * scale })
    },
  },
  'plans with skip': { bars, run: at => planning(at, 1_200 * scale) },
  'delays whose clients leave': {
    bars: { memory: MEMORY, p99: REQUEST },
    async run(at) {
      const answer = { status: 503 }
      await plan(at, { on: 'createPayment', delay: 60_000, answer, times: 'always' })
      const create = creation({ ...webPayment, description: 'x'.repeat(60_000) })
      const load = { ...create, leaveAfter: 1_500, count: 1_500 * Math.min(1, scale) }
      return storms(at, ...Array<Storm>(Math.ceil(8 * scale)).fill(load))
    },
  },
})

async function storms({ service, api }: Attacked, ...loads: Storm[]): Promise<string> {
  const said: string[] = []
  for (const load of loads) said.push((await storm(service, api, load)).said)
  return said.join('; ')
}

async function session({ service, api }: Attacked) {
  const { cookie = '' } = await signIn({ apps: [], baseUrls: [service.baseUrl] }, api)
  return { Cookie: cookie }
}

/** A payment with 300 refused refunds of 20 KB, of which no two are folded. */
async function fillTimeline({ service, api }: Attacked): Promise<void> {
  await createLargePayments(api, 50)
  const [{ payment_id }] = (await api.get('/v1/payments?display_size=1')).body.results
  const path = `/v1/payments/${payment_id}/refunds`
  const body = JSON.stringify({ amount: 'x', padding: 'y'.repeat(20_000) })
  await storm(service, api, { path, method: 'POST', body, count: 300, connections: 50 })
  await setTimeout(3_000) // until the record is written
}

/** Many creates at once, with and without a hundred plans of 4 KB that match but skip them all. */
async function planning(at: Attacked, count: number): Promise<string> {
  const metadata = Object.fromEntries(
    Array.from({ length: 15 }, (_, i) => [`${i}`.padEnd(30, 'k'), 'v'.repeat(100)]),
  )
  const given = { metadata, description: 'd'.repeat(255), email: `${'e'.repeat(200)}@example.org` }
  const create = async () => {
    const begun = performance.now()
    const { outcomes } = await storm(at.service, at.api, {
      ...creation({ ...webPayment, ...given }),
      count,
    })
    const each = (performance.now() - begun) / (outcomes[201] ?? 1)
    return { each, said: `${spoken(outcomes)}, ${each.toFixed(2)} ms for each` }
  }
  await create()
  const without = await create()
  const lines = [`without plans ${without.said}`]
  for (const kind of [{ scenario: 'declined' }, { answer: { status: 500 } }]) {
    for (let i = 0; i < 100; i++)
      await plan(at, { on: 'createPayment', given, skip: 100_000, ...kind })
    const { each, said } = await create()
    lines.push(`${Object.keys(kind)} ${said}`)
    assert.ok(each <= 2 * without.each, lines.join('; '))
    await control(at, 'DELETE')
  }
  return lines.join('; ')
}

const creation = (payment: object) => ({
  path: '/v1/payments',
  method: 'POST',
  body: JSON.stringify(payment),
})

const control = ({ service, api }: Attacked, method: string, json?: object) =>
  sendUnchecked(`${service.baseUrl}/control/plans`, { key: api.key, method, json })

async function plan(at: Attacked, json: object): Promise<void> {
  const { status, text } = await control(at, 'POST', json)
  assert.equal(status, 201, text)
}
