import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { seedCommand } from '../src/cli/seed.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open.ts'
import { statuses } from '../src/payments/payment.ts'
import { checkInvariants } from './faults/invariants.ts'
import { createClient } from './support/client.ts'
import { createPostgresDatabase } from './support/postgres.ts'
import { runProcess, startProcess } from './support/process.ts'

const DAY = 24 * 60 * 60 * 1000

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`farthing seed, beside a running service (${kind})`, () => {
    test('makes payments in every state and mode, none of which breaks a rule', async t => {
      const folder = mkdtempSync(join(tmpdir(), 'farthing-seed-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const url =
        kind === 'sqlite' ? `sqlite:${join(folder, 'farthing.db')}` : await createPostgresDatabase()
      const env = { DATABASE_URL: url, FARTHING_API_KEY: 'key-of-the-default-account' }
      const running = await startProcess({ env })
      t.after(() => running.kill())
      const api = createClient([running.baseUrl], env.FARTHING_API_KEY)

      const seeded = await runProcess({ args: ['seed', '--payments', '1003'], env })
      assert.equal(seeded.code, 0, seeded.stderr)
      assert.equal(seeded.stdout, 'made 1003 payments in the account default\n')
      assert.match(seeded.stderr, /\[#+\] 100 % {2}1003 of 1003/)

      const { body: page } = await api.get('/v1/payments')
      assert.equal(page.total, 1003)
      for (const state of statuses.filter(status => status !== 'submitted'))
        assert.ok((await api.get(`/v1/payments?state=${state}`)).body.total > 0, state)
      const dates = await Promise.all(
        [1, 3].map(async n => (await api.get(`/v1/payments?page=${n}`)).body.results),
      )
      const [newest, oldest] = [dates[0][0], dates[1].at(-1)].map(p => Date.parse(p.created_date))
      assert.ok(Date.now() - (newest ?? 0) < DAY && Date.now() - (oldest ?? 0) > 5 * DAY)
      const all = [...page.results, ...(await api.get('/v1/payments?page=2')).body.results]
      assert.equal(new Set(all.map(payment => payment.authorisation_mode)).size, 3)
      assert.equal((await api.get(`/v1/payments?reference=seed-0000500`)).body.total, 1)
      assert.ok((await api.get('/v1/refunds')).body.total > 0)
      assert.ok((await api.get('/v1/agreements?status=active')).body.total > 0)

      const database = await openDatabase(readConfig(env).database, {
        onUnknownOutcome: assert.ifError,
        onConnectionError: assert.ifError,
      })
      t.after(() => database.close())
      await checkInvariants(database, { now: Date.now(), settled: true })
    })
  })

describe('farthing seed', () => {
  const seed = async (
    options: Parameters<typeof seedCommand>[1],
    words: string[] = [],
    DATABASE_URL = 'sqlite:/nowhere/never/farthing.db',
  ) => {
    let printed = ''
    const print = (text: string) => {
      printed += text
      return 0
    }
    const screen = { write: print, isTerminal: false }
    await seedCommand(words, options, readConfig({ DATABASE_URL }), print, screen)
    return printed
  }

  test('explains itself when it is not told how many', async () => {
    await assert.rejects(seed({}), /^Error: usage: farthing seed --payments N/)
    await assert.rejects(seed({ payments: '5' }, ['more']), /^Error: usage: farthing seed/)
  })

  test('refuses what is no number, and names that no account may have', async () => {
    for (const payments of ['0', '-1', '1.5', 'many', '', '100000001'])
      await assert.rejects(seed({ payments }), /--payments must be a number/)
    await assert.rejects(seed({ payments: '5', account: '../x' }), /--account must be/)
  })

  test('makes none where they would be gone at once', async () => {
    await assert.rejects(seed({ payments: '5' }, [], 'sqlite::memory:'), /in memory .*no command/)
  })

  test('says so when no key of the account could see them', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-seed-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const url = `sqlite:${join(folder, 'farthing.db')}`
    const licensing = { payments: '5', account: 'Licensing team' }
    const hint = 'no key sees them yet: farthing keys create --account "Licensing team"'
    assert.ok((await seed(licensing, [], url)).includes(hint))
    const env = { DATABASE_URL: url }
    const made = await runProcess({ args: ['keys', 'create', '--account', licensing.account], env })
    assert.equal(made.code, 0, made.stderr)
    assert.doesNotMatch(await seed(licensing, [], url), /no key/)
    assert.doesNotMatch(await seed({ payments: '5' }, [], url), /no key/)
  })
})
