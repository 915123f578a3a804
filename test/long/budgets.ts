import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { createTime, DAY } from '../../src/core/time.ts'
import { crashSqlite } from '../faults/process/crashes.ts'
import { startCrashablePostgres } from '../faults/process/postgres-server.ts'
import { type Outcomes, storm } from '../faults/process/storm.ts'
import { type Attacked, attacked, runAttacks, type Seen } from '../support/attacked.ts'
import { createClient } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { createLargePayments, searchBytes } from '../support/large-payments.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { open } from '../support/raw-http.ts'
import { sentence } from './kill-service.ts'
import type { Job, JobOptions } from './run.ts'

/** Megabytes, and milliseconds that `/healthz` may take. */
const MOST_MEMORY = 600
const LONGEST_SILENCE = 500

const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=1024' }
const UNRECORDED = { FARTHING_CONSOLE: 'false', FARTHING_CONTROL: 'false' }

type Searching = (attacked: Attacked, count: number) => Promise<Outcomes>

const reading: Searching = ({ service, api }, count) =>
  storm({
    url: `${service.baseUrl}/v1/payments`,
    headers: { Authorization: `Bearer ${api.key}` },
    count,
    connections: 200,
  })

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

const held = ({ line, isAnswered, memory, silence }: Seen) => ({
  line,
  isHeld: isAnswered && memory <= MOST_MEMORY && silence <= LONGEST_SILENCE,
})

const done = async (work: Promise<string>) => ({ line: await work, isHeld: true })

export const job: Job = {
  title: 'budgets: searches of large payments, and the walks beside them',
  run: options =>
    runAttacks([
      ...Object.entries({ 'are read': reading, 'nobody reads': unread }).flatMap(
        ([how, search]): Parameters<typeof runAttacks>[0] => {
          const searches = searching(search, options)
          return [
            [`900 searches that ${how}`, () => searches(tempDatabase())],
            [`the same, ${how}, in 1 GB`, () => searches(tempDatabase(), SMALL_HEAP)],
            [
              `the same, ${how}, on PostgreSQL`,
              async () => searches(await createPostgresDatabase()),
            ],
          ]
        },
      ),
      ['searches while PostgreSQL is killed and comes back', () => killedMeanwhile(options)],
      ['kill -9 with a full record', () => done(killedWithFullRecord(options))],
      ['idle connections', () => idling(options)],
      ['a clock that jumps by a day', () => done(jumping(options))],
    ]),
}

const fill = ({ api }: Attacked) => createLargePayments(api, 500)

/** Every search is answered whole, with 200 or 503, and others notice little. */
const searching =
  (search: Searching, { scale }: JobOptions) =>
  async (url: string, more: Record<string, string> = {}) => {
    const env = { DATABASE_URL: url, ...UNRECORDED, ...more }
    const attack = async (at: Attacked) => {
      const outcomes = await search(at, Math.ceil(900 * scale))
      const { 200: pages = 0, 503: refused = 0, ...other } = outcomes
      assert.deepEqual(other, {})
      assert.ok(pages > 0)
      return `${pages} times 200, ${refused} times 503`
    }
    return held(await attacked(env, attack, { fill }))
  }

/** While the server is away a search may be 500, and none is cut. Afterwards all is as before. */
async function killedMeanwhile({ scale }: JobOptions) {
  const server = await startCrashablePostgres()
  try {
    const env = { DATABASE_URL: await createPostgresDatabase(server.url), ...UNRECORDED }
    const attack = async (at: Attacked) => {
      const searching = reading(at, Math.ceil(900 * scale))
      await setTimeout(500)
      server.crash()
      await server.restart()
      const { 200: pages = 0, 500: failed = 0, 503: refused = 0, ...other } = await searching
      assert.deepEqual(other, {})
      while ((await at.api.get('/readyz')).status !== 200) await setTimeout(50)
      assert.equal((await at.api.get('/v1/payments')).body.results.length, 500)
      return `${pages} times 200, ${refused} times 503 and ${failed} times 500`
    }
    const seen = await attacked(env, attack, { fill })
    return held({ ...seen, isAnswered: !seen.said.startsWith('failed') })
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
async function idling({ scale }: JobOptions) {
  const sockets: Awaited<ReturnType<typeof open>>[] = []
  const attack = async ({ service }: Attacked) => {
    const openIdle = async () => (await open(service.baseUrl)).resume()
    while (sockets.length < Math.ceil(9_900 * scale))
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, openIdle))))
    await setTimeout(35_000)
    const left = sockets.filter(({ closed }) => !closed).length
    return `${sockets.length} connections, of which ${left} are open after 35 s`
  }
  try {
    return held(await attacked({ DATABASE_URL: tempDatabase(), ...UNRECORDED }, attack))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

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
