import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import {
  type CrashablePostgres,
  startCrashablePostgres,
} from '../faults/process/postgres-server.ts'
import { assertOnly, type Outcomes, spoken, storm } from '../faults/process/storm.ts'
import { type Attack, type Attacked, type Attacks, attackAll, onBoth } from '../support/attacked.ts'
import { createLargePayments, searchBytes } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { open } from '../support/raw-http.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes of memory, and milliseconds that `/healthz` may take. */
const bars: Attack['bars'] = { memory: 600, silence: 500 }

const UNRECORDED = { FARTHING_CONSOLE: 'false', FARTHING_CONTROL: 'false' }

export const job: Job = {
  title: 'budgets: searches of large payments, and the walks beside them',
  run: options =>
    attackAll({
      ...searches('900 searches that are read', reading, options),
      ...searches('900 searches that nobody reads', unread, options),
      'searches while PostgreSQL is killed and comes back': killedMeanwhile(options),
      'idle connections': idling(options),
    }),
}

type Searching = (attacked: Attacked, count: number) => Promise<Outcomes>

const reading: Searching = async ({ service, api }, count) =>
  (await storm(service, api, { path: '/v1/payments', count, connections: 200 })).outcomes

/** Reads nothing for ten seconds, and then the beginning of each response. */
const unread: Searching = async ({ service, api }, count) => {
  const outcomes: Outcomes = {}
  const opening = Array.from({ length: count }, () => open(service.baseUrl))
  const sockets = await Promise.all(opening)
  for (const socket of sockets) socket.pause().write(searchBytes(api))
  await setTimeout(10_000)
  for (const socket of sockets) {
    const outcome = socket.read()?.toString('latin1', 9, 12) ?? 'nothing'
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    socket.destroy()
  }
  return outcomes
}

const largePayments = {
  bars,
  env: UNRECORDED,
  fill: ({ api }: Attacked) => createLargePayments(api, 500),
}

/** Every search is answered completely, with 200 or 503, and other accounts notice little. */
function searches(name: string, search: Searching, { scale }: JobOptions): Attacks {
  const run = async (at: Attacked) => {
    const outcomes = await search(at, Math.ceil(900 * scale))
    assertOnly(outcomes, 503)
    return spoken(outcomes)
  }
  const env = { ...UNRECORDED, NODE_OPTIONS: '--max-old-space-size=1024' }
  return {
    ...onBoth(name, { ...largePayments, run }),
    [`${name}, in 1 GB`]: { ...largePayments, run, env },
  }
}

/** While the server is away a search may be 500, but none is cut. Afterwards all is as before. */
function killedMeanwhile({ scale }: JobOptions): Attack {
  let server: CrashablePostgres | undefined
  return {
    ...largePayments,
    mayFail: true,
    async url() {
      server = await startCrashablePostgres()
      return createPostgresDatabase(server.url)
    },
    async run(at) {
      const searching = reading(at, Math.ceil(900 * scale))
      await setTimeout(500)
      await server?.crashAndRestart()
      const outcomes = await searching
      assertOnly(outcomes, 500, 503)
      while ((await at.api.get('/readyz')).status !== 200) await setTimeout(50)
      assert.equal((await at.api.get('/v1/payments')).body.results.length, 500)
      return spoken(outcomes)
    },
    end: async () => server?.stop(),
  }
}

/** Almost as many connections as the service takes, without a byte: they are closed after 30 seconds. */
const idling = ({ scale }: JobOptions): Attack => ({
  bars,
  env: UNRECORDED,
  async run({ service }) {
    const sockets: Awaited<ReturnType<typeof open>>[] = []
    const openIdle = async () => (await open(service.baseUrl)).resume()
    while (sockets.length < Math.ceil(9_900 * scale))
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, openIdle))))
    await setTimeout(35_000)
    const left = sockets.filter(({ closed }) => !closed).length
    for (const socket of sockets) socket.destroy()
    return `${sockets.length} connections, of which ${left} are open after 35 s`
  },
})
