import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import type { Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, createOnce } from '../../support/client.ts'
import { tempDatabase } from '../../support/folders.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { COMMAND } from '../../support/process.ts'
import { signalGroup } from '../../support/process-tree.ts'
import { closed, exchangeBytes, open, parseAnswer } from '../../support/raw-http.ts'
import { startReceiver } from '../../support/receiver.ts'
import { countPayments, KEY, serve } from './serve.ts'

/** The most milliseconds between two turns of the event loop, less than the grace of the service. */
const MOST_DELAY_MS = 300

const start = async (t: TestContext) => (await serve(t, tempDatabase())).service

/** A payment whose cancellation waits for a receiver that never responds: 4 seconds of the 9 that a stop waits. */
async function startHangingCancellation(t: TestContext) {
  const receiver = await startReceiver({ plain: true, onRequest: () => {} })
  t.after(() => receiver.close())
  const env = { FARTHING_CALLBACK_HOSTS: 'localhost', LOG_LEVEL: 'info' }
  const { service, api } = await serve(t, tempDatabase(), env)
  await api.post('/v1/webhooks', { callback_url: receiver.url })
  const cancelled = cancelledPayment(api)
  await receiver.next()
  return { service, cancelled }
}

/** Resolves once the service accepts no connection: only then do its responses close connections. */
async function refusal(baseUrl: string): Promise<void> {
  for (let code = ''; code !== 'ECONNREFUSED'; await pause(5))
    code = await open(baseUrl).then(
      socket => {
        socket.destroy()
        return ''
      },
      error => error.code,
    )
}

async function health(connection: Socket): Promise<number> {
  connection.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [bytes] = await once(connection, 'data')
  return parseAnswer(bytes).status
}

type Counts = { answered: number; ends: (number | string)[] }

/** Sends requests one after another on a kept-alive connection, until none can be opened. */
async function hammer(baseUrl: string, counts: Counts): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const create = () => createOnce(baseUrl, agent, KEY)
  let outcome = await create()
  for (; outcome === 201; outcome = await create()) counts.answered += 1
  counts.ends.push(outcome)
}

// This test runs alone. A client that was held up for longer than the half second of grace meets a closed connection.
// If this process was held up so, only the work of the service counts.
test('On SIGTERM the service responds to every request that was sent, and exits with 0', async t => {
  for (let tries = 0, longest = Infinity; longest > MOST_DELAY_MS && tries < 3; tries++) {
    const database = tempDatabase()
    const { service } = await serve(t, database)
    const counts: Counts = { answered: 0, ends: [] }
    const delay = monitorEventLoopDelay()
    delay.enable()
    const load = Array.from({ length: 64 }, () => hammer(service.baseUrl, counts))
    while (counts.answered < 500) await pause(5)
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
    await Promise.all(load)
    assert.equal(countPayments(database), counts.answered)
    await pause(50) // a delay counts once it is over
    delay.disable()
    longest = delay.max / 1e6
    if (longest > MOST_DELAY_MS) continue
    for (const end of counts.ends) assert.match(String(end), /ECONNREFUSED/)
  }
})

describe('On SIGTERM', { concurrency: true }, () => {
  test('to npm start the service stops, not npm alone', async t => {
    const npm = spawn('npm', ['start'], {
      env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: tempDatabase() },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true, // its own process group, so that the clean-up finds what npm may leave behind
    })
    t.after(() => signalGroup(npm.pid, 'SIGKILL'))
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('make a payment')) npm.kill('SIGTERM')
    })
    await once(npm, 'close')
    assert.match(output, /stopping: finishing what is in flight/)
  })

  test('deliveries to a receiver that hangs are finished', async t => {
    const { service, cancelled } = await startHangingCancellation(t)
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
    await cancelled
  })

  test('a second signal, unless of the same key press, ends the service at once with exit code 1', async t => {
    const { service, cancelled } = await startHangingCancellation(t)
    const cut = assert.rejects(cancelled)
    service.signal('SIGTERM')
    service.signal('SIGINT') // npm forwards a signal that the terminal has sent to both
    while (!service.output().includes('stopping')) await pause(5)
    const ended = await Promise.race([service.exited, pause(1_500)])
    assert.equal(ended, undefined, 'two signals at once are one')
    assert.deepEqual(await service.terminate(), { code: 1, signal: null })
    await cut
  })

  test('a request that arrives in the half second of grace is answered, although the service is held up for longer', async t => {
    for (let isInTime = false, tries = 0; !isInTime && tries < 5; tries++) {
      const service = await start(t)
      const connection = await open(service.baseUrl)
      assert.equal(await health(connection), 200)
      service.signal('SIGTERM')
      await refusal(service.baseUrl)
      service.signal('SIGSTOP')
      const status = Promise.race([health(connection), closed(connection)]).catch(() => undefined)
      await pause(1_000)
      isInTime = !connection.closed // if closed, this process was held up beyond the half second
      service.signal('SIGCONT')
      if (isInTime) assert.equal(await status, 200)
      assert.deepEqual(await service.exited, { code: 0, signal: null })
    }
  })

  test('the service responds on connections that it has not accepted yet; and readiness is 503 on one that is still open, and that response closes it', async t => {
    const service = await start(t)
    const connection = await open(service.baseUrl)
    const answer = async (): Promise<[status: number, connection: string | null]> => {
      const [bytes] = await once(connection, 'data')
      const { status, headers } = parseAnswer(bytes)
      return [status, headers.get('connection')]
    }
    connection.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.deepEqual(await answer(), [200, 'keep-alive'])
    // The request begins before the signal, because idle connections are closed then.
    connection.write('GET /readyz HTTP/1.1\r\n')
    service.signal('SIGSTOP') // the system goes on to establish connections
    const connections = await Promise.all(Array.from({ length: 20 }, () => open(service.baseUrl)))
    const answers = connections.map(health)
    service.signal('SIGTERM')
    service.signal('SIGCONT')
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]))
    await refusal(service.baseUrl)
    connection.write('Host: localhost\r\n\r\n')
    assert.deepEqual(await answer(), [503, 'close'])
    await closed(connection)
    assert.deepEqual(await service.exited, { code: 0, signal: null })
  })
})

test('A log that nobody reads delays neither requests nor the stop', async t => {
  const DATABASE_URL = tempDatabase()
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL, FARTHING_API_KEY: KEY }
  const child = spawn(process.execPath, [COMMAND], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  child.stdout.pause()
  const [baseUrl = ''] = /http:\S+/.exec(String(line)) ?? []
  const api = createClient([baseUrl], KEY)
  // More lines than the pipe and its buffers hold.
  const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
  const requests = [...Array(49).fill(request), `${request}Connection: close\r\n`, ''].join('\r\n')
  for (let i = 0; i < 80; i++) {
    const answers = String(await exchangeBytes(baseUrl, [requests]))
    assert.equal(answers.split('HTTP/1.1 200 ').length - 1, 50)
  }
  await api.createPayment()
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})
