import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { idFloor } from '../../../src/core/ids.ts'
import { DAY } from '../../../src/core/time.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { checkRows, KEY, serve } from './serve.ts'
import { createWorkload, seeded } from './workload.ts'

const FILE = new URL('../../../examples/partitions.sql', import.meta.url)

test('Payments work in partitions by day as examples/partitions.sql creates them', async t => {
  const DATABASE_URL = await createPostgresDatabase()
  const baseUrls: string[] = []
  const workload = createWorkload(baseUrls, KEY, seeded(1))
  const client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  t.after(() => client.end())

  async function work(answers: number): Promise<void> {
    const { service } = await serve(t, DATABASE_URL)
    baseUrls[0] = service.baseUrl
    await workload.check()
    await workload.run(8, answers)
    await workload.check()
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
  }

  await work(100)
  await client.query(readFileSync(FILE, 'utf8'))
  await work(100)

  await checkRows(DATABASE_URL)
  const midnight = new Date(Math.floor(Date.now() / DAY) * DAY)
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
  await client.query(`drop table payments_${dayName(Date.now() - 8 * DAY)}`)
})

const dayName = (time: number): string =>
  new Date(time).toISOString().slice(0, 10).replaceAll('-', '')
