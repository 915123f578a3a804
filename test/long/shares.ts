import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { type Outcomes, type Storm, storm } from '../faults/process/storm.ts'
import { type Client, createClient, sendUnchecked, webPayment } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createLargePayments } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { type Probed, startProbe } from '../support/probe-process.ts'
import { runProcess, startProcess } from '../support/process.ts'
import type { Job, JobOptions } from './run.ts'

const KEY = 'key-of-the-default-account'

/** Megabytes, and milliseconds that a request of another account may take. */
const MOST_MEMORY = 600
const LONGEST_REQUEST = 500

type Attacked = { baseUrl: string; api: Client; scale: number }

type Attack = {
  /** What is there before the watch begins. */
  fill?: (attacked: Attacked) => Promise<void>
  /** Returns what came of it, and a fault if it did not do what it should. */
  run: (attacked: Attacked) => Promise<string>
  /** Of a hundred requests of another account one may take longer than LONGEST_REQUEST. */
  byPercentile?: true
}

const attacks: Record<string, Attack> = {
  'text searches whose clients leave': {
    fill: ({ api, scale }) => createLargePayments(api, 1_900 * scale),
    async run(attacked) {
      const headers = { Cookie: await sessionOf(attacked) }
      const path = '/console/requests?text=nothing+has+this'
      const search = { path, headers, count: 1_100 * attacked.scale, leaveAfter: 1_500 }
      return spoken(await send(attacked, search), await rest(15_000 * attacked.scale))
    },
    byPercentile: true,
  },
  'GET /control/payments': {
    fill: ({ api, scale }) => createLargePayments(api, 10_000 * scale),
    run: async attacked =>
      spoken(
        await send(attacked, { path: '/control/payments?status=refunded', count: 50 }),
        await send(attacked, {
          path: '/control/payments?status=refunded',
          count: 500 * attacked.scale,
        }),
        await send(attacked, { path: '/control/payments', count: 500 * attacked.scale }),
      ),
  },
  'pages of a payment with 300 requests': {
    fill: fillTimeline,
    async run(attacked) {
      const headers = { Cookie: await sessionOf(attacked) }
      const { results } = (await attacked.api.get('/v1/payments?display_size=1')).body
      const path = `/console/payments/${results[0].payment_id}`
      return spoken(
        await send(attacked, { path, headers, count: 300 * attacked.scale }),
        await send(attacked, { path, headers, count: 900 * attacked.scale }),
      )
    },
  },
  'plans with skip': { run: planning },
  'delays whose clients leave': {
    async run(attacked) {
      await plan(attacked, {
        on: 'createPayment',
        delay: 60_000,
        answer: { status: 503 },
        times: 'always',
      })
      const create = creation({ ...webPayment, description: 'x'.repeat(60_000) })
      const outcomes: Outcomes[] = []
      for (let sent = 0; sent < 12_000 * attacked.scale; sent += 1_500)
        outcomes.push(
          await send(attacked, {
            ...create,
            leaveAfter: 1_500,
            count: 1_500 * Math.min(1, attacked.scale),
          }),
        )
      return spoken(...outcomes)
    },
  },
}

export const job: Job = {
  title: 'shares: what one account asks for, and what another notices',
  async run({ scale }: JobOptions) {
    const lines: string[] = []
    const late: string[] = []
    for (const [name, attack] of Object.entries(attacks))
      for (const kind of ['SQLite', 'PostgreSQL']) {
        const url = kind === 'SQLite' ? tempDatabase() : await createPostgresDatabase()
        const { line, isHeld } = await attacked(url, attack, scale)
        console.log(`${name}, ${kind}: ${line}`)
        lines.push(`${name}, ${kind}: ${line}`)
        if (!isHeld) late.push(`${name}, ${kind}: ${line}`)
      }
    assert.deepEqual(late, [])
    return lines.join('; ')
  },
}

