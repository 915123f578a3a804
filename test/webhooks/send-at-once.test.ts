/** How many messages are sent at once. One test after another, because so many connections delay each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { type Account, newAccount } from '../../src/core/account.ts'
import { createNewId } from '../../src/core/ids.ts'
import type { Database } from '../../src/core/ports.ts'
import { createSignals } from '../../src/core/signal.ts'
import { createTime } from '../../src/core/time.ts'
import { listenerAddress, NOBODY_LISTENS } from '../../src/pay/webhooks/listener.ts'
import { withListeners } from '../../src/tools/deliver/listeners.ts'
import { type Behaviour, postTo } from '../support/receiver.ts'
import { HOSTS, loopbackSend, receiverThat } from '../support/sending.ts'
import { holdAttempts, holdWork } from '../support/time.ts'

const nothing = async () => {}

const account = newAccount('tests')
const child = { ...newAccount('tests.1'), parent: 'tests' }

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'

test('Requests beyond 64 to a host wait in a queue, delay no other host, and open no connection if they time out there.', async () => {
  const receiver = await receiverThat({ onRequest: nothing, plain: true })
  const send = loopbackSend()
  const message = postTo(receiver.url)
  const slow = Array.from({ length: 64 }, () => send({ ...message, timeout: 60_000 }))
  const waiting = Array.from({ length: 6 }, () => send(message))
  const other = await receiverThat({ plain: true })
  const elsewhere = await send(postTo(`http://receiver.test:${other.port}/`))
  assert.equal(elsewhere.result, '200 OK', 'another host is not held up')
  assert.ok((await Promise.all(waiting)).every(({ result }) => result === 'timeout'))
  while (receiver.connections() < 64) await setTimeout(10)
  assert.equal(receiver.connections(), 64)
  await receiver.close()
  await Promise.all(slow)
  assert.equal(receiver.connections(), 64)
})

test('A queued request is sent when a slot is free, and its response_time starts then.', async () => {
  const pause = 100
  const receiver = await receiverThat({
    onRequest: ({ response }) => setTimeout(pause).then(() => response.end()),
    plain: true,
  })
  const send = loopbackSend()
  const waits: number[] = []
  const began = performance.now()
  const outcomes = await Promise.all(
    Array.from({ length: 70 }, async () => {
      const outcome = await send({ ...postTo(receiver.url), timeout: 60_000 })
      waits.push(performance.now() - began - (outcome.response_time ?? 0))
      return outcome
    }),
  )
  assert.ok(outcomes.every(({ result }) => result === '200 OK'))
  assert.equal(receiver.requests.length, 70)
  assert.ok(waits.filter(wait => wait >= pause).length >= 70 - 64)
})

test('Every kind of failure releases its slot.', async () => {
  const failing: [result: string, behaviour: Behaviour][] = [
    ['101 Switching Protocols', { onRequest: by => by.socket.write(SWITCHING), plain: true }],
    ['connection failed', { onRequest: ({ socket }) => socket.destroy(), plain: true }],
    ['connection failed', { refuses: true }],
    ['tls failed', { certificate: 'expired' }],
  ]
  for (const [result, behaviour] of failing) {
    const receiver = await receiverThat(behaviour)
    const send = loopbackSend()
    for (let sent = 0; sent < 70; sent += 1) {
      assert.equal((await send(postTo(receiver.url))).result, result)
    }
  }
})

test('A look-up that never ends is a timeout, and its late result opens no connection.', async () => {
  const receiver = await receiverThat()
  let answer: (addresses: string[]) => void = () => assert.fail('no look-up')
  const send = loopbackSend(() => new Promise(resolve => (answer = resolve)))
  const started = performance.now()
  const sending = send(postTo(receiver.url))
  assert.deepEqual(await sending, {
    status: 'FAILED',
    status_code: null,
    response_time: null,
    result: 'timeout',
  })
  assert.ok(performance.now() - started > 1950)
  answer(['127.0.0.1'])
  await setTimeout(100)
  assert.equal(receiver.connections(), 0)
})

test('An account sends at most 192 messages to many hosts at once, and its hosts keep no other account waiting.', async () => {
  const receiver = await receiverThat({ onRequest: nothing, plain: true })
  const send = loopbackSend()
  const hanging = HOSTS.flatMap(host =>
    Array.from({ length: 60 }, (_, i) =>
      send({
        ...postTo(`http://${host}:${receiver.port}/`),
        account: i % 2 ? account : child,
        timeout: 60_000,
      }),
    ),
  )
  const other = await receiverThat({ plain: true })
  for (const host of HOSTS) {
    const message = postTo(`http://${host}:${other.port}/`)
    const { result } = await send({ ...message, account: newAccount('others') })
    assert.equal(result, '200 OK')
  }
  while (receiver.connections() < 192) await setTimeout(10)
  assert.equal(receiver.connections(), 192)
  send.close()
  await receiver.close()
  await Promise.all(hanging)
})

test('All hosts together get at most 256 requests at once; the others wait and are sent.', async t => {
  // A slow machine needs longer for so many messages than a message may wait.
  holdWork(t)
  holdAttempts(t)
  let open = 0
  let most = 0
  const receiver = await receiverThat({
    onRequest: ({ response }) => {
      most = Math.max(most, ++open)
      setTimeout(50).then(() => {
        open -= 1
        response.end()
      })
    },
    plain: true,
  })
  const send = loopbackSend()
  const outcomes = await Promise.all(
    HOSTS.flatMap((host, i) =>
      Array.from({ length: 60 }, () =>
        send({
          ...postTo(`http://${host}:${receiver.port}/`),
          account: newAccount(`account ${i % 2}`),
        }),
      ),
    ),
  )
  assert.ok(most <= 256, `${most} requests at once`)
  assert.ok(outcomes.every(({ result }) => result === '200 OK'))
})

/** Sends for `listeners` of the account. A write waits for the test. Every attempt is taken and not answered. */
function listening() {
  const writes: ((isWritten: boolean) => void)[] = []
  let queries = 0
  const database = {
    write: () => new Promise<boolean>(resolve => writes.push(resolve)),
    async query() {
      queries += 1
      return [{ taken: 1, answer: null, listening_until: Infinity }]
    },
  } as unknown as Database // no more is used
  const watch = { join: () => () => {} }
  const ports = { database, time: createTime(), newId: createNewId(), signals: createSignals() }
  const send = withListeners(loopbackSend(), { ...ports, watch })
  const to = (account: Account, webhook_id: string) =>
    send({
      ...postTo(listenerAddress(webhook_id)),
      account,
      webhook_id,
      message_id: 'a message',
    })
  return { writes, to, queries: () => queries }
}
test('A listener has 64 at once, an account with its test accounts 256, and another account is not held up.', async t => {
  holdAttempts(t)
  const { writes, to } = listening()
  const outcomes = Array.from({ length: 65 }, () => to(account, 'a'))
  await setImmediate()
  assert.equal(writes.length, 64)
  writes[0]?.(false)
  assert.equal((await outcomes[0])?.result, NOBODY_LISTENS)
  await setImmediate()
  assert.equal(writes.length, 65)
  for (let i = 0; i < 300; i++) outcomes.push(to(i % 2 ? account : child, `${i % 10}`))
  await setImmediate()
  assert.equal(writes.length, 257)
  outcomes.push(to(newAccount('others'), 'b'))
  await setImmediate()
  assert.equal(writes.length, 258)
  for (let ended = 0; ended < writes.length; await setImmediate())
    while (ended < writes.length) writes[ended++]?.(false)
  const results = await Promise.all(outcomes)
  assert.ok(results.every(({ result }) => result === NOBODY_LISTENS))
})

test('An attempt for a listener that nobody answers is offered, and withdrawn when its time is over, without a read.', async () => {
  const { writes, to, queries } = listening()
  const outcome = to(account, 'a')
  await setImmediate()
  writes[0]?.(true)
  while (writes.length < 2) await setTimeout(10)
  writes[1]?.(true)
  assert.equal((await outcome).result, 'timeout')
  assert.equal(queries(), 0)
})

test('An attempt for a listener that is taken at the moment at which its time is over ends all the same.', async () => {
  const { writes, to } = listening()
  const outcome = to(account, 'a')
  await setImmediate()
  writes[0]?.(true)
  for (const isDeleted of [false, true]) {
    const count = writes.length
    while (writes.length === count) await setTimeout(10)
    writes[count]?.(isDeleted)
  }
  assert.equal((await outcome).result, 'timeout')
})
