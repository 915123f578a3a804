import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { keysCommand } from '../../../src/cli/keys.ts'
import { readConfig } from '../../../src/config.ts'
import { createClient, webPayment } from '../../support/client.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { runProcess, startProcess } from '../../support/process.ts'

const KEY = /^api_test_[0-9a-v]{52}\n$/
const LINE = /^(?<id>[0-9a-v]{26}) {2}(?<created>\S+) +(?<revoked>\S+) +(?<account>.+)$/

const folder = () => mkdtempSync(join(tmpdir(), 'farthing-keys-'))

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`farthing keys, beside a running service (${kind})`, () => {
    test('makes, lists and revokes keys that the service knows within a second', async t => {
      const path = folder()
      t.after(() => rmSync(path, { recursive: true, force: true }))
      const DATABASE_URL =
        kind === 'sqlite' ? `sqlite:${join(path, 'farthing.db')}` : await createPostgresDatabase()
      const env = { DATABASE_URL, FARTHING_API_KEY: 'a fixed key of ours' }
      const keys = (...args: string[]) => runProcess({ args: ['keys', ...args], env })
      const lines = async () => {
        const { stdout } = await keys('list')
        assert.doesNotMatch(stdout, /api_test_/)
        const [, ...rows] = stdout.trimEnd().split('\n')
        return rows.map(row => ({ ...LINE.exec(row)?.groups }))
      }
      const running = await startProcess({ env })
      t.after(() => running.kill())

      const [one, two] = [await keys('create'), await keys('create', '--account', 'Team B')]
      assert.match(one.stdout, KEY)
      assert.match(two.stdout, KEY)
      const [, told] = /^The key ([0-9a-v]{26}) of the account Team B, /.exec(two.stderr) ?? []
      const key = two.stdout.trim()
      const api = createClient([running.baseUrl], key)
      const made = await api.post('/v1/payments', webPayment)
      assert.equal(made.status, 201, made.text)
      const fixed = createClient([running.baseUrl], env.FARTHING_API_KEY)
      assert.equal((await fixed.get(`/v1/payments/${made.body.payment_id}`)).status, 404)

      const [first, second, ...more] = await lines()
      assert.deepEqual(more, [])
      assert.deepEqual([first?.account, second?.account], ['default', 'Team B'])
      assert.equal(told, second?.id)
      assert.deepEqual([first?.revoked, second?.revoked], ['-', '-'])
      assert.match(second?.created ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

      const before = Date.now()
      const revoked = await keys('revoke', second?.id ?? '')
      assert.deepEqual([revoked.code, revoked.stdout], [0, `revoked ${second?.id}\n`])
      const ended = Date.now()
      while ((await api.get('/v1/payments')).status !== 401)
        assert.ok(Date.now() < ended + 5_000, 'soon refused')
      assert.ok(Date.parse((await lines())[1]?.revoked ?? '') >= before)

      const again = await keys('revoke', second?.id ?? '')
      assert.equal(again.code, 1)
      assert.match(again.stderr, /^farthing: no key .+\n$/)
    })
  })

describe('farthing keys', () => {
  const config = readConfig({ DATABASE_URL: 'sqlite:/nowhere/never/farthing.db' })
  const note = () => assert.fail('nothing is noted')

  test('refuses what it does not know, before it opens a database', async () => {
    const print = () => assert.fail('nothing is printed')
    for (const args of [
      ['sing'],
      ['revoke'],
      ['revoke', 'a', 'b'],
      ['list', 'all'],
      ['create', 'a'],
    ])
      await assert.rejects(keysCommand(args, {}, config, print, note), /farthing keys/)
    for (const account of ['', 'a\nb', '-a', 'x'.repeat(65)])
      await assert.rejects(keysCommand(['create'], { account }, config, print, note), /--account/)
  })

  test('looks for keys only where there is a database', async () => {
    for (const args of [['list'], ['revoke', 'an-id']])
      await assert.rejects(
        keysCommand(args, {}, config, () => assert.fail('nothing is printed'), note),
        /^Error: there is no database at \/nowhere\/never\/farthing\.db/,
      )
    assert.ok(!existsSync('/nowhere'))
  })

  test('lists no keys where there are none', async () => {
    const printed: string[] = []
    const empty = readConfig({ DATABASE_URL: await createPostgresDatabase() })
    await keysCommand(['list'], {}, empty, text => printed.push(text), note)
    assert.deepEqual(printed, ['there are no keys'])
  })

  test('makes no key that would be gone at once', async () => {
    const memory = readConfig({ DATABASE_URL: 'sqlite::memory:' })
    const print = () => assert.fail('nothing to print')
    for (const verb of ['create', 'list'])
      await assert.rejects(keysCommand([verb], {}, memory, print, note), /in memory .*no command/)
  })
})
