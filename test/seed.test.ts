import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { statuses } from '../src/pay/payments/payment.ts'
import { checkInvariants } from './faults/invariants.ts'
import { type Body, createClient } from './support/client.ts'
import { runHere } from './support/command.ts'
import { tempDatabase, tempFolder } from './support/folders.ts'
import { openAt } from './support/open-database.ts'
import { createPostgresDatabase } from './support/postgres.ts'
import { startProcess } from './support/process.ts'

const DAY = 24 * 60 * 60 * 1000

for (const kind of ['sqlite', 'postgres'] as const)
  test(`Payments seeded beside a running service cover every state and mode, and none breaks an invariant (${kind})`, async t => {
    const url = kind === 'sqlite' ? tempDatabase() : await createPostgresDatabase()
    const env = { DATABASE_URL: url, FARTHING_API_KEY: 'key-of-the-default-account' }
    const running = await startProcess({ env })
    t.after(() => running.kill())
    const api = createClient([running.baseUrl], env.FARTHING_API_KEY)

    const seeded = await runHere({ args: ['seed', '--payments', '503'], env })
    assert.equal(seeded.code, 0, seeded.stderr)
    assert.equal(seeded.stdout, 'Made 503 payments in the account default.\n')
    assert.match(seeded.stderr, /^100 % {2}503 of 503/m)

    const { body: one } = await api.get('/v1/payments')
    const { body: two } = await api.get('/v1/payments?page=2')
    const all: Body[] = [...one.results, ...two.results]
    assert.deepEqual([one.total, all.length], [503, 503])
    for (const state of statuses.filter(status => status !== 'submitted'))
      assert.ok((await api.get(`/v1/payments?state=${state}`)).body.total > 0, state)
    const ages = all.map(({ created_date }) => Date.now() - Date.parse(created_date))
    assert.ok(Math.min(...ages) < DAY && Math.max(...ages) > 5 * DAY)
    assert.equal(new Set(all.map(payment => payment.authorisation_mode)).size, 3)
    assert.equal((await api.get(`/v1/payments?reference=seed-0000500`)).body.total, 1)
    assert.ok((await api.get('/v1/refunds')).body.total > 0)
    assert.ok((await api.get('/v1/agreements?status=active')).body.total > 0)

    const check = await api.get('/control/check?rule=C7')
    const found = check.body.findings.filter(({ level }: Body) => level === 'warn')
    assert.deepEqual(found, [], 'the check is about what the client made')

    const database = await openAt(url)
    t.after(() => database.close())
    await checkInvariants(database, { now: Date.now(), settled: true })
  })

test('A new database is made only with --create, and a missing key for the account is reported', async () => {
  const folder = tempFolder()
  const env = { DATABASE_URL: `sqlite:${join(folder, 'farthing.db')}` }
  const run = (...args: string[]) => runHere({ args, env })
  const licensing = ['--account', 'Licensing team']
  const hint = /No key can see them yet.*: farthing keys create --account "Licensing team"\n/
  const refused = await run('seed', '--payments', '5', ...licensing)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^farthing: there is no database at .* Add --create /)
  assert.deepEqual(readdirSync(folder), [])

  const made = await run('seed', '--payments', '5', ...licensing, '--create')
  assert.equal(made.stdout, 'Made 5 payments in the account Licensing team.\n')
  assert.match(made.stderr, /^Database: the SQLite file \/.*farthing\.db\n/)
  assert.match(made.stderr, hint)
  // The first start will make a key of the default account, unless there is a key already.
  assert.doesNotMatch((await run('seed', '--payments', '1')).stderr, /No key/)
  assert.equal((await run('keys', 'create', ...licensing)).code, 0)
  assert.doesNotMatch((await run('seed', '--payments', '5', ...licensing)).stderr, /No key/)
  assert.match((await run('seed', '--payments', '1')).stderr, /No key can see them yet/)
})
