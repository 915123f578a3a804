import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { createKey } from '../../../src/accounts/store.ts'
import { createApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { MOST_AT_WORK } from '../../../src/http/limits.ts'
import { createNewId } from '../../../src/ids.ts'
import type { Database, Ports, Send } from '../../../src/ports.ts'
import { type Answer, createClient, webPayment } from '../../support/client.ts'
import { startProcess } from '../../support/process.ts'
import { open } from '../../support/raw-http.ts'
import { drip, openSocket, slowRequests } from './slow-client.ts'
import { inParallel } from './workload.ts'

const KEY = 'key-of-the-default-account'
const pause = (ms: number) => new Promise<undefined>(resolve => setTimeout(resolve, ms, undefined))

type Gate = { wait(): Promise<void>; close(): void; open(): void; waiting(): number }

/** Lets everybody pass until it is closed, and all of them once it is opened again. */
function createGate(): Gate {
  let passage = Promise.withResolvers<void>()
  passage.resolve()
  let waiting = 0
  return {
    close: () => {
      passage = Promise.withResolvers()
    },
    open: () => passage.resolve(),
    waiting: () => waiting,
    async wait() {
      waiting += 1
      await passage.promise
      waiting -= 1
    },
  }
}

/** The application in this process, with gates before its reads, its writes and its webhooks. */
async function startGated(t: TestContext) {
  const config = readConfig({ DATABASE_URL: 'sqlite::memory:' })
  const onError = (error: unknown) => assert.fail(String(error))
  const options = { onUnknownOutcome: onError, onConnectionError: onError }
  const real = await openDatabase(config.database, options)
  const [reads, writes, sends] = [createGate(), createGate(), createGate()]
  const slowness = { ms: 0 }
  const database: Database = {
    ...real,
    query(sql, values) {
      const until = performance.now() + slowness.ms
      while (performance.now() < until); // holds the thread up, as work does
      return reads.wait().then(() => real.query(sql, values))
    },
    write: statements => writes.wait().then(() => real.write(statements)),
  }
  const send: Send = async () => {
    await sends.wait()
    return { status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }
  }
  const ports: Ports = {
    database,
    clock: Date.now,
    newId: createNewId(),
    resolve: async () => [],
    send,
  }
  const app = await createApp(ports, config)
  const baseUrl = await app.server.listen({ port: 0, host: '127.0.0.1' })
  t.after(async () => {
    for (const gate of [reads, writes, sends]) gate.open()
    await app.server.close()
    await real.close()
  })
  const { key } = await createKey(ports, 'default')
  return { api: createClient([baseUrl], key), baseUrl, reads, writes, sends, slowness }
}

describe('Beyond capacity', () => {
  test('requests are 503 with Retry-After, pages too; what was taken is answered, then all is well', async t => {
    const { api, baseUrl, writes } = await startGated(t)
    const page = (await api.createPayment())._links.next_url.href
    // What no endpoint has is answered early, and must not be counted half.
    for (let i = 0; i < 20; i++) assert.equal((await api.get('/v1/nowhere')).status, 404)
    const late = await open(baseUrl)
    late.write(
      `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\nContent-Length: 2\r\n\r\n`,
    )
    writes.close()
    const taken: Promise<Answer>[] = []
    while (taken.length < MOST_AT_WORK) {
      // Not all at once: that could be too much for one turn of the event loop.
      for (let i = 0; i < 100; i++) taken.push(api.post('/v1/payments', webPayment))
      while (writes.waiting() < taken.length) await pause(5)
    }

    const refused = await Promise.race([api.post('/v1/payments', webPayment), pause(10_000)])
    assert.ok(refused, 'not one more is taken')
    assert.equal(refused.status, 503)
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal(refused.body.code, 'P0999')
    assert.deepEqual(Object.keys(refused.body).sort(), ['code', 'description'])
    late.write('{}')
    assert.match(String(await once(late, 'data')), /^HTTP\/1\.1 503 /, 'nor whose body is late')
    late.destroy()
    const shown = await api.get(page)
    assert.equal(shown.status, 503)
    assert.match(shown.headers.get('content-type') ?? '', /^text\/html/)
    assert.equal((await api.get('/healthz')).status, 200)
    assert.equal((await api.get('/readyz')).status, 200)

    writes.open()
    const statuses = (await Promise.all(taken)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([201]))
    await api.createPayment()
    assert.equal((await api.get('/v1/payments')).body.total, MOST_AT_WORK + 2)
  })

  test('requests whose path no endpoint has wait for their key in the same places', async t => {
    const { api, reads } = await startGated(t)
    reads.close()
    const keys = Array.from({ length: MOST_AT_WORK + 100 }, (_, i) => `not-a-key-${i}`)
    const answers: Promise<Answer>[] = []
    for (let i = 0; i < keys.length; i += 100) {
      for (const key of keys.slice(i, i + 100))
        answers.push(api.get('/v1/nowhere', { Authorization: `Bearer ${key}` }))
      while (reads.waiting() < Math.min(answers.length, MOST_AT_WORK)) await pause(5)
    }
    await Promise.all(answers.slice(MOST_AT_WORK))
    assert.equal(reads.waiting(), MOST_AT_WORK)
    reads.open()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 401).length, MOST_AT_WORK)
    assert.equal(statuses.filter(status => status === 503).length, 100)
  })

  test('requests that grew old before they were seen are 503', async t => {
    const { api, baseUrl, slowness } = await startGated(t)
    const { payment_id } = await api.createPayment()
    const sockets = await Promise.all(Array.from({ length: 500 }, () => openSocket(baseUrl)))
    const request = `GET /v1/payments/${payment_id} HTTP/1.1\r\nHost: farthing.test\r\nAuthorization: Bearer ${api.key}\r\n`
    for (const socket of sockets) socket.write(`${request}\r\n`)
    // Once each connection was answered it has been accepted, and one turn of the loop finds them all.
    await Promise.all(sockets.map(socket => once(socket, 'readable')))
    for (const socket of sockets) socket.read()
    slowness.ms = 10
    for (const socket of sockets) socket.write(`${request}Connection: close\r\n\r\n`)
    const answers = await Promise.all(sockets.map(text))
    slowness.ms = 0
    const refused = answers.filter(answer => answer.startsWith('HTTP/1.1 503 '))
    t.diagnostic(`${refused.length} of ${answers.length} refused`)
    assert.ok(refused.length > 0)
    for (const answer of refused) assert.match(answer, /^retry-after: 1\r$/im)
    const read = answers.filter(answer => answer.startsWith('HTTP/1.1 200 '))
    assert.equal(read.length, answers.length - refused.length)
    assert.ok(read.length > 50, 'as many as can be done are done')
    await api.createPayment()
  })

  test('requests that wait for a receiver that hangs take nobody a place', async t => {
    const { api, sends } = await startGated(t)
    const hook = { callback_url: 'https://hooks.example.org/all' }
    assert.equal((await api.post('/v1/webhooks', hook)).status, 201)
    const payments = Array.from({ length: MOST_AT_WORK + 1 }, (_, i) => i)
    const ids: string[] = []
    await inParallel(payments, async () => {
      ids.push((await api.createPayment()).payment_id)
    })
    sends.close()
    const cancelling = ids.map(id => api.post(`/v1/payments/${id}/cancel`))
    while (sends.waiting() < ids.length) await pause(5)
    await api.createPayment()
    sends.open()
    const statuses = (await Promise.all(cancelling)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([204]))
  })
})

