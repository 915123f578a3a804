import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { idFloor } from '../../../src/core/ids.ts'
import { openPostgres } from '../../../src/platform/database/postgres.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { startProcess } from '../../support/process.ts'
import { checkInvariants } from '../invariants.ts'
import { createWorkload, seeded } from './workload.ts'

const KEY = 'key-of-the-default-account'
const DAY_MS = 24 * 60 * 60 * 1_000

const statements = readFileSync(
  new URL('../../../examples/partitions.sql', import.meta.url),
  'utf8',
)

test('Payments work in partitions by day as examples/partitions.sql creates them', async t => {
  const DATABASE_URL = await createPostgresDatabase()
  const env = { DATABASE_URL, FARTHING_API_KEY: KEY, FARTHING_BASE_URL: 'http://farthing.test' }
  const baseUrls: string[] = []
  const workload = createWorkload(baseUrls, KEY, seeded(1))
  const client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  t.after(() => client.end())

  async function work(answers: number): Promise<void> {
    const service = await startProcess({ env })
    t.after(() => service.kill())
    baseUrls[0] = service.baseUrl
    await workload.check()
    const enough = workload.answered() + answers
    const counting = setInterval(() => workload.answered() >= enough && workload.stop(), 10)
    await workload.run(8)
    clearInterval(counting)
    await workload.check()
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
  }

  await work(100)
  await client.query(statements)
  await work(100)

  const fail = (error: unknown) => assert.fail(String(error))
  const database = openPostgres({ url: DATABASE_URL, onConnectionError: fail })
  await checkInvariants(database, { now: Date.now() }).finally(() => database.close())
  const midnight = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
  const { rows } = await client.query<{ first: string }>('select farthing_midnight($1) as first', [
    midnight.toISOString().slice(0, 10),
  ])
  const [{ first } = { first: '' }] = rows
  assert.ok(idFloor(midnight.getTime()).startsWith(first), 'a partition begins at midnight')
  const parts = await client.query<{ part: string; n: number }>(
    'select tableoid::regclass::text as part, count(*)::int as n from payments group by 1',
  )
  const total = parts.rows.reduce((sum, { n }) => sum + n, 0)
  assert.ok(total >= workload.ledger.entries.size, `${total} payments`)
  for (const { part } of parts.rows) assert.match(part, /^payments_\d{8}$/)
  await client.query(`drop table payments_${dayName(Date.now() - 8 * DAY_MS)}`)
})

const dayName = (time: number): string =>
  new Date(time).toISOString().slice(0, 10).replaceAll('-', '')
