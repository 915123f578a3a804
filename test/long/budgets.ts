import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { createTime, DAY } from '../../src/core/time.ts'
import { crashSqlite } from '../faults/process/crashes.ts'
import {
  type CrashablePostgres,
  startCrashablePostgres,
} from '../faults/process/postgres-server.ts'
import { assertOnly, type Outcomes, spoken, storm } from '../faults/process/storm.ts'
import {
  type Attack,
  type Attacked,
  type Attacks,
  onBoth,
  runAttacks,
} from '../support/attacked.ts'
import { createClient } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createLargePayments, searchBytes } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { open } from '../support/raw-http.ts'
import { sentence } from './crashes.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes, and milliseconds that `/healthz` may take. */
const bars: Attack['bars'] = { memory: 600, silence: 500 }

const UNRECORDED = { FARTHING_CONSOLE: 'false', FARTHING_CONTROL: 'false' }

export const job: Job = {
  title: 'budgets: searches of large payments, and the walks beside them',
  run: options =>
    runAttacks({
      ...searches('900 searches that are read', reading, options),
      ...searches('900 searches that nobody reads', unread, options),
      'searches while PostgreSQL is killed and comes back': killedMeanwhile(options),
      'kill -9 with a full record': () => killedWithFullRecord(options),
      'idle connections': idling(options),
      'a clock that jumps by a day': () => jumping(options),
    }),
}

type Searching = (attacked: Attacked, count: number) => Promise<Outcomes>

const reading: Searching = async ({ service, api }, count) =>
  (await storm(service, api, { path: '/v1/payments', count, connections: 200 })).outcomes

/** Reads nothing for ten seconds, and then how each response begins. */
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

/** Every search is answered whole, with 200 or 503, and others notice little. */
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

/** While the server is away a search may be 500, and none is cut. Afterwards all is as before. */
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
      server?.crash()
      await server?.restart()
      const outcomes = await searching
      assertOnly(outcomes, 500, 503)
      while ((await at.api.get('/readyz')).status !== 200) await setTimeout(50)
      assert.equal((await at.api.get('/v1/payments')).body.results.length, 500)
      return spoken(outcomes)
    },
    end: async () => server?.stop(),
  }
}

/** As many requests as the record keeps of an account. */
const FULL_RECORD = 10_000

async function killedWithFullRecord({ seed, scale }: JobOptions): Promise<string> {
  let kept = 0
  const report = await crashSqlite({
    cycles: Math.ceil(20 * scale),
    seed,
    damageRecord({ path }) {
      const database = new DatabaseSync(path)
      const columns = database.prepare('select name from pragma_table_info(?)').all('exchanges')
      const names = columns.map(({ name }) => String(name))
      const copied = names.map(name =>
        name === 'exchange_id'
          ? `substr(exchange_id, 1, 18) || substr(lower(hex(randomblob(8))), 1, 8)`
          : name,
      )
      const count = () => Number(database.prepare('select count(*) as n from exchanges').get()?.n)
      while (count() > 0 && count() < FULL_RECORD)
        database.exec(
          `insert into exchanges (${names.join(', ')}) select ${copied.join(', ')} from exchanges limit 5000`,
        )
      kept = Math.max(kept, count())
      database.close()
    },
  })
  return `${sentence(report)}, with ${kept} requests in the record`
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

/** Nothing is lost or refused while the machine's clock is a day ahead or behind under load. */
async function jumping({ scale }: JobOptions): Promise<string> {
  let offset = 0
  const farthing = await startFarthing({
    config: readConfig({ PORT: '0', DATABASE_URL: tempDatabase() }),
    ports: real => ({ ...real, time: createTime(() => Date.now() + offset) }),
  })
  try {
    const api = createClient([farthing.url], farthing.apiKey)
    const made: string[] = []
    for (const jump of [DAY, -DAY, 0]) {
      offset = jump
      const until = performance.now() + 10_000 * scale
      const create = async () => {
        while (performance.now() < until) {
          const { payment_id } = await api.createPayment()
          made.push(payment_id)
          assert.equal((await api.get(`/v1/payments/${payment_id}`)).status, 200)
        }
      }
      await Promise.all(Array.from({ length: 16 }, create))
    }
    for (const id of made) assert.equal((await api.get(`/v1/payments/${id}`)).status, 200)
    return `${made.length} payments made, read and kept`
  } finally {
    await farthing.close()
  }
}
