import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import {
  HEADERS_MS,
  PIPELINED,
  PIPELINED_IN_ALL,
  REQUEST_MS,
  REQUESTS_IN_PROGRESS,
  REQUESTS_OF_ACCOUNT,
} from '../../../src/core/budgets.ts'
import { createHttpServer } from '../../../src/platform/http/connections.ts'
import { createOnce, webPayment } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { createGate } from '../../support/gate.ts'
import { resultOf } from '../../support/held-send.ts'
import { closed, open } from '../../support/raw-http.ts'
import { startService } from '../../support/service.ts'
import { KEY, serve } from './serve.ts'
import { inParallel } from './workload.ts'

/** The service in this process, with gates before its writes and its deliveries. */
async function startGated(t: TestContext) {
  const [writes, sends] = [createGate(), createGate()]
  const service = await startService('sqlite', {
    // Without the recorder: its writes would wait at the gate too, and be counted.
    env: { DATABASE_URL: 'sqlite::memory:', FARTHING_CONSOLE: 'false' },
    ports: real => ({
      database: {
        ...real.database,
        write: statements => writes.wait().then(() => real.database.write(statements)),
      },
    }),
    send: () => sends.wait().then(() => resultOf(200)),
  })
  const { headersTimeout, requestTimeout } = createHttpServer(() => {})
  assert.deepEqual([headersTimeout, requestTimeout], [HEADERS_MS, REQUEST_MS])
  const { server } = service.apps[0]?.server ?? assert.fail('it has one')
  server.setTimeout(0) // a busy machine may be silent for longer
  t.after(async () => {
    for (const gate of [writes, sends]) gate.open()
    await service.stop()
  })
  return { api: await service.newAccount(), baseUrl: service.baseUrl, server, writes, sends }
}

