import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { tempFolder } from '../support/folders.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { copyMigratedDatabase } from '../support/postgres.ts'
import { type FarthingProcess, runProcess, startProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

type Check = { name: string; status: string; sentence: string; command?: string }
type Expected = [name: string, status: string, says: RegExp, command?: string | RegExp | null]

const KEY = 'key-of-the-default-account'

for (const kind of ['sqlite', 'postgres'] as const)
  describe(`farthing doctor and farthing open (${kind})`, () => {
    const folder = tempFolder()
    let running: FarthingProcess
    let DATABASE_URL: string
    before(async () => {
      DATABASE_URL =
        kind === 'sqlite' ? `sqlite:${join(folder, 'farthing.db')}` : await copyMigratedDatabase()
      const own = { FARTHING_API_KEY: KEY, FARTHING_CALLBACK_HOSTS: 'localhost' }
      const pages = kind === 'postgres' && { FARTHING_PAGES_URL: 'http://127.0.0.1:2' }
      running = await startProcess({ env: { DATABASE_URL, ...own, ...pages } })
    })
    after(() => running.kill())

    const settings = (env: Record<string, string> = {}) => ({
      DATABASE_URL,
      FARTHING_URL: running.baseUrl,
      FARTHING_API_KEY: KEY,
      ...env,
    })
    const farthing = (args: string[], env?: Record<string, string>) =>
      runHere({ args, env: settings(env) })

    /** Expects these checks among others. Returns the exit code and the names of all checks. */
    async function diagnose(
      env: Record<string, string>,
      expected: Expected[],
      run: typeof runHere | typeof runProcess = runHere,
    ) {
      const { code, stdout, stderr } = await run({ args: ['doctor', '--json'], env: settings(env) })
      assert.equal(stderr, '')
      const checks = JSON.parse(stdout).checks as Check[]
      for (const [name, status, says, command] of expected) {
        const found = checks.find(
          each => each.name === name && each.status === status && says.test(each.sentence),
        )
        assert.ok(found, `${name}: ${stdout}`)
        if (command instanceof RegExp) assert.match(found.command ?? '', command)
        else if (command !== undefined) assert.equal(found.command ?? null, command)
      }
      return { code, names: checks.map(({ name }) => name) }
    }

    test('a set-up without mistakes is ok, or names the pages that do not open', async () => {
      const names = ['node', 'settings', 'database', 'service', 'clock', 'key']
      const fine = names.map((name): Expected => [name, 'ok', /./])
      const webhooks: Expected = ['webhooks', 'warn', /no active webhook/]
      const isSqlite = kind === 'sqlite'
      const opens: Expected = isSqlite
        ? ['pages', 'ok', /opens from here/]
        : ['pages', 'fail', /leads to 127\.0\.0\.1:2, which does not open from here/]
      const run = isSqlite ? runProcess : runHere
      const { code } = await diagnose({}, [...fine, webhooks, opens], run)
      assert.equal(code, isSqlite ? 0 : 3)
    })

    test('farthing doctor finds a wrong key, a key of another database, and a service that is away', async () => {
      const unknown = { FARTHING_API_KEY: 'a-key-of-nobody-at-all' }
      assert.equal((await diagnose(unknown, [['key', 'fail', /is not known here/]])).code, 3)
      const other = `sqlite:${join(folder, 'other.db')}`
      const { stdout } = await farthing(['keys', 'create', '--create', '--json'], {
        DATABASE_URL: other,
      })
      const { key } = JSON.parse(stdout)
      await diagnose({ DATABASE_URL: other, FARTHING_API_KEY: key }, [
        ['key', 'fail', /the service uses another database/],
      ])
      await diagnose({ FARTHING_API_KEY: '' }, [['key', 'fail', /There is no API key/]])
      const { code } = await diagnose({ FARTHING_URL: 'http://127.0.0.1:2' }, [
        ['service', 'fail', /cannot be reached \(ECONNREFUSED\)/, 'PORT=2 farthing'],
      ])
      assert.equal(code, 3)
    })

    test('farthing open prints a link to the console, made with the key or from the database', async () => {
      const pageOf = async (args: string[]) =>
        new URL((await farthing(args)).stdout).searchParams.get('to')
      const { stdout } = await farthing(['open', '--json', '06h0qu8nq4niuu4gr0paa1n99j'])
      const url = new URL(JSON.parse(stdout).url)
      assert.equal(url.origin + url.pathname, `${running.baseUrl}/console/enter`)
      assert.match(url.searchParams.get('code') ?? '', /^default\.configured\.\d+\.[0-9a-f]{64}$/)
      assert.equal(url.searchParams.get('to'), 'payments/06h0qu8nq4niuu4gr0paa1n99j')
      const created = await farthing(['keys', 'create', '--account', 'team a.b', '--json'])
      const { key_id } = JSON.parse(created.stdout)
      const link = await farthing(['open', '--account', 'team a.b'], { FARTHING_API_KEY: '' })
      assert.equal(link.code, 0, link.stderr)
      const codeOfLink = new URL(link.stdout).searchParams.get('code') ?? ''
      assert.match(codeOfLink, new RegExp(`^team%20a%2Eb\\.${key_id}\\.`))
      assert.equal(new URL(link.stdout).searchParams.get('to'), null)
      assert.equal(await pageOf(['open', 'payments']), 'payments')
      for (const home of [['open', 'home'], ['open']]) assert.equal(await pageOf(home), null)
      const docs = await farthing(['open', 'docs'])
      assert.equal(docs.stdout, `${running.baseUrl}/docs\n`)
      assert.equal((await farthing(['open', 'elsewhere'])).code, 2)
      const both = await farthing(['open', '--account', 'team a.b'])
      assert.equal(both.code, 2)
      assert.match(both.stderr, /with a key --account has no effect/)
      const ofDocs = ['open', 'docs', '--account', 'team a.b']
      const unused = await farthing(ofDocs, { FARTHING_API_KEY: '' })
      assert.match(unused.stderr, /with docs --account has no effect/)
      const nobody = await farthing(['open', '--account', 'nobody'], { FARTHING_API_KEY: '' })
      assert.equal(nobody.code, 1)
      assert.match(nobody.stderr, /no active key of the account nobody/)
    })

    // The tests below ask the service and receivers, so one database is enough.
    if (kind === 'postgres') return

    /** A key of a new account, so that no other test's webhooks and requests are in it. */
    async function newKey(account: string): Promise<string> {
      const { stdout } = await farthing(['keys', 'create', '--account', account, '--json'])
      return JSON.parse(stdout).key
    }

    test('finds another program at the address, another port, and another address of the pages', async t => {
      const other = createServer((_request, response) => response.end('{"ping":"pong"}'))
      const port = await listenUntilEnd(t, other)
      const { code } = await diagnose({ FARTHING_URL: `http://127.0.0.1:${port}`, PORT: '3001' }, [
        ['service', 'fail', /^Another program answers at http:\/\/127\.0\.0\.1:/],
        ['port', 'warn', /^PORT is 3001, but the commands speak to /],
      ])
      assert.equal(code, 3)
      await diagnose({ FARTHING_PAGES_URL: 'https://pay.example' }, [
        ['pages', 'warn', /FARTHING_PAGES_URL is https:\/\/pay\.example here/],
      ])
    })

    test('finds a certificate that is not accepted', async t => {
      const receiver = await startReceiver({ certificate: 'expired' })
      t.after(() => receiver.close())
      const key = await newKey('certificate')
      const api = createClient([running.baseUrl], key)
      await api.post('/v1/webhooks', { callback_url: receiver.url })
      await diagnose({ FARTHING_API_KEY: key }, [
        ['webhooks', 'warn', /its certificate is not accepted on this machine \(/],
      ])
    })

    test('finds settings that are none, a missing database, and makes no file', async () => {
      const missing = { DATABASE_URL: `sqlite:${join(folder, 'missing.db')}` }
      await diagnose({ FARTHING_CALLBACK_HOST: 'localhost', ...missing }, [
        ['settings', 'warn', /Did you mean FARTHING_CALLBACK_HOSTS\?/],
        ['database', 'warn', /There is no database at .*missing\.db/],
      ])
      await diagnose(missing, [['database', 'warn', /There is no database/]])
      const { code } = await diagnose({ PORT: 'abc' }, [
        ['settings', 'fail', /^PORT must be a whole number from 0 to 65535/],
      ])
      assert.equal(code, 3)
    })

    test('A webhook without messages is only ok if its address accepts connections, and a listener never is', async t => {
      const key = await newKey('addresses')
      const api = createClient([running.baseUrl], key)
      const port = await listenUntilEnd(t, createServer())
      for (const [description, callback_url] of Object.entries({
        A: `http://localhost:${port}/`,
        B: 'http://localhost:1/',
        C: 'https://localhost:1/',
      }))
        await api.post('/v1/webhooks', { callback_url, description })
      await farthing(['listen', '--name', 'D', '--print-signing-key'], { FARTHING_API_KEY: key })
      const silent = /^d: there is no message yet, so nothing shows that it is listening/
      await diagnose({ FARTHING_API_KEY: key }, [
        ['webhooks', 'warn', silent, 'farthing trigger card_payment_succeeded'],
        ['webhooks', 'ok', /^A: there is no message yet, and its address accepts connections/],
        ['webhooks', 'warn', /^B: its address accepts no .* \(ECONNREFUSED\)/],
        ['webhooks', 'warn', /^C: its address accepts no .* \(ECONNREFUSED\)/],
      ])
    })

    test('farthing doctor advises what fits the cause of a failed message', async t => {
      const key = await newKey('failures')
      const env = { FARTHING_API_KEY: key }
      const api = createClient([running.baseUrl], key)
      await api.post('/v1/webhooks', { callback_url: 'http://localhost:1/hook' })
      const receiver = createServer((request, response) => {
        response.statusCode = Number(request.url?.slice(1))
        response.end()
      })
      const port = await listenUntilEnd(t, receiver)
      for (const description of ['401', '404'])
        await api.post('/v1/webhooks', {
          callback_url: `http://localhost:${port}/${description}`,
          description,
        })
      await farthing(['listen', '--name', 'Me', '--print-signing-key'], env)
      await farthing(['trigger', 'card_payment_cancelled'], env)
      receiver.close()
      await diagnose(env, [
        ['webhooks', 'warn', /^localhost:1: 1 of the last 1 .* is it running, and is the/, null],
        ['webhooks', 'warn', /^401: .*signature does not match/, /^farthing verify --ask /],
        ['webhooks', 'warn', /^404: .*Is the path/, null],
        ['webhooks', 'warn', /^me: nobody was listening/, 'farthing listen --name me --missed'],
      ])
    })

    /** A second service on the database. It allows an http return_url, and the address of its pages is wrong. */
    let other: FarthingProcess
    before(async () => {
      const FARTHING_BASE_URL = `${running.baseUrl}/elsewhere`
      const own = { FARTHING_BASE_URL, FARTHING_RETURN_HOSTS: 'localhost:8080' }
      other = await startProcess({ env: { DATABASE_URL, FARTHING_API_KEY: KEY, ...own } })
    })
    after(() => other.kill())

    test('A full disk is a failure, and the cause of a service that is not ready', async t => {
      const unready = createServer((_, response) =>
        response.writeHead(503).end('{"status":"unavailable"}'),
      )
      const port = await listenUntilEnd(t, unready)
      t.mock.method(fs, 'statfsSync', () => ({ bavail: 100, bsize: 4096 }))
      syncBuiltinESMExports()
      t.after(() => {
        t.mock.restoreAll()
        syncBuiltinESMExports()
      })
      const env = { FARTHING_URL: `http://127.0.0.1:${port}` }
      const { code } = await diagnose(env, [
        ['disk', 'fail', /^The disk is full where the database is: nothing can be written\.$/],
        ['service', 'fail', /readyz returned 503: the disk of its database is full\.$/],
      ])
      assert.equal(code, 3)
      await diagnose({ ...env, DATABASE_URL: 'postgres://postgres@127.0.0.1:1/farthing' }, [
        ['service', 'fail', /readyz returned 503: PostgreSQL cannot be reached: connect /],
      ])
    })

    test('An http return_url that was refused is a warning only while it would be refused again', async () => {
      const key = await newKey('returns')
      const env = { FARTHING_API_KEY: key }
      await farthing(['pay', '--set', 'return_url=http://localhost:8080/return'], env)
      // The record is written within half a second.
      while (!(await farthing(['logs', '--refused'], env)).stdout.includes('P0102'))
        await setTimeout(50)
      const refused = /sent the return_url http:\/\/localhost:8080\/return, which is/
      await diagnose(env, [
        ['return_url', 'warn', refused, 'FARTHING_RETURN_HOSTS=localhost:8080 farthing'],
      ])
      const { names } = await diagnose({ ...env, FARTHING_URL: other.baseUrl }, [])
      assert.ok(!names.includes('return_url'), String(names))
    })

    test('A wrong path in FARTHING_URL or FARTHING_BASE_URL is named, with the setting to correct', async () => {
      const { baseUrl } = running
      const below = /^A Farthing answers at http:\/\/127\.0\.0\.1:\d+, but not below \/api/
      await diagnose({ FARTHING_URL: `${baseUrl}/api` }, [
        ['service', 'fail', below, `FARTHING_URL=${baseUrl} farthing doctor`],
      ])
      await diagnose({ FARTHING_URL: other.baseUrl }, [
        ['pages', 'fail', /which returns 404/, /^Correct FARTHING_BASE_URL of the/],
      ])
    })
  })
