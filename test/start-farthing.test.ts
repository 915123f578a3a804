import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/app/start.ts'
import type { Ports, Value } from '../src/core/ports.ts'
import { createKey } from '../src/platform/accounts/store.ts'
import { createClient } from './support/client.ts'
import { tempDatabase } from './support/folders.ts'
import { openAt } from './support/open-database.ts'
import { freePort, isListening } from './support/ports.ts'
import { open } from './support/raw-http.ts'
import { startReceiver } from './support/receiver.ts'
import { gated } from './support/subscriber.ts'

function start(env: Record<string, string> = {}, ports?: (real: Ports) => Ports) {
  const config = readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:', ...env })
  return startFarthing({ config, onFatal: assert.ifError, ...(ports && { ports }) })
}

type Answer = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void

test('HOST=localhost is one address, also where the name has two, and stops like any other', async t => {
  // Node and Fastify look addresses up here. For two addresses Fastify would open a server each.
  const { lookup } = dns
  const both = ['127.0.0.1', '127.0.0.2'].map(address => ({ address, family: 4 }))
  t.mock.method(dns, 'lookup', (...args: [string, dns.LookupAllOptions, Answer]) => {
    if (args[0] === 'localhost') args[2](null, both)
    else lookup(...args)
  })
  const farthing = await start({ HOST: 'localhost' })
  const port = Number(new URL(farthing.url).port)
  const reach = async (address: string) => {
    const socket = connect(port, address)
    await once(socket, 'connect')
    socket.destroy()
  }
  try {
    assert.equal(farthing.url, `http://localhost:${port}`)
    await reach('127.0.0.1')
    await assert.rejects(reach('127.0.0.2'), { code: 'ECONNREFUSED' })
  } finally {
    await farthing.close()
  }
  await assert.rejects(reach('127.0.0.1'), { code: 'ECONNREFUSED' })
})

test('A service does not listen before the webhook of FARTHING_WEBHOOK_URL is there', async t => {
  const port = await freePort()
  const env = {
    FARTHING_WEBHOOK_URL: 'http://localhost:9/hook',
    FARTHING_SIGNING_KEY: 'a signing key of our own',
  }
  const reached: boolean[] = []
  const asking = ({ database, ...others }: Ports): Ports => ({
    ...others,
    database: {
      ...database,
      async write(statements) {
        if (statements.some(({ values }) => `${values}`.includes(env.FARTHING_WEBHOOK_URL)))
          reached.push(await isListening(port))
        return database.write(statements)
      },
    },
  })
  const farthing = await start({ ...env, PORT: `${port}` }, asking)
  t.after(() => farthing.close())
  assert.deepEqual([...reached, await isListening(port)], [false, true])
})

test('A stop waits for the delivery whose client has gone away, and records how it ended', async t => {
  const gate = gated(t)
  const receiver = await startReceiver({ plain: true, ...gate.behaviour })
  t.after(() => receiver.close())
  const FARTHING_API_KEY = 'key-of-the-default-account'
  const DATABASE_URL = tempDatabase()
  const FARTHING_CALLBACK_HOSTS = `localhost:${receiver.port}`
  const own = { LOG_LEVEL: 'silent', FARTHING_API_KEY, FARTHING_CALLBACK_HOSTS }
  const farthing = await start({ DATABASE_URL, ...own })
  const api = createClient([farthing.url], FARTHING_API_KEY)
  await api.post('/v1/webhooks', { callback_url: receiver.url })
  const { payment_id } = await api.createPayment()
  const client = await open(farthing.url)
  client.write(
    `POST /v1/payments/${payment_id}/cancel HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n\r\n`,
  )
  await receiver.next()
  client.destroy()
  const stopping = farthing.close().then(() => 'stopped')
  // Longer than a stop waits for the connections that are kept.
  assert.equal(await Promise.race([stopping, setTimeout(700, 'waiting')]), 'waiting')
  gate.open()
  await stopping

  const database = await openAt(DATABASE_URL)
  t.after(() => database.close())
  const messages = await database.query('select status from webhook_messages')
  assert.deepEqual(messages, [{ status: 'SUCCESSFUL' }])
})

/** The resources that keep the event loop alive, by kind. Standard streams and the test runner stay the same. */
const resources = () => process.getActiveResourcesInfo().sort()

/** The resources after closing sockets have gone: Node takes some turns of the event loop for that. */
const resourcesAtRest = async () => {
  const closing = () => resources().some(name => name.startsWith('TCP') || name === 'Immediate')
  for (let waits = 0; waits < 500 && closing(); waits++) await setTimeout(10)
  return resources()
}

test('A stop waits for the statements of the background work before it closes the database', async () => {
  let underway = 0
  const slow = ({ database, ...others }: Ports): Ports => {
    async function query<Row>(sql: string, values?: Value[]): Promise<Row[]> {
      underway++
      await setTimeout(50)
      return database.query<Row>(sql, values).finally(() => underway--)
    }
    return { ...others, database: { ...database, query } }
  }
  const farthing = await start({}, slow)
  while (underway === 0) await setImmediate()
  await farthing.close()
  assert.equal(underway, 0)
})

test('Closing leaves no timer, thread, socket or listener behind, and does not touch the logger', async () => {
  const logger = pino({ level: 'warn' }, { write() {} })
  const env = { FARTHING_METRICS_PORT: '0', LOG_LEVEL: 'debug', DATABASE_URL: tempDatabase() }
  const config = readConfig({ ...env, PORT: '0' })
  const events = [...process.eventNames(), 'exit', 'uncaughtException', 'SIGTERM', 'SIGINT']
  const listeners = () => events.map(event => process.listenerCount(event))
  const startLogging = () => startFarthing({ config, logger })
  await (await startLogging()).close() // what is loaded once stays
  const before = { resources: await resourcesAtRest(), listeners: listeners() }

  const farthing = await startLogging()
  const api = createClient([farthing.url], (await createKey(farthing.ports, 'default')).key)
  await api.createPayment()
  assert.notDeepEqual(resources(), before.resources)
  await farthing.close()
  assert.deepEqual({ resources: await resourcesAtRest(), listeners: listeners() }, before)
  assert.equal(logger.level, 'warn')
})

test('Closing does not wait for idle keep-alive connections', { timeout: 20_000 }, async () => {
  const farthing = await start()
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open(farthing.url)))
  for (const socket of sockets) {
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
  }
  const ended = Promise.all(sockets.map(socket => once(socket, 'close')))
  // Idle connections would be closed only after 30 s.
  await farthing.close()
  await ended
})
