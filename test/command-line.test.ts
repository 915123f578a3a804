import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient, webPayment } from './support/client.ts'
import { runProcess, startProcess } from './support/process.ts'
import { type Behaviour, startReceiver } from './support/receiver.ts'

const COMMAND = fileURLToPath(new URL('../bin/farthing.js', import.meta.url))
const KEY = /^api_test_[0-9a-v]{52}$/
const folder = mkdtempSync(join(tmpdir(), 'farthing-command-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let databases = 0
const newDatabase = () => `sqlite:${join(folder, `${++databases}`, 'farthing.db')}`

/** A running service, which does not outlive the test. */
async function start(t: TestContext, env: Record<string, string>) {
  const started = await startProcess({ env })
  t.after(() => started.kill())
  return started
}

/** The lines of standard output after the first, which is for people. */
const logged = (output: string): Record<string, unknown>[] =>
  output
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => JSON.parse(line))

describe('The service, when it starts,', () => {
  test('says in its first line where it listens, then writes JSON, with a key of the first start', async t => {
    const env = { DATABASE_URL: newDatabase() }
    const first = await start(t, env)
    const api = createClient([first.baseUrl], undefined)
    assert.equal((await api.get('/healthz')).status, 200)
    assert.deepEqual(await first.terminate(), { code: 0, signal: null })
    const [line] = first.output().split('\n')
    assert.equal(line, `Farthing is listening on ${first.baseUrl}`)
    const key = logged(first.output()).find(entry => entry.api_key)?.api_key
    assert.match(String(key), KEY)
    assert.equal(first.output().split(`"api_key":"${key}"`).length, 2)

    const second = await start(t, env)
    const again = createClient([second.baseUrl], String(key))
    assert.equal((await again.post('/v1/payments', webPayment)).status, 201)
    await second.terminate()
    assert.doesNotMatch(second.output(), /api_test_/)
    assert.equal(logged(second.output()).filter(entry => entry.api_key).length, 0)
  })

  test('shows the first key whatever LOG_LEVEL is', async t => {
    const env = { DATABASE_URL: newDatabase(), LOG_LEVEL: 'silent' }
    const started = await start(t, env)
    await started.terminate()
    assert.match(started.output(), /"api_key":"api_test_[0-9a-v]{52}"/)
  })

  test('makes no key when FARTHING_API_KEY is one, and that one works and is not written', async t => {
    const FARTHING_API_KEY = 'a key of our own, ü'
    const env = { DATABASE_URL: newDatabase(), FARTHING_API_KEY }
    const started = await start(t, env)
    const header = Buffer.from(FARTHING_API_KEY).toString('latin1')
    const api = createClient([started.baseUrl], header)
    assert.equal((await api.post('/v1/payments', webPayment)).status, 201)
    await started.terminate()
    assert.doesNotMatch(started.output(), /of our own|api_test_/)
    assert.match((await runProcess({ args: ['keys', 'list'], env })).stdout, /no keys/)
  })

  test('logs no key, no token, no body and no address of a client', async t => {
    const key = 'SECRET-KEY-OF-OURS'
    const env = { DATABASE_URL: newDatabase(), FARTHING_API_KEY: key }
    const started = await start(t, env)
    const api = createClient([started.baseUrl], key)
    const payment = await api.createPayment({ reference: 'SECRET-REFERENCE' })
    await api.get(payment._links.next_url.href)
    await api.get('/v1/payments?email=SECRET-EMAIL')
    await api.get('/v1/payments/SECRET-ID')
    await started.terminate()
    const output = started.output()
    assert.match(output, /"route":"\/secure\/:token"/)
    const token = payment._links.next_url.href.split('/').pop()
    for (const secret of ['SECRET', token, payment.payment_id])
      assert.ok(!output.includes(secret), secret)
  })

  test('logs why a webhook could not be reached', async t => {
    const key = 'a-key-of-our-own-1234'
    const env = { FARTHING_API_KEY: key, FARTHING_CALLBACK_HOSTS: 'localhost' }
    const started = await start(t, { ...env, DATABASE_URL: newDatabase() })
    const api = createClient([started.baseUrl], key)
    const webhookThat = async (behaviour: Behaviour) => {
      const receiver = await startReceiver(behaviour)
      t.after(() => receiver.close())
      return (await api.post('/v1/webhooks', { callback_url: receiver.url })).body.external_id
    }
    const refusing = await webhookThat({ refuses: true })
    const untrusted = await webhookThat({})
    await api.post((await api.createPayment())._links.cancel.href)
    await started.terminate()
    const lines = logged(started.output()).map(
      ({ webhook_id, result }) => `${webhook_id} ${result}`,
    )
    assert.ok(lines.includes(`${refusing} connection failed (ECONNREFUSED)`))
    assert.ok(lines.includes(`${untrusted} tls failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`))
  })

  test('warns of variables that look like settings and are none', async t => {
    const FARTHING_CALBACK_HOSTS = 'localhost'
    const started = await start(t, { DATABASE_URL: newDatabase(), FARTHING_CALBACK_HOSTS })
    await started.terminate()
    const warnings = logged(started.output()).filter(({ level }) => level === 40)
    assert.deepEqual(
      warnings.map(({ msg }) => msg),
      ['no settings of Farthing: FARTHING_CALBACK_HOSTS (farthing --help)'],
    )
  })

  test('ends with one line for each variable that cannot be used, all at once', async () => {
    const env = {
      PORT: '65536',
      DATABASE_URL: 'mysql://a',
      FARTHING_API_KEY: 'short',
      FARTHING_BASE_URL: 'ftp://a',
      FARTHING_PAGES_URL: 'a',
      FARTHING_CALLBACK_HOSTS: 'a b',
      FARTHING_TRUST_PROXY: 'maybe',
      LOG_LEVEL: 'loud',
    }
    const { code, stdout, stderr } = await runProcess({ env })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.length, Object.keys(env).length)
    for (const name of Object.keys(env))
      assert.equal(lines.filter(line => line.startsWith(`farthing: ${name}`)).length, 1, name)
  })

  const oneLine = async (env: Record<string, string>, says: RegExp) => {
    const { code, stdout, stderr } = await runProcess({ env: { PORT: '0', ...env } })
    assert.equal(code, 1, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, says)
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  }

  test('ends with one line when the port is in use, and then has made no key', async t => {
    const running = await start(t, { DATABASE_URL: newDatabase() })
    const { port } = new URL(running.baseUrl)
    const env = { DATABASE_URL: newDatabase() }
    await oneLine({ ...env, PORT: port }, new RegExp(`port ${port} .*in use.*PORT`))
    await running.terminate()
    const next = await start(t, env)
    await next.terminate()
    assert.match(next.output(), /"api_key":"api_test_/)
  })

  test('ends with one line when HOST is not of this machine', async () => {
    const env = { DATABASE_URL: newDatabase() }
    await oneLine({ ...env, HOST: '203.0.113.7' }, /HOST 203\.0\.113\.7/)
    await oneLine({ ...env, HOST: 'no.such.host.invalid' }, /HOST no\.such\.host\.invalid/)
  })

  test('ends with one line when the database cannot be had', async () => {
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
    await oneLine({ DATABASE_URL: closed }, /folder of the database cannot be written: EACCES/)
    const nowhere = 'postgres://a:b@127.0.0.1:1/c'
    await oneLine({ DATABASE_URL: nowhere }, /PostgreSQL cannot be reached.*DATABASE_URL/)
  })

  for (const [name, hold] of Object.entries({
    'is writing to': 'begin immediate',
    'holds all of': 'pragma locking_mode = exclusive; create table a (b)',
  }))
    test(`ends with one line that says what to do when another process ${name} the database`, {
      timeout: 60_000,
    }, async t => {
      const path = join(folder, `${name}.db`)
      const holder = new DatabaseSync(path)
      t.after(() => holder.close())
      holder.exec(`pragma journal_mode = wal; ${hold}`)
      await oneLine(
        { DATABASE_URL: `sqlite:${path}` },
        /locked.*another process holds it.*DATABASE_URL/,
      )
    })

  test('ends with one line when the database is that of another program, and leaves it alone', async () => {
    const path = join(folder, 'recipes.db')
    const other = new DatabaseSync(path)
    other.exec('create table recipes (name text)')
    other.close()
    const before = readFileSync(path)
    await oneLine({ DATABASE_URL: `sqlite:${path}` }, /recipes\.db .*another program.*DATABASE_URL/)
    assert.deepEqual(readFileSync(path), before)
  })

  test('makes its files and their folder for nobody else to read', async () => {
    const path = join(folder, 'new-folder', 'farthing.db')
    await runProcess({ args: ['keys', 'create'], env: { DATABASE_URL: `sqlite:${path}` } })
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700)
    const files = readdirSync(dirname(path))
    assert.ok(files.includes('farthing.db'))
    for (const file of files)
      assert.equal(statSync(join(dirname(path), file)).mode & 0o777, 0o600, file)
  })

  test('ends with one line when the database is that of a newer version', async () => {
    const path = join(folder, 'newer.db')
    const database = new DatabaseSync(path)
    database.exec('create table migrations (number integer primary key, name text not null)')
    database.exec("insert into migrations values (9999, '9999-later.sql')")
    database.close()
    await oneLine({ DATABASE_URL: `sqlite:${path}` }, /version 9999.*newer Farthing.*DATABASE_URL/)
  })
})

