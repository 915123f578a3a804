import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { type Outcomes, type Storm, storm } from '../faults/process/storm.ts'
import { type Attacked, attacked, runAttacks } from '../support/attacked.ts'
import { type Client, sendUnchecked, webPayment } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createLargePayments } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes, and milliseconds that a request of another account may take. */
const MOST_MEMORY = 600
const LONGEST_REQUEST = 500

type Shared = { baseUrl: string; api: Client; scale: number }

type Attack = {
  /** What is there before the watch begins. */
  fill?: (shared: Shared) => Promise<void>
  /** Returns what came of it, and a fault if it did not do what it should. */
  run: (shared: Shared) => Promise<string>
  /** Of a hundred requests of another account one may take longer than LONGEST_REQUEST. */
  byPercentile?: true
}

const attacks: Record<string, Attack> = {
  'text searches whose clients leave': {
    fill: ({ api, scale }) => createLargePayments(api, 1_900 * scale),
    async run(shared) {
      const headers = { Cookie: await sessionOf(shared) }
      const path = '/console/requests?text=nothing+has+this'
      const search = { path, headers, count: 1_100 * shared.scale, leaveAfter: 1_500 }
      return spoken(await send(shared, search), await rest(15_000 * shared.scale))
    },
    byPercentile: true,
  },
  'GET /control/payments': {
    fill: ({ api, scale }) => createLargePayments(api, 10_000 * scale),
    run: async shared =>
      spoken(
        await send(shared, { path: '/control/payments?status=refunded', count: 50 }),
        await send(shared, {
          path: '/control/payments?status=refunded',
          count: 500 * shared.scale,
        }),
        await send(shared, { path: '/control/payments', count: 500 * shared.scale }),
      ),
  },
  'pages of a payment with 300 requests': {
    fill: fillTimeline,
    async run(shared) {
      const headers = { Cookie: await sessionOf(shared) }
      const { results } = (await shared.api.get('/v1/payments?display_size=1')).body
      const path = `/console/payments/${results[0].payment_id}`
      return spoken(
        await send(shared, { path, headers, count: 300 * shared.scale }),
        await send(shared, { path, headers, count: 900 * shared.scale }),
      )
    },
  },
  'plans with skip': { run: planning },
  'delays whose clients leave': {
    async run(shared) {
      await plan(shared, {
        on: 'createPayment',
        delay: 60_000,
        answer: { status: 503 },
        times: 'always',
      })
      const create = creation({ ...webPayment, description: 'x'.repeat(60_000) })
      const outcomes: Outcomes[] = []
      for (let sent = 0; sent < 12_000 * shared.scale; sent += 1_500)
        outcomes.push(
          await send(shared, {
            ...create,
            leaveAfter: 1_500,
            count: 1_500 * Math.min(1, shared.scale),
          }),
        )
      return spoken(...outcomes)
    },
  },
}

export const job: Job = {
  title: 'shares: what one account asks for, and what another notices',
  run: ({ scale }: JobOptions) =>
    runAttacks(
      Object.entries(attacks).flatMap(([name, attack]) =>
        [async () => tempDatabase(), () => createPostgresDatabase()].map(create => [
          name,
          async () => held(await create(), attack, scale),
        ]),
      ),
    ),
}

async function held(url: string, { fill, run, byPercentile }: Attack, scale: number) {
  const shared = ({ service, api }: Attacked) => ({ baseUrl: service.baseUrl, api, scale })
  const seen = await attacked({ DATABASE_URL: url }, each => run(shared(each)), {
    fill: async each => fill?.(shared(each)),
    creates: true,
  })
  const longest = byPercentile ? seen.p99 : Math.max(seen.stranger, seen.create)
  const isHeld = seen.isAnswered && seen.memory <= MOST_MEMORY && longest <= LONGEST_REQUEST
  return { line: `${new URL(url).protocol} ${seen.line}`, isHeld }
}

const spoken = (...outcomes: (Outcomes | string)[]): string =>
  outcomes
    .map(each =>
      typeof each === 'string'
        ? each
        : Object.entries(each)
            .map(([outcome, count]) => `${count} ${outcome}`)
            .join(' '),
    )
    .join(', ')

async function rest(ms: number): Promise<string> {
  await setTimeout(ms)
  return `${ms / 1_000} s later`
}

/** Sends requests with the key of the account, or with other headers. */
function send(
  { baseUrl, api }: Shared,
  { path, headers, ...load }: Omit<Storm, 'url' | 'headers'> & { path: string } & Partial<Storm>,
): Promise<Outcomes> {
  const authorised = { Authorization: `Bearer ${api.key}` }
  return storm({ ...load, url: baseUrl + path, headers: { ...authorised, ...headers } })
}

async function sessionOf({ baseUrl, api }: Shared): Promise<string> {
  const body = new URLSearchParams({ key: api.key ?? '' })
  const signedIn = await fetch(`${baseUrl}/console/sign-in`, {
    method: 'POST',
    body,
    redirect: 'manual',
  })
  return signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** A payment that was read 300 times, with 20 KB each: of different addresses, so that no two reads are folded. */
async function fillTimeline({ baseUrl, api }: Shared): Promise<void> {
  await createLargePayments(api, 50)
  const [{ payment_id }] = (await api.get('/v1/payments?display_size=1')).body.results
  for (let sent = 0; sent < 300; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        fetch(`${baseUrl}/v1/payments/${payment_id}/refunds`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ amount: 'x', padding: 'y'.repeat(20_000) }),
        }).then(response => response.text()),
      ),
    )
  await setTimeout(3_000) // until the record is written
}

/** Creates at once, with a hundred plans of 4 KB that match and skip them all, and without. */
async function planning(shared: Shared): Promise<string> {
  const metadata = Object.fromEntries(
    Array.from({ length: 15 }, (_, i) => [`${i}`.padEnd(30, 'k'), 'v'.repeat(100)]),
  )
  const given = { metadata, description: 'd'.repeat(255), email: `${'e'.repeat(200)}@example.org` }
  const create = async () => {
    const begun = performance.now()
    const count = 1_200 * shared.scale
    const outcomes = await send(shared, { ...creation({ ...webPayment, ...given }), count })
    const each = (performance.now() - begun) / (outcomes[201] ?? 1)
    return { each, said: `${spoken(outcomes)}, ${each.toFixed(2)} ms for each` }
  }
  await create()
  const without = await create()
  const lines = [`without plans ${without.said}`]
  let isSlow = false
  for (const kind of [{ scenario: 'declined' }, { answer: { status: 500 } }]) {
    for (let i = 0; i < 100; i++)
      await plan(shared, { on: 'createPayment', given, skip: 100_000, ...kind })
    const { each, said } = await create()
    lines.push(`${Object.keys(kind)} ${said}`)
    isSlow ||= each > 2 * without.each
    await sendUnchecked(`${shared.baseUrl}/control/plans`, {
      key: shared.api.key,
      method: 'DELETE',
    })
  }
  return `${isSlow ? 'failed: ' : ''}${lines.join('; ')}`
}

const creation = (payment: object) => ({
  path: '/v1/payments',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(payment),
})

async function plan({ baseUrl, api }: Shared, json: object): Promise<void> {
  const sent = { key: api.key, method: 'POST', json }
  const { status, text } = await sendUnchecked(`${baseUrl}/control/plans`, sent)
  assert.equal(status, 201, text)
}
