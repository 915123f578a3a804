import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient, webPayment } from '../../support/client.ts'
import { listenUntilEnd } from '../../support/ports.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { type FarthingProcess, runProcess, startProcess } from '../../support/process.ts'
import { seed } from '../../support/properties.ts'
import { UNUSED_PORT } from '../../support/receiver.ts'
import { crashUnder } from './crashes.ts'
import { type CrashablePostgres, startCrashablePostgres } from './postgres-server.ts'
import { KEY, settings } from './serve.ts'

describe('While PostgreSQL is away', () => {
  let server: CrashablePostgres
  let service: FarthingProcess
  let api: Client
  let page: string

  before(async () => {
    server = await startCrashablePostgres()
    const DATABASE_URL = await createPostgresDatabase(server.url)
    service = await startProcess({ env: settings(DATABASE_URL) })
    api = createClient([service.baseUrl], KEY)
    page = (await api.createPayment())._links.next_url.href
  })
  after(async () => {
    await service.kill()
    await server.stop()
  })

  async function checkAway(): Promise<void> {
    const [write, read, shown] = await Promise.all([
      api.post('/v1/payments', webPayment),
      api.get('/v1/payments'),
      api.get(page),
    ])
    for (const { status, body } of [write, read]) {
      assert.equal(status, 500)
      assert.deepEqual(Object.keys(body).sort(), ['code', 'description'])
      assert.equal(body.code, 'P0999')
      assert.doesNotMatch(body.description, /postgres|connect|127/i, 'no internals are shown')
    }
    assert.equal(shown.status, 500)
    assert.match(shown.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal((await api.get('/readyz')).status, 503)
    assert.equal((await api.get('/healthz')).status, 200)
  }

  async function checkBack(): Promise<void> {
    while ((await api.get('/readyz')).status !== 200) await pause(50)
    await api.createPayment()
    assert.equal((await api.get(page)).status, 200)
    assert.doesNotMatch(service.output(), /unhandled|cannot go on/i)
  }

  test('requests are 500 and readiness is 503, until PostgreSQL is back', async () => {
    server.crash()
    while ((await api.get('/readyz')).status !== 503) await pause(20)
    await checkAway()
    await server.restart()
    await checkBack()
  })

  test('the same holds if connections stay open and PostgreSQL does not respond', async t => {
    t.after(() => server.thaw())
    server.freeze()
    await checkAway()
    server.thaw()
    await checkBack()
  })

  test('a stop ends although PostgreSQL does not respond', async t => {
    t.after(() => server.thaw())
    server.freeze()
    const cut = api.post('/v1/payments', webPayment).catch(() => {})
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
    await cut
  })

  // Uses the server of the tests before it, because another one costs a second.
  test('kill -9 of it loses no acknowledged change, and two instances continue without a restart', async t => {
    const url = await createPostgresDatabase(server.url)
    const crashing = { url, instances: 2, crash: server.crashAndRestart } as const
    const report = await crashUnder({ cycles: 1, seed }, crashing)
    t.diagnostic(JSON.stringify(report))
    assert.ok(report.unanswered > 0, 'the crashes hit requests in flight')
    assert.ok(report.messages > 0)
  })
})

test('A start without PostgreSQL ends with one line that says what to set', async t => {
  const silent = await listenUntilEnd(
    t,
    createServer(() => {}),
  )
  const wrongPassword = new URL(await createPostgresDatabase())
  wrongPassword.password = 'wrong'
  const noDatabase = new URL(wrongPassword)
  noDatabase.password = 'postgres'
  noDatabase.pathname = '/nowhere'

  const cases: [url: string, says: RegExp][] = [
    [`postgres://u:secret@127.0.0.1:${UNUSED_PORT}/d`, /^farthing: PostgreSQL cannot be reached: /],
    [`postgres://u:secret@localhost:${UNUSED_PORT}/d`, /^farthing: PostgreSQL cannot be reached: /],
    [`postgres://u:secret@127.0.0.1:${silent}/d`, /^farthing: PostgreSQL cannot be reached: /],
    [wrongPassword.href, /^farthing: PostgreSQL refuses: password authentication failed/],
    [noDatabase.href, /^farthing: PostgreSQL refuses: database "nowhere" does not exist/],
  ]
  await Promise.all(
    cases.map(async ([url, says]) => {
      const { code, stdout, stderr } = await runProcess({ env: { DATABASE_URL: url, PORT: '0' } })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, says)
      assert.match(stderr, /^[^\n]*DATABASE_URL[^\n]*\n$/, 'one line that says what to set')
      assert.doesNotMatch(stderr, /secret|wrong/, 'no password is shown')
    }),
  )
})
