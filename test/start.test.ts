import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, type TestContext, test } from 'node:test'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/app/start.ts'
import { locationOf } from '../src/cli/database.ts'
import { createClient, webPayment } from './support/client.ts'
import { capture, runHere } from './support/command.ts'
import { tempDatabase, tempFolder } from './support/folders.ts'
import { listenUntilEnd } from './support/ports.ts'
import { runProcess, startProcess } from './support/process.ts'

const KEY = /^api_test_[0-9a-v]{52}$/
const folder = tempFolder()

async function start(t: TestContext, env: Record<string, string>) {
  const started = await startProcess({ env })
  t.after(() => started.kill())
  return started
}

/** The first line is no JSON. */
const logged = (output: string): Record<string, unknown>[] =>
  output
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => JSON.parse(line))

type Run = (options: { env: Record<string, string> }) => ReturnType<typeof capture>

/** Starts the service in this process, with settings with which it cannot start. */
const startHere: Run = ({ env }) =>
  capture(async () => {
    const farthing = await startFarthing({ config: readConfig(env) })
    await farthing.close()
    return 0
  })

test('The first line says where the service listens, and JSON lines follow, with a key at the first start only', async t => {
  const env = { DATABASE_URL: tempDatabase() }
  const first = await start(t, env)
  const api = createClient([first.baseUrl], undefined)
  assert.equal((await api.get('/healthz')).status, 200)
  assert.deepEqual(await first.terminate(), { code: 0, signal: null })
  const [line] = first.output().split('\n')
  assert.equal(line, `Farthing is listening on ${first.baseUrl}`)
  const key = logged(first.output()).find(entry => entry.api_key)?.api_key
  assert.match(String(key), KEY)
  const console = logged(first.output()).find(entry => entry.console)?.console
  assert.equal(console, `${first.baseUrl}/console`)
  assert.equal(first.output().split(`"api_key":"${key}"`).length, 2)

  const second = await start(t, env)
  const again = createClient([second.baseUrl], String(key))
  assert.equal((await again.post('/v1/payments', webPayment)).status, 201)
  await second.terminate()
  assert.doesNotMatch(second.output(), /api_test_/)
  assert.ok(!logged(second.output()).some(entry => entry.api_key))
})

test('The place of a database is told without the password of PostgreSQL', () => {
  assert.equal(locationOf({ kind: 'sqlite', path: ':memory:' }), 'memory until Farthing stops')
  for (const [url, place] of Object.entries({
    'postgres://me:secret@db:5433/a%20b': 'PostgreSQL on db:5433, database a b',
    'postgres:///farthing?host=/run/postgresql&password=secret':
      'PostgreSQL on /run/postgresql, database farthing',
    'postgres://db': 'PostgreSQL on db, its default database',
  }))
    assert.equal(locationOf({ kind: 'postgres', url }), place)
})

test('A start with unusable settings ends with one line for each of them', async () => {
  const env = { PORT: '65536', DATABASE_URL: 'mysql://a', LOG_LEVEL: 'loud' }
  const { code, stdout, stderr } = await runProcess({ env })
  assert.deepEqual([code, stdout], [1, ''])
  const named = stderr
    .trimEnd()
    .split('\n')
    .map(line => /^farthing: (\w+)/.exec(line)?.[1])
  assert.deepEqual(named.sort(), Object.keys(env).sort())
})

const oneLine = async (
  env: Record<string, string>,
  says: RegExp,
  run: Run | typeof runProcess = startHere,
) => {
  const { code, stdout, stderr } = await run({ env: { PORT: '0', ...env } })
  assert.equal(code, 1, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, says)
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
}

test('A start ends with one line if the port is in use, and makes no key, which the first start shows at every LOG_LEVEL', async t => {
  const port = await listenUntilEnd(t, createServer())
  const env = { DATABASE_URL: tempDatabase(), LOG_LEVEL: 'silent' }
  await oneLine({ ...env, PORT: `${port}` }, new RegExp(`port ${port} .*in use.*PORT`))
  const next = await start(t, env)
  await next.terminate()
  assert.match(next.output(), /"api_key":"api_test_[0-9a-v]{52}"/)
})

test('A start ends with one line if HOST is not an address of this machine', async () => {
  const env = { DATABASE_URL: tempDatabase() }
  await oneLine({ ...env, HOST: '203.0.113.7' }, /HOST 203\.0\.113\.7/)
  const unknown = { ...env, HOST: 'no.such.host.invalid' }
  await oneLine(unknown, /HOST (no\.such\.host\.invalid|[\da-f.:]+) /)
})

test('A start ends with one line if the database cannot be opened', async () => {
  const file = join(folder, 'a-text')
  writeFileSync(file, 'This is no database, but it is long enough to be looked at. '.repeat(100))
  for (const path of [file, `${file}/below/farthing.db`, '/proc/farthing/farthing.db'])
    await oneLine({ DATABASE_URL: `sqlite:${path}` }, /database.*DATABASE_URL/)
  await oneLine({ DATABASE_URL: `sqlite:${file}` }, /database .*a-text .*move it away/)
  const damaged = join(folder, 'damaged.db')
  const database = new DatabaseSync(damaged)
  database.exec('create table migrations (number integer primary key, name text not null)')
  database.exec('create table a (b)')
  database.close()
  writeFileSync(
    damaged,
    Buffer.concat([readFileSync(damaged).subarray(0, 4096), Buffer.alloc(8192, 1)]),
  )
  await oneLine({ DATABASE_URL: `sqlite:${damaged}` }, /damaged\.db .*restore a backup/)
  const closed = 'sqlite:/sys/farthing.db' // not even root may make a file there
  await oneLine({ DATABASE_URL: closed }, /folder of the database cannot be written: E(ACCES|ROFS)/)
  for (const url of ['postgres://a:b@127.0.0.1:1/c', `postgres://a:b@localhost/c?host=${folder}`])
    await oneLine({ DATABASE_URL: url }, /PostgreSQL cannot be reached.*DATABASE_URL/)
})

