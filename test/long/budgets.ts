import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { createTime, DAY } from '../../src/core/time.ts'
import { crashSqlite } from '../faults/process/crashes.ts'
import { startCrashablePostgres } from '../faults/process/postgres-server.ts'
import {
  fillPage,
  type Load,
  leaveUnread,
  type Outcomes,
  readSearches,
} from '../faults/process/searches.ts'
import { createClient } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { type Probed, startProbe } from '../support/probe-process.ts'
import { type FarthingProcess, runProcess, startProcess } from '../support/process.ts'
import { open } from '../support/raw-http.ts'
import { sentence } from './kill-service.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes, and milliseconds that `/healthz` may take. */
const MOST_MEMORY = 600
const LONGEST_SILENCE = 500

const KEY = 'key-of-the-default-account'
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=1024' }

type Walk = (options: JobOptions) => Promise<string>

const walks: Record<string, Walk> = {
  '900 searches that are read': ({ scale }) => searching(tempDatabase(), scale, reading),
  '900 searches that nobody reads': ({ scale }) => searching(tempDatabase(), scale, unread),
  'both with a heap of 1 GB': async ({ scale }) =>
    `${await searching(tempDatabase(), scale, reading, SMALL_HEAP)}, ${await searching(tempDatabase(), scale, unread, SMALL_HEAP)}`,
  'both on PostgreSQL': async ({ scale }) =>
    `${await searching(await createPostgresDatabase(), scale, reading)}, ${await searching(await createPostgresDatabase(), scale, unread)}`,
  'searches while PostgreSQL is killed and comes back': killedMeanwhile,
  'kill -9 with a full record': killedWithFullRecord,
  'idle connections': idling,
  'a clock that jumps by a day': jumping,
}

export const job: Job = {
  title: 'budgets: searches of large payments, and the walks beside them',
  async run(options) {
    const lines: string[] = []
    const faults: unknown[] = []
    for (const [name, walk] of Object.entries(walks))
      try {
        lines.push(`${name}: ${await walk(options)}`)
        console.log(lines.at(-1))
      } catch (error) {
        console.log(`${name}: ${error}`)
        faults.push(error)
      }
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} walks found a fault`)
    return lines.join('; ')
  },
}

type Searching = (load: Load) => Promise<Outcomes>

const reading: Searching = load => readSearches({ ...load, connections: 200 })
const unread: Searching = load => leaveUnread({ ...load, connections: load.searches }, 10_000)

const environment = (url: string, more: Record<string, string> = {}) => ({
  DATABASE_URL: url,
  FARTHING_API_KEY: KEY,
  FARTHING_CONSOLE: 'false',
  LOG_LEVEL: 'error',
  ...more,
})

/** Starts a service in which an account has a page of large payments, and calls `use` with the key of the account. */
async function withLargePage<Done>(
  env: Record<string, string>,
  use: (service: FarthingProcess, key: string) => Promise<Done>,
): Promise<Done> {
  const service = await startProcess({ env })
  try {
    const made = await runProcess({ env, args: ['keys', 'create', '--account', 'greedy'] })
    const key = made.stdout.trim()
    await fillPage(service.baseUrl, key)
    return await use(service, key)
  } finally {
    await service.kill()
  }
}

/** Every search is answered whole, with 200 or 503, and others notice little. */
async function searching(
  url: string,
  scale: number,
  search: Searching,
  more: Record<string, string> = {},
): Promise<string> {
  return await withLargePage(environment(url, more), async (service, key) => {
    const probe = await startProbe(service, KEY)
    const searches = Math.ceil(900 * scale)
    const load = { baseUrl: service.baseUrl, key, searches, connections: 0 }
    const { 200: pages = 0, 503: refused = 0, ...other } = await search(load)
    const probed = await probe.stop()
    assert.deepEqual(other, {})
    assert.ok(pages > 0)
    return `${pages} times 200, ${refused} times 503, ${judged(probed)}`
  })
}

function judged({ silence, stranger, memory, failed }: Probed): string {
  const measured = `${memory} MB at most, the longest /healthz ${silence} ms, the longest read of another account ${stranger} ms`
  assert.deepEqual(failed, {}, measured)
  assert.ok(memory <= MOST_MEMORY, measured)
  assert.ok(silence <= LONGEST_SILENCE, measured)
  return measured
}

/** While the server is away a search may be 500, and none is cut. Afterwards all is as before. */
async function killedMeanwhile({ scale }: JobOptions): Promise<string> {
  const server = await startCrashablePostgres()
  try {
    const url = await createPostgresDatabase(server.url)
    return await withLargePage(environment(url), async (service, key) => {
      const probe = await startProbe(service, KEY)
      const load = { baseUrl: service.baseUrl, key, searches: Math.ceil(900 * scale) }
      const searching = readSearches({ ...load, connections: 200 })
      await setTimeout(500)
      server.crash()
      await server.restart()
      const { 200: pages = 0, 500: failed = 0, 503: refused = 0, ...other } = await searching
      assert.deepEqual(other, {})
      const api = createClient([service.baseUrl], key)
      while ((await api.get('/readyz')).status !== 200) await setTimeout(50)
      assert.equal((await api.get('/v1/payments')).body.results.length, 500)
      const probed = await probe.stop()
      return `${pages} times 200, ${refused} times 503 and ${failed} times 500, ${judged({ ...probed, failed: {} })}`
    })
  } finally {
    await server.stop()
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
async function idling({ scale }: JobOptions): Promise<string> {
  const service = await startProcess({ env: environment(tempDatabase()) })
  const sockets: Awaited<ReturnType<typeof open>>[] = []
  try {
    const probe = await startProbe(service, KEY)
    const count = Math.ceil(9_900 * scale)
    const openIdle = async () => (await open(service.baseUrl)).resume()
    while (sockets.length < count)
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, openIdle))))
    await setTimeout(35_000)
    const left = sockets.filter(({ closed }) => !closed).length
    return `${sockets.length} connections, of which ${left} are open after 35 s, ${judged(await probe.stop())}`
  } finally {
    for (const socket of sockets) socket.destroy()
    await service.kill()
  }
}

/** Nothing is lost or refused while the machine's clock is a day ahead or behind under load. */
async function jumping({ scale }: JobOptions): Promise<string> {
  let offset = 0
  const farthing = await startFarthing({
    config: readConfig({ PORT: '0', DATABASE_URL: tempDatabase(), FARTHING_API_KEY: KEY }),
    ports: real => ({ ...real, time: createTime(() => Date.now() + offset) }),
  })
  try {
    const api = createClient([farthing.url], KEY)
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
