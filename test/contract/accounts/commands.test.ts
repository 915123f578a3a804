import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createClient, webPayment } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { tempDatabase, tempFolder } from '../../support/folders.ts'
import { copyMigratedDatabase, createPostgresDatabase } from '../../support/postgres.ts'
import { startProcess } from '../../support/process.ts'

const KEY = /^api_test_[0-9a-v]{52}\n$/
const LINE =
  /^(?<id>[0-9a-v]{26}) {2}(?<created>\S+) +(?<revoked>\S+) +(?<behaviour>\S+) +(?<account>.+)$/

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`farthing keys, beside a running service (${kind})`, () => {
    test('Keys are made, listed with the behaviour of their account, and revoked, and the service knows within a second', async t => {
      const DATABASE_URL = kind === 'sqlite' ? tempDatabase() : await createPostgresDatabase()
      const env = { DATABASE_URL, FARTHING_API_KEY: 'a-fixed-key-of-ours' }
      const keys = (...args: string[]) => runHere({ args: ['keys', ...args], env })
      const lines = async () => {
        const { stdout } = await keys('list')
        assert.doesNotMatch(stdout, /api_test_/)
        const [, ...rows] = stdout.trimEnd().split('\n')
        return rows.map(row => ({ ...LINE.exec(row)?.groups }))
      }
      const running = await startProcess({ env })
      t.after(() => running.kill())

      const one = await keys('create')
      const two = await runHere({
        args: ['keys', 'create', '--account', 'Team B'],
        env: { ...env, FARTHING_BEHAVIOUR: 'govuk-pay' },
      })
      assert.match(one.stdout, KEY)
      assert.doesNotMatch(one.stderr, /is new/)
      assert.match(two.stderr, /^The account Team B is new\. Its behaviour is govuk-pay\.$/m)
      assert.match(two.stdout, KEY)
      const [, told] = /^The key ([0-9a-v]{26}) of the account Team B, /m.exec(two.stderr) ?? []
      const key = two.stdout.trim()
      const api = createClient([running.baseUrl], key, 'govuk-pay')
      const made = await api.post('/v1/payments', webPayment)
      assert.equal(made.status, 201, made.text)
      const fixed = createClient([running.baseUrl], env.FARTHING_API_KEY)
      assert.equal((await fixed.get(`/v1/payments/${made.body.payment_id}`)).status, 404)

      const [first, second, ...more] = await lines()
      assert.deepEqual(more, [])
      assert.deepEqual([first?.account, second?.account], ['default', 'Team B'])
      assert.deepEqual([first?.behaviour, second?.behaviour], ['specification', 'govuk-pay'])
      const json = await keys('create', '--account', 'Team B', '--json')
      assert.equal(JSON.parse(json.stdout).behaviour, 'govuk-pay', 'the account keeps it')
      await keys('revoke', JSON.parse(json.stdout).key_id)
      assert.equal(told, second?.id)
      assert.deepEqual([first?.revoked, second?.revoked], ['-', '-'])
      assert.match(second?.created ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

      const before = Date.now()
      const revoked = await keys('revoke', second?.id ?? '')
      assert.deepEqual([revoked.code, revoked.stdout], [0, `Revoked ${second?.id}.\n`])
      while ((await api.get('/v1/payments')).status !== 401);
      assert.ok(Date.parse((await lines())[1]?.revoked ?? '') >= before)

      const again = await keys('revoke', second?.id ?? '')
      assert.equal(again.code, 1)
      assert.match(again.stderr, /^farthing: there is no active key with the id .+\n$/m)
    })
  })

describe('farthing keys', () => {
  const path = tempFolder()
  const DATABASE_URL = `sqlite:${join(path, 'new', 'farthing.db')}`
  const keys = (args: string[], env: Record<string, string> = { DATABASE_URL }) =>
    runHere({ args: ['keys', ...args], env })

  test('A new database is made only by create with --create', async () => {
    for (const args of [['list'], ['revoke', 'an-id'], ['create']]) {
      const { code, stdout, stderr } = await keys(args)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(
        stderr,
        /^farthing: there is no database at \/.*\/new\/farthing\.db \(DATABASE_URL/,
      )
      assert.equal(stderr.includes('Add --create'), args[0] === 'create')
    }
    assert.ok(!existsSync(join(path, 'new')))
    const { code, stdout, stderr } = await keys(['create', '--create'])
    assert.equal(code, 0)
    assert.match(stdout, KEY)
    assert.match(
      stderr,
      /^Database: the SQLite file \/.*farthing\.db\nThe key .{26} of the account default, shown only now:\n$/,
    )
  })

  test('list says so if there are no keys, and that a key of the settings is not listed', async () => {
    const empty = await keys(['list'], { DATABASE_URL: await createPostgresDatabase() })
    assert.equal(empty.code, 1)
    assert.match(empty.stderr, / has no tables yet: start the service before this command\n$/)
    const env = { DATABASE_URL: await copyMigratedDatabase() }
    const { stdout, stderr } = await keys(['list'], env)
    assert.equal(stdout, 'There are no keys.\n')
    assert.match(stderr, /^Database: PostgreSQL on [^@]+, database \w+\n$/)
    const fixed = await keys(['list'], { ...env, FARTHING_API_KEY: 'a-key-of-the-settings' })
    assert.equal(fixed.stdout, 'There are no keys.\n')
    assert.match(fixed.stderr, /\nKeys in FARTHING_API_KEY and FARTHING_API_KEYS are not listed/)
  })

  test('A database in memory is out of reach for every command', async () => {
    for (const args of [['create', '--create'], ['list']]) {
      const { code, stderr } = await keys(args, { DATABASE_URL: 'sqlite::memory:' })
      assert.equal(code, 1)
      assert.match(stderr, /^farthing: DATABASE_URL is sqlite::memory:.*no command can reach it\n$/)
    }
  })
})