const headOf = (key: string | undefined, length: number): string =>
  `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** Sends creates, each on its own connection. `statuses` fills with the statuses of the responses as they come. */
function sendCreates(baseUrl: string, key: string | undefined) {
  const body = JSON.stringify(webPayment)
  const head = headOf(key, body.length)
  const sockets: Socket[] = []
  const statuses: string[] = []
  return {
    sockets,
    statuses,
    async send(text = body) {
      const socket = await open(baseUrl)
      socket.once('data', bytes => statuses.push(bytes.toString('latin1', 9, 12)))
      socket.write(head + text)
      sockets.push(socket)
    },
  }
}

test('Beyond 800 requests in progress of an account, without those whose clients have left and those that wait for a webhook receiver, the next is 503 with Retry-After, and health checks are still 200', async t => {
  const { api, baseUrl, writes, sends } = await startGated(t)
  const hook = { callback_url: 'https://hooks.example.org/all' }
  assert.equal((await api.post('/v1/webhooks', hook)).status, 201)
  const payments = await Promise.all(Array.from({ length: 20 }, () => api.createPayment()))
  const page = payments[0]._links.next_url.href
  const late = await open(baseUrl)
  late.write(headOf(api.key, 2))

  const left = sendCreates(baseUrl, api.key)
  writes.close()
  for (let nth = 1; nth <= 20; nth++) {
    await left.send('{"amount":')
    await left.send()
  }
  while (writes.waiting() < 20) await pause(5)
  for (const socket of left.sockets) socket.destroy()
  await Promise.all(left.sockets.map(socket => closed(socket)))
  writes.open()
  while (writes.waiting() > 0) await pause(5)

  sends.close()
  const cancelling = payments.map(({ payment_id }) => api.post(`/v1/payments/${payment_id}/cancel`))
  while (sends.waiting() < payments.length) await pause(5)

  const taken = sendCreates(baseUrl, api.key)
  writes.close()
  while (taken.sockets.length < REQUESTS_OF_ACCOUNT) {
    await Promise.all(Array.from({ length: 100 }, () => taken.send()))
    while (writes.waiting() < taken.sockets.length) {
      assert.deepEqual(taken.statuses, [], 'none is refused')
      await pause(5)
    }
  }

  let answered = false
  const next = api.post('/v1/payments', webPayment).finally(() => {
    answered = true
  })
  while (!answered) {
    assert.equal(
      writes.waiting(),
      REQUESTS_OF_ACCOUNT,
      'the next request is refused and does not wait',
    )
    await pause(5)
  }
  const refused = await next
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.body.code, 'P0999')
  assert.deepEqual(Object.keys(refused.body).sort(), ['code', 'description'])
  late.write('{}')
  const [bytes] = await once(late, 'data')
  assert.match(String(bytes), /^HTTP\/1\.1 503 /, 'a request counts once its body has arrived')
  late.destroy()
  const shown = await api.get(page)
  assert.equal(shown.status, 503)
  assert.match(shown.headers.get('content-type') ?? '', /^text\/html/)
  assert.equal((await api.get('/healthz')).status, 200)
  assert.equal((await api.get('/readyz')).status, 200)

  for (const gate of [writes, sends]) gate.open()
  while (taken.statuses.length < REQUESTS_OF_ACCOUNT) await pause(5)
  assert.deepEqual(new Set(taken.statuses), new Set(['201']))
  for (const socket of taken.sockets) socket.destroy()
  const statuses = (await Promise.all(cancelling)).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([204]))
  await api.createPayment()
  const made = payments.length + left.sockets.length / 2 + REQUESTS_OF_ACCOUNT + 1
  assert.equal((await api.get('/v1/payments')).body.total, made)
})

test('Beyond 10,000 requests that wait for the one before them a connection is closed', async t => {
  const { api, baseUrl, writes } = await startGated(t)
  const body = JSON.stringify(webPayment)
  const bytes = headOf(api.key, body.length) + body
  const waiting = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(PIPELINED)
  writes.close()
  const sockets: Socket[] = []
  let ended = 0
  while (ended === 0 && sockets.length < (2 * PIPELINED_IN_ALL) / PIPELINED) {
    const socket = await open(baseUrl)
    socket.on('close', () => {
      ended += 1
    })
    socket.write(bytes + waiting)
    sockets.push(socket)
    await api.get('/healthz')
  }
  assert.equal(ended, 1)
  assert.ok(sockets.length > PIPELINED_IN_ALL / PIPELINED, `${sockets.length} connections`)
  for (const socket of sockets) socket.destroy()
})

test('2,500 creates at once are 201 or 503, none is cut off, and afterwards all are 201', async t => {
  const { service, api } = await serve(t, tempDatabase())
  const agent = new http.Agent({ keepAlive: true })
  const outcomes = await Promise.all(
    Array.from({ length: 2_500 }, () => createOnce(service.baseUrl, agent, KEY)),
  )
  agent.destroy()
  const created = outcomes.filter(outcome => outcome === 201).length
  t.diagnostic(`${created} times 201`)
  const others = outcomes.filter(outcome => outcome !== 201 && outcome !== 503)
  assert.deepEqual(others, [])
  await inParallel(outcomes.slice(0, 50), async () => void (await api.createPayment()))
  assert.equal((await api.get('/v1/payments')).body.total, created + 50)
})

test('More slow clients than the limit delay nobody, and get 408', async t => {
  const { api, baseUrl, server } = await startGated(t)
  const head = headOf(api.key, 5_000)
  const beginnings = [head.slice(0, -10), ...Array(REQUESTS_IN_PROGRESS + 1).fill(`${head}{"`)]
  const connect = async (beginning: string) => {
    const socket = await open(baseUrl)
    socket.write(beginning)
    return socket
  }
  const silent = await Promise.all(beginnings.map(connect))
  const answers = silent.map(socket => text(socket))
  const dripping = await Promise.all(beginnings.slice(0, 2).map(connect))
  const drip = () => {
    for (const socket of dripping) socket.resume().write('x')
  }
  const drips = setInterval(drip, 100)
  t.after(() => clearInterval(drips))
  for (let i = 0; i < 30; i++) await api.createPayment()
  assert.ok([...silent, ...dripping].every(({ closed }) => !closed))
  Object.assign(server, { headersTimeout: 1_000, requestTimeout: 1_000 })
  for (const answer of answers) assert.match(await answer, /^HTTP\/1\.1 408 /)
  await Promise.all(dripping.map(closed))
})

test('The log says once a minute how many connections were closed because too many are open', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const lines: string[] = []
  const farthing = await startFarthing({
    config: readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:' }),
    logger: pino({ level: 'warn' }, { write: line => lines.push(JSON.parse(line).msg) }),
    backgroundWork: false,
  })
  t.after(() => farthing.close())
  farthing.app.server.server.maxConnections = 0
  const refuse = async () => closed((await open(farthing.url)).resume())
  const lineOf = (count: number) =>
    `connections were closed as they came: ${count}, because too many are open`
  await Promise.all([refuse(), refuse(), refuse()])
  t.mock.timers.tick(1_000)
  await refuse()
  t.mock.timers.tick(59_000)
  assert.deepEqual(lines, [lineOf(3)])
  t.mock.timers.tick(1_000)
  assert.deepEqual(lines, [lineOf(3), lineOf(1)])
})
