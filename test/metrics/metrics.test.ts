import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { createClient } from '../support/client.ts'
import { tempDatabase } from '../support/folders.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { runProcess, startProcess } from '../support/process.ts'
import { exchangeBytes, open } from '../support/raw-http.ts'
import { startReceiver } from '../support/receiver.ts'

const KEY = 'key-of-the-default-account'
const METRICS = new URL('../../src/platform/metrics/metrics.ts', import.meta.url).href

async function start(t: TestContext, env: Record<string, string>) {
  const farthing = await startFarthing({
    config: readConfig({ PORT: '0', FARTHING_API_KEY: KEY, ...env }),
  })
  t.after(() => farthing.close())
  return { address: farthing.metricsUrl, api: createClient([farthing.url], KEY) }
}

/** The value of each time series, by its name and labels. */
async function read(address: string): Promise<Map<string, number>> {
  const answer = await fetch(address)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const lines = (await answer.text()).split('\n').filter(line => line && !line.startsWith('#'))
  return new Map(
    lines.map(line => {
      const space = line.lastIndexOf(' ')
      const value = Number(line.slice(space + 1))
      assert.ok(Number.isFinite(value), line)
      return [line.slice(0, space), value]
    }),
  )
}

for (const kind of ['sqlite', 'postgres'])
  test(`Requests, commits, attempts and the process are measured, and no label holds data (${kind})`, async t => {
    const began = performance.now()
    const receiver = await startReceiver({ plain: true })
    t.after(() => receiver.close())
    const host = `localhost:${receiver.port}`
    const { api, address = '' } = await start(t, {
      DATABASE_URL: kind === 'sqlite' ? tempDatabase() : await createPostgresDatabase(),
      FARTHING_CALLBACK_HOSTS: host,
      FARTHING_METRICS_PORT: '0',
    })
    await api.post('/v1/webhooks', { callback_url: `http://${host}/hook` })
    await api.post('/v1/webhooks', { callback_url: `http://${host}x/refused-later` })
    const payments = await Promise.all(Array.from({ length: 20 }, () => api.createPayment()))
    await api.post(`/v1/payments/${payments[0].payment_id}/cancel`)
    await api.get('/v1/payments/nothing-of-the-kind')
    await api.get('/no/such/path?token=secret')
    await api.get('/v1/payments//')

    const metrics = await read(address)
    const requests = (labels: string) => metrics.get(`farthing_http_requests_total{${labels}}`)
    assert.equal(requests('method="POST",route="/v1/payments",status="201"'), 20)
    assert.equal(requests('method="POST",route="/v1/payments/:payment_id/cancel",status="204"'), 1)
    assert.equal(requests('method="GET",route="/v1/payments/:payment_id",status="404"'), 1)
    assert.equal(requests('method="GET",route="none",status="404"'), 2)
    const durations = 'farthing_http_request_duration_seconds'
    const creates = 'method="POST",route="/v1/payments"'
    assert.equal(metrics.get(`${durations}_count{${creates}}`), 20)
    assert.equal(metrics.get(`${durations}_bucket{le="+Inf",${creates}}`), 20)
    assert.ok((metrics.get(`${durations}_sum{${creates}}`) ?? 0) > 0)
    assert.equal(metrics.get('farthing_webhook_attempts_total{result="2xx"}'), 1)
    const commits = metrics.get('farthing_commit_writes_count') ?? 0
    const writes = metrics.get('farthing_commit_writes_sum') ?? 0
    // A migration for each step, two webhooks at most, 20 payments, the cancel, its attempt, the record every 250 ms.
    const recorded = (performance.now() - began) / 250
    assert.ok(writes >= 24 && writes < 40 + recorded, `${writes} writes`)
    // On SQLite writes that meet share a commit.
    const most = kind === 'sqlite' ? commits <= writes : commits === writes
    assert.ok(commits > 0 && most, `${commits} commits`)
    assert.ok((metrics.get('process_resident_memory_bytes') ?? 0) > 10_000_000)
    assert.ok((metrics.get('process_cpu_seconds_total') ?? 0) > 0)
    assert.ok((metrics.get('farthing_event_loop_delay_p99_seconds') ?? 0) > 0)
    const names = [...metrics.keys()].join('\n')
    for (const { payment_id } of payments) assert.ok(!names.includes(payment_id))
    assert.doesNotMatch(names, /secret|nothing-of-the-kind/)
  })

test('Metrics have their own port, and are off unless it is set', async t => {
  const DATABASE_URL = tempDatabase()
  const service = await startProcess({ env: { DATABASE_URL, FARTHING_METRICS_PORT: '0' } })
  t.after(() => service.kill())
  while (!service.output().includes('make a payment')) await pause(5) // its last line at the start
  const address = /"metrics":"(http:[^"]+)"/.exec(service.output())?.[1] ?? ''
  assert.notEqual(new URL(address).port, new URL(service.baseUrl).port)
  assert.equal((await fetch(`${service.baseUrl}/metrics`)).status, 404)
  assert.equal((await fetch(address.replace('/metrics', '/v1/payments'))).status, 404)
  assert.equal((await fetch(address, { method: 'POST' })).status, 404)
  assert.deepEqual(await service.terminate(), { code: 0, signal: null })

  for (const env of [{}, { FARTHING_METRICS_PORT: '' }])
    assert.equal((await start(t, { DATABASE_URL: 'sqlite::memory:', ...env })).address, undefined)
})

test('A start ends with one line if the metrics port is in use', async t => {
  const port = await listenUntilEnd(t, createServer())
  const env = { DATABASE_URL: 'sqlite::memory:', PORT: '0', FARTHING_METRICS_PORT: String(port) }
  const { code, stdout, stderr } = await runProcess({ env })
  assert.deepEqual([code, stdout], [1, ''])
  const says = /^farthing: FARTHING_METRICS_PORT \d+ on 127\.0\.0\.1 is in use: set another one\n$/
  assert.match(stderr, says)
})

test('Two instances in one process count apart, and a process ends by itself once its metrics are closed', async () => {
  const [one, two] = [createMetrics(), createMetrics()]
  one.committed(3)
  const addresses = [await one.listen('127.0.0.1', 0), await two.listen('127.0.0.1', 0)]
  const counts = await Promise.all(
    addresses.map(async address => (await read(address)).get('farthing_commit_writes_count')),
  )
  assert.deepEqual(counts, [1, 0])
  one.close()
  two.close()
  const code = `const { createMetrics } = await import(${JSON.stringify(METRICS)})
const metrics = createMetrics()
await fetch(await metrics.listen('127.0.0.1', 0)).then(response => response.text())
metrics.close()`
  // An open server or connection would keep the process alive.
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code])
})

test('The metrics port has the time limits of the service and takes at most 100 connections', async t => {
  const metrics = createMetrics()
  t.after(() => metrics.close())
  const address = await metrics.listen('127.0.0.1', 0)
  assert.equal((await fetch(address)).headers.get('keep-alive'), 'timeout=30')
  assert.match(String(await exchangeBytes(address, ['nonsense\r\n\r\n'])), /^HTTP\/1\.1 400 /)
  const opened = Array.from({ length: 110 }, async () => (await open(address)).resume())
  const sockets = await Promise.all(opened)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  while (sockets.filter(socket => socket.closed).length < 10) await pause(5)
})
