import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createClient } from '../../support/client.ts'
import { runHere } from '../../support/command.ts'
import { tempFolder } from '../../support/folders.ts'
import { openAt } from '../../support/open-database.ts'
import { runProcess } from '../../support/process.ts'
import { checkEntry, courseOf } from './ledger.ts'
import { checkRows, countPayments, KEY, serve, settings } from './serve.ts'
import { createWorkload, inParallel, seeded } from './workload.ts'

const environment = (path: string) => settings(`sqlite:${path}`)

test('A backup under load has everything that was acknowledged before it', async t => {
  const folder = tempFolder()
  const env = environment(join(folder, 'farthing.db'))
  const { service } = await serve(t, env.DATABASE_URL)
  const workload = createWorkload([service.baseUrl], KEY, seeded(1))
  const working = workload.run(16)
  while (workload.answered() < 150) await setTimeout(10)

  const before = structuredClone([...workload.ledger.entries.values()])
  const answered = workload.answered()
  const copy = join(folder, 'copy.db')
  const made = await runProcess({ env, args: ['backup', copy] })
  assert.equal(made.code, 0, made.stderr)
  assert.ok(workload.answered() > answered, 'the service responds during the backup')
  assert.match(made.stdout, /^Copied the database to .*copy\.db, with \d+ payments\.\n$/)
  assert.equal(statSync(copy).mode & 0o077, 0, 'only its owner can read it')
  workload.stop()
  await working
  await service.kill()
  const again = await runHere({ env, args: ['backup', join(folder, 'again.db')] })
  const copied = /with (\d+) payments/.exec(again.stdout)?.[1]
  assert.equal(copied, String(countPayments(env.DATABASE_URL)), again.stderr)

  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  const path = join(elsewhere, 'farthing.db')
  renameSync(copy, path)
  const restored = await startFarthing({
    config: readConfig({ ...environment(path), PORT: '0' }),
    backgroundWork: false,
  })
  t.after(() => restored.close())
  const api = createClient([restored.url], KEY)
  // Finished payments are exactly as before; others may have changed before the copy.
  const final = before.filter(
    ({ world, unknown }) =>
      !unknown && /cancelled|failed/.test(courseOf(world).statuses.at(-1) ?? ''),
  )
  assert.ok(final.length > 10)
  await inParallel(final, entry => checkEntry(api, entry))
  await inParallel(before, async ({ created }) => {
    assert.equal((await api.get(`/v1/payments/${created.payment_id}`)).status, 200)
  })
  await api.createPayment()
  await checkRows(`sqlite:${path}`)
})

test('A backup is in the named file, also if SQLite would read the name as a URI', async t => {
  const folder = tempFolder()
  const env = environment(join(folder, 'farthing.db'))
  await (await openAt(env.DATABASE_URL)).close()
  const home = process.cwd()
  process.chdir(folder)
  t.after(() => process.chdir(home))
  assert.equal((await runHere({ args: ['backup', 'file:copy.db'], env })).code, 0)
  assert.equal(countPayments(`sqlite:${join(folder, 'file:copy.db')}`), 0)
  const remaining = readdirSync(folder).filter(name => name.endsWith('.part'))
  assert.deepEqual(remaining, [])
})

test('A backup without enough room says so and leaves no file', async () => {
  const folder = tempFolder()
  const env = environment(join(folder, 'farthing.db'))
  await (await openAt(env.DATABASE_URL)).close()
  const wrapper = ['bash', '-c', 'ulimit -f 100; exec "$@"', 'bash']
  const copy = join(folder, 'copy.db')
  const { code, stderr } = await runProcess({ env, args: ['backup', copy], wrapper })
  assert.equal(code, 1)
  assert.match(stderr, /^farthing: the copy cannot be written: is there room for it\?\n$/)
  assert.deepEqual(
    readdirSync(folder).filter(name => name.startsWith('copy')),
    [],
  )
})

test('A backup overwrites no file, and says why it cannot copy', async () => {
  const folder = tempFolder()
  const there = join(folder, 'there.db')
  writeFileSync(there, 'something long enough to be looked at '.repeat(100))
  const source = join(folder, 'source.db')
  new DatabaseSync(source).close()
  const foreign = join(folder, 'foreign.db')
  const other = new DatabaseSync(foreign)
  other.exec('create table recipes (name text)')
  other.close()
  writeFileSync(join(folder, 'taken.db.part'), 'precious')
  const at = (name: string) => join(folder, name)
  const cases: [database: string, names: string[], says: RegExp][] = [
    [there, ['there.db'], /^1 farthing: .*there\.db exists: name a new file\n$/],
    [at('missing.db'), ['copy.db'], /^1 farthing: there is no database at .*missing\.db .*\n$/],
    [there, ['text.db'], /^1 farthing: the SQLite database .*there\.db cannot be used: .*\n$/],
    [foreign, ['copy.db'], /^1 .*foreign\.db is the database of another program, .*\n$/],
    [source, ['taken.db'], /^1 .*taken\.db\.part was left by a backup .*: delete it .*\n$/],
    [source, ['no-such-folder/copy.db'], /^1 .*: the copy cannot be made: .*no-such-folder.*\n$/],
    [source, [], /^2 farthing: missing required argument 'file'\n/],
    [source, ['a.db', 'b.db'], /^2 farthing: too many arguments for 'backup'/],
    [':memory:', ['copy.db'], /^1 farthing: DATABASE_URL is sqlite::memory:.*\n$/],
  ]
  const run = async (DATABASE_URL: string, names: string[], says: RegExp) => {
    const args = ['backup', ...names.map(at)]
    const { code, stderr, stdout } = await runHere({ env: { DATABASE_URL }, args })
    assert.match(`${code} ${stdout || stderr}`, says)
  }
  await Promise.all(cases.map(([path, names, says]) => run(`sqlite:${path}`, names, says)))
  const postgres = /^1 farthing: backup copies SQLite files only\. For PostgreSQL use pg_dump\n$/
  await run('postgres://u@127.0.0.1/d', ['copy.db'], postgres)
  const unfinished = readdirSync(folder).filter(name => name.endsWith('.part'))
  assert.deepEqual(unfinished, ['taken.db.part'])
  assert.equal(readFileSync(at('taken.db.part'), 'utf8'), 'precious')
})
