import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
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
      assert.equal((await keys('list')).stdout, 'there are no keys\n')
      const running = await startProcess({ env })
      t.after(() => running.kill())

      const [one, two] = [await keys('create'), await keys('create', '--account', 'Team B')]
      assert.match(one.stdout, KEY)
      assert.match(two.stdout, KEY)
      const key = two.stdout.trim()
      const api = createClient([running.baseUrl], key)
      const made = await api.post('/v1/payments', webPayment)
      assert.equal(made.status, 201, made.text)
      const fixed = createClient([running.baseUrl], env.FARTHING_API_KEY)
      assert.equal((await fixed.get(`/v1/payments/${made.body.payment_id}`)).status, 404)

      const [first, second, ...more] = await lines()
      assert.deepEqual(more, [])
      assert.deepEqual([first?.account, second?.account], ['default', 'Team B'])
      assert.deepEqual([first?.revoked, second?.revoked], ['-', '-'])
      assert.match(second?.created ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

      const before = Date.now()
      const revoked = await keys('revoke', second?.id ?? '')
      assert.deepEqual([revoked.code, revoked.stdout], [0, `revoked ${second?.id}\n`])
      const ended = Date.now()
      while ((await api.get('/v1/payments')).status !== 401)
        assert.ok(Date.now() < ended + 1_500, 'refused within a second')
      assert.ok(Date.parse((await lines())[1]?.revoked ?? '') >= before)

      const again = await keys('revoke', second?.id ?? '')
      assert.equal(again.code, 1)
      assert.match(again.stderr, /^farthing: no key .+\n$/)
    })
  })

describe('farthing keys', () => {
  test('refuses what it does not know, in one line, and makes no database for it', async t => {
    const path = folder()
    t.after(() => rmSync(path, { recursive: true, force: true }))
    const env = { DATABASE_URL: `sqlite:${join(path, 'never', 'farthing.db')}` }
    const wrong = [
      ['sing'],
      ['revoke'],
      ['revoke', 'a', 'b'],
      ['create', '--account', 'a\nb'],
      ['list', 'all'],
      ['list', '--account', 'a'],
    ]
    for (const args of wrong) {
      const { code, stdout, stderr } = await runProcess({ args: ['keys', ...args], env })
      assert.equal(code, 1, args.join(' '))
      assert.equal(stdout, '')
      assert.match(stderr, /^farthing: .+\n$/)
    }
    assert.equal(existsSync(join(path, 'never')), false)
  })

  test('says what it can do', async () => {
    const { code, stdout } = await runProcess({ args: ['keys', '--help'] })
    assert.equal(code, 0)
    assert.match(stdout, /keys create .*keys list.*keys revoke ID/s)
  })
})