async function attacked(url: string, { fill, run, byPercentile }: Attack, scale: number) {
  const env = {
    DATABASE_URL: url,
    FARTHING_API_KEY: KEY,
    FARTHING_CONTROL: 'true',
    LOG_LEVEL: 'error',
  }
  const service = await startProcess({ env })
  try {
    const made = await runProcess({ env, args: ['keys', 'create', '--account', 'greedy'] })
    const api = createClient([service.baseUrl], made.stdout.trim())
    const greedy = { baseUrl: service.baseUrl, api, scale }
    await fill?.(greedy)
    const probe = await startProbe(service, KEY, { creates: true })
    const said = await run(greedy).catch(error => `failed: ${error.cause ?? error}`)
    const probed = await probe.stop()
    const { stranger, create, p99, memory, failed } = probed
    const longest = byPercentile ? p99 : Math.max(stranger, create)
    const isHeld =
      !said.startsWith('failed') &&
      Object.keys(failed).length === 0 &&
      memory <= MOST_MEMORY &&
      longest <= LONGEST_REQUEST
    return { line: `${said}; ${seen(probed)}`, isHeld }
  } finally {
    await service.kill()
  }
}

const seen = ({ silence, stranger, create, p99, asked, memory, failed }: Probed): string =>
  `a stranger's longest read ${stranger} ms and create ${create} ms, p99 ${p99} ms, ${asked} requests, failed ${JSON.stringify(failed)}, /healthz ${silence} ms, ${memory} MB`

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
  { baseUrl, api }: Attacked,
  { path, headers, ...load }: Omit<Storm, 'url' | 'headers'> & { path: string } & Partial<Storm>,
): Promise<Outcomes> {
  const authorised = { Authorization: `Bearer ${api.key}` }
  return storm({ ...load, url: baseUrl + path, headers: { ...authorised, ...headers } })
}

async function sessionOf({ baseUrl, api }: Attacked): Promise<string> {
  const body = new URLSearchParams({ key: api.key ?? '' })
  const signedIn = await fetch(`${baseUrl}/console/sign-in`, {
    method: 'POST',
    body,
    redirect: 'manual',
  })
  return signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** A payment that was read 300 times, with 20 KB each: of different addresses, so that no two reads are folded. */
async function fillTimeline({ baseUrl, api }: Attacked): Promise<void> {
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
async function planning(attacked: Attacked): Promise<string> {
  const metadata = Object.fromEntries(
    Array.from({ length: 15 }, (_, i) => [`${i}`.padEnd(30, 'k'), 'v'.repeat(100)]),
  )
  const given = { metadata, description: 'd'.repeat(255), email: `${'e'.repeat(200)}@example.org` }
  const create = async () => {
    const begun = performance.now()
    const count = 1_200 * attacked.scale
    const outcomes = await send(attacked, { ...creation({ ...webPayment, ...given }), count })
    const each = (performance.now() - begun) / (outcomes[201] ?? 1)
    return { each, said: `${spoken(outcomes)}, ${each.toFixed(2)} ms for each` }
  }
  await create()
  const without = await create()
  const lines = [`without plans ${without.said}`]
  let isSlow = false
  for (const kind of [{ scenario: 'declined' }, { answer: { status: 500 } }]) {
    for (let i = 0; i < 100; i++)
      await plan(attacked, { on: 'createPayment', given, skip: 100_000, ...kind })
    const { each, said } = await create()
    lines.push(`${Object.keys(kind)} ${said}`)
    isSlow ||= each > 2 * without.each
    await sendUnchecked(`${attacked.baseUrl}/control/plans`, {
      key: attacked.api.key,
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

async function plan({ baseUrl, api }: Attacked, json: object): Promise<void> {
  const sent = { key: api.key, method: 'POST', json }
  const { status, text } = await sendUnchecked(`${baseUrl}/control/plans`, sent)
  assert.equal(status, 201, text)
}
