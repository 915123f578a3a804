import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { tempDatabase } from '../../support/folders.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { startProcess } from '../../support/process.ts'
import { checkRows, KEY, serve, settings } from './serve.ts'
import { createWorkload, seeded } from './workload.ts'

test('Two processes on one SQLite file lose nothing', async t => {
  const url = tempDatabase()
  const [first, second] = [(await serve(t, url)).service, (await serve(t, url)).service]
  const workload = createWorkload([first.baseUrl, second.baseUrl], KEY, seeded(1))
  await workload.run(16, 400)
  assert.ok(workload.answered() >= 400, first.output() + second.output())
  await workload.check()
  await checkRows(url)
})

test('An instance that starts during the migration of another one waits longer than a statement may take', async t => {
  const DATABASE_URL = await createPostgresDatabase()
  const env = settings(DATABASE_URL)
  const earlier = await startProcess({ env })
  await earlier.terminate()
  const other = new pg.Client({ connectionString: DATABASE_URL })
  await other.connect()
  t.after(() => other.end())
  await other.query('begin')
  await other.query('lock table migrations in access exclusive mode')
  const starting = startProcess({ env })
  await setTimeout(7_000) // a statement may take 5 seconds
  await other.query('commit')
  const service = await starting
  assert.deepEqual(await service.terminate(), { code: 0, signal: null })
})
