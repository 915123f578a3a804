import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { tempDatabase } from '../../support/folders.ts'
import { openAt } from '../../support/open-database.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { startProcess } from '../../support/process.ts'
import { checkInvariants } from '../invariants.ts'
import { createWorkload, seeded } from './workload.ts'

const KEY = 'key-of-the-default-account'

test('Two processes on one SQLite file lose nothing', async t => {
  const env = {
    DATABASE_URL: tempDatabase(),
    FARTHING_API_KEY: KEY,
    FARTHING_BASE_URL: 'http://farthing.test',
    LOG_LEVEL: 'warn',
  }
  const first = await startProcess({ env })
  t.after(() => first.kill())
  const second = await startProcess({ env })
  t.after(() => second.kill())
  const workload = createWorkload([first.baseUrl, second.baseUrl], KEY, seeded(1))
  const counting = setInterval(() => workload.answered() >= 400 && workload.stop(), 10)
  await workload.run(16)
  clearInterval(counting)
  assert.ok(workload.answered() >= 400, first.output() + second.output())
  await workload.check()
  const database = await openAt(env.DATABASE_URL)
  await checkInvariants(database, { now: Date.now() }).finally(() => database.close())
})

test('An instance that starts during the migration of another one waits longer than a statement may take', async t => {
  const DATABASE_URL = await createPostgresDatabase()
  const env = { DATABASE_URL, FARTHING_API_KEY: KEY }
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