describe('beside another process that has locked the database', { concurrency: true }, () => {
  for (const [name, hold] of Object.entries({
    'is writing to': 'begin immediate',
    'holds all of': 'pragma locking_mode = exclusive; create table a (b)',
  }))
    test(`A start ends with one line that says what to do if another process ${name} the database`, async t => {
      const path = join(folder, `${name}.db`)
      const holder = new DatabaseSync(path)
      t.after(() => holder.close())
      holder.exec(`pragma journal_mode = wal; ${hold}`)
      await oneLine(
        { DATABASE_URL: `sqlite:${path}` },
        /locked.*another process has locked it.*DATABASE_URL/,
        runProcess,
      )
    })
})

test('New database files and their folder are readable by their owner only', async () => {
  const path = join(folder, 'new-folder', 'farthing.db')
  await runHere({
    args: ['keys', 'create', '--create'],
    env: { DATABASE_URL: `sqlite:${path}` },
  })
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700)
  const files = readdirSync(dirname(path))
  assert.ok(files.includes('farthing.db'))
  for (const file of files)
    assert.equal(statSync(join(dirname(path), file)).mode & 0o777, 0o600, file)
})

test('A start ends with one line if FARTHING_API_KEY is a key of another account, and not once that key is revoked', async () => {
  const DATABASE_URL = tempDatabase()
  const farthing = (...args: string[]) => runHere({ args, env: { DATABASE_URL } })
  const create = ['keys', 'create', '--create', '--json']
  const own = JSON.parse((await farthing(...create)).stdout)
  const other = JSON.parse((await farthing(...create, '--account', 'permits')).stdout)
  const env = { DATABASE_URL, FARTHING_API_KEY: other.key }
  await oneLine(env, /FARTHING_API_KEY is a key of the account permits, .*set another, or none/)
  assert.equal((await startHere({ env: { ...env, PORT: '0', FARTHING_API_KEY: own.key } })).code, 0)
  await farthing('keys', 'revoke', other.key_id)
  assert.equal((await startHere({ env: { ...env, PORT: '0' } })).code, 0)
})

test('A start ends with one line if a newer Farthing made the database', async () => {
  const path = join(folder, 'newer.db')
  const DATABASE_URL = `sqlite:${path}`
  await runHere({ args: ['keys', 'create', '--create'], env: { DATABASE_URL } })
  const database = new DatabaseSync(path)
  database.exec("insert into migrations values (9999, '9999-later.sql')")
  database.close()
  await oneLine({ DATABASE_URL }, /version 9999.*newer Farthing.*DATABASE_URL/)
})

describe('What the service has logged after a start with FARTHING_API_KEY', () => {
  const key = 'a-SECRET-key:of;our/own'
  const DATABASE_URL = tempDatabase()
  const settings = { DATABASE_URL, FARTHING_API_KEY: key, FARTHING_CALLBACK_HOSTS: 'localhost' }
  let output = ''
  before(async () => {
    const env = { ...settings, FARTHING_CALBACK_HOSTS: 'localhost' }
    const running = await startProcess({ env })
    const api = createClient([running.baseUrl], key)
    for (const proto of ['http', 'HTTPS, http', 'HTTPS, http'])
      await api.createPayment({}, { 'X-Forwarded-Proto': proto })
    await running.terminate()
    output = running.output()
  })

  test('A key in FARTHING_API_KEY works, Farthing makes no other key, and the log has none', async () => {
    assert.doesNotMatch(output, /of;our|api_test_/)
    const { stdout } = await runHere({ args: ['keys', 'list'], env: settings })
    assert.match(stdout, /There are no keys/)
  })

  test('The log says in which file payments are kept', () => {
    const place = `the SQLite file ${DATABASE_URL.slice('sqlite:'.length)}`
    const said = logged(output).find(({ database }) => database)
    assert.deepEqual([said?.database, said?.msg], [place, `payments are kept in ${place}`])
  })

  const about = (word: string) => logged(output).filter(({ msg }) => String(msg).includes(word))

  test('A misspelt variable is a warning that suggests the right name', () => {
    const says =
      'FARTHING_CALBACK_HOSTS is not a Farthing setting and was ignored. Did you mean FARTHING_CALLBACK_HOSTS?'
    const [{ level, msg } = {}, ...more] = about('CALBACK')
    assert.deepEqual([level, msg, more], [40, says, []])
  })

  test('A proxy that is not trusted and says https is one warning, which names the setting', () => {
    const [{ level, msg } = {}, ...more] = about('X-Forwarded-Proto')
    assert.deepEqual([level, more], [40, []])
    assert.match(String(msg), /set FARTHING_TRUST_PROXY=true or FARTHING_BASE_URL/)
  })
})