async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-overload-'))
  const DATABASE_URL = `sqlite:${join(folder, 'farthing.db')}`
  const env = { DATABASE_URL, FARTHING_API_KEY: KEY, LOG_LEVEL: 'warn' }
  const service = await startProcess({ env })
  t.after(async () => {
    await service.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  return { service, api: createClient([service.baseUrl], KEY) }
}

test('2,500 creates at once are 201 or 503, none is cut off, and 2 seconds later all are 201', async t => {
  const { api } = await start(t)
  for (let i = 0; i < 50; i++) await api.createPayment()
  const answers: Answer[] = await Promise.all(
    Array.from({ length: 2_500 }, () => api.post('/v1/payments', webPayment)),
  )
  const count = (status: number) => answers.filter(answer => answer.status === status).length
  t.diagnostic(`${count(201)} times 201, ${count(503)} times 503`)
  assert.equal(count(201) + count(503), answers.length)
  await pause(2_000)
  await inParallel(answers.slice(0, 200), async () => void (await api.createPayment()))
  assert.equal((await api.get('/v1/payments')).body.total, count(201) + 250)
})

test('more slow clients than there are places hold nobody up, and are cut off with 408', async t => {
  const { service, api } = await start(t)
  const slow = slowRequests(KEY).map(text =>
    Promise.all(Array.from({ length: MOST_AT_WORK + 50 }, () => drip(service.baseUrl, text))),
  )
  await pause(500) // until they are connected
  const waits: number[] = []
  const until = performance.now() + 3_500
  while (performance.now() < until) {
    const before = performance.now()
    await api.createPayment()
    waits.push(performance.now() - before)
  }
  const slowest = Math.max(...waits)
  t.diagnostic(`${waits.length} creates meanwhile, the slowest in ${Math.round(slowest)} ms`)
  assert.ok(slowest < 2_000, `${slowest} ms`)
  const [headers = [], bodies = []] = await Promise.all(slow)
  for (const { answer } of [...headers, ...bodies]) assert.match(answer, /^HTTP\/1\.1 408 /)
  const latest = (of: { ms: number }[]) => Math.max(...of.map(({ ms }) => ms))
  assert.ok(latest(headers) < 14_000, `headers: ${latest(headers)} ms`)
  assert.ok(latest(bodies) < 19_000, `bodies: ${latest(bodies)} ms`)
})