describe('A Node that is too old', () => {
  const old = ['/usr/bin/node', '/usr/local/bin/node'].find(
    path => existsSync(path) && majorOf(path) < 24,
  )

  test('says in one line which one is needed', () => {
    // Where no old Node is at hand, the same file runs with an old version in its place.
    const code = `Object.defineProperty(process.versions, 'node', { value: '22.18.0' }); import(${JSON.stringify(COMMAND)})`
    const args = old ? [COMMAND] : ['--input-type=module', '--eval', code]
    const { status, stdout, stderr } = spawnSync(old ?? process.execPath, args, {
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^farthing: Node 24\.15 or newer is needed, this is \d+\.\d+\.\d+.*\n$/)
  })

  test('is older than what package.json asks for', () => {
    const { engines } = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    )
    assert.equal(engines.node, '>=24.15')
  })
})

function majorOf(node: string): number {
  return Number.parseInt(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1), 10)
}

describe('The command line', () => {
  test('says its version, and what it can do', async () => {
    const version = await runProcess({ args: ['--version'] })
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    const { code, stdout } = await runProcess({ args: ['--help'] })
    assert.equal(code, 0)
    for (const word of ['serve', 'keys create', 'keys list', 'keys revoke', 'DATABASE_URL'])
      assert.ok(stdout.includes(word), word)
  })

  test('explains each command, whatever the configuration', async () => {
    for (const [args, words] of Object.entries({
      keys: /^API keys\..*keys create/s,
      'keys --help': /^API keys\..*keys create/s,
      'seed --help': /^Usage:\n {2}farthing seed --payments N/,
      'backup --help': /^Usage:\n {2}farthing backup FILE/,
      'serve --help': /^Farthing: /,
    })) {
      const { code, stdout } = await runProcess({ args: args.split(' '), env: { PORT: 'abc' } })
      assert.equal(code, 0, args)
      assert.match(stdout, words)
    }
  })

  test('refuses what it does not know, in one line', async () => {
    for (const args of [
      ['sing'],
      ['sing', '--help'],
      ['serve', 'twice'],
      ['--loud'],
      ['constructor', '--account', 'a'],
      ['--account', 'a'],
      ['keys', 'create', '--payments', '5'],
      ['backup', 'a.db', '--account', 'a'],
      ['seed', '--payments', '-5'],
    ]) {
      const { code, stdout, stderr } = await runProcess({ args })
      assert.equal(code, 1, args.join(' '))
      assert.equal(stdout, '')
      assert.match(stderr, /^farthing: [^.]+\n$/)
    }
  })
})
