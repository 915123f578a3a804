import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Resolve } from '../../src/core/ports.ts'
import { parseAllowedHosts } from '../../src/platform/outbound/address.ts'
import { type ClosableSend, createSend } from '../../src/platform/outbound/send.ts'
import { authority } from '../support/certificates.ts'
import { misbehaviours } from '../support/misbehaviours.ts'
import { closed } from '../support/raw-http.ts'
import { type Behaviour, postTo, type Receiver, startReceiver } from '../support/receiver.ts'

const open: { close(): unknown }[] = []
after(async () => {
  for (const each of open) await each.close()
})

const HOSTS = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test']

/** Resolves every name to loopback. The hosts `localhost` and `receiver.test` and five more are exempt from the address rule. */
function loopbackSend(resolve: Resolve = async () => ['127.0.0.1']): ClosableSend {
  const allowed = parseAllowedHosts(['localhost, receiver.test', ...HOSTS].join()).hosts
  const send = createSend({ resolve, allowed, ca: authority, userAgent: 'Farthing/1.2.3' })
  open.push(send)
  return send
}

async function receiverThat(behaviour: Behaviour = {}): Promise<Receiver> {
  const receiver = await startReceiver(behaviour)
  open.push(receiver)
  return receiver
}

/**
 * A receiver whose thread is blocked for a second and whose accept backlog is full. The kernel drops the next
 * SYN, and the client's kernel repeats it after a second.
 */
async function startBusyReceiver() {
  const thread = new Worker(BUSY_RECEIVER, { eval: true })
  const [port] = await once(thread, 'message')
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', nothing))
  await setTimeout(100)
  const close = () => {
    for (const socket of waiting) socket.destroy()
    return thread.terminate()
  }
  return { url: `http://receiver.test:${port}/`, close }
}

const BUSY_RECEIVER = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:http').createServer((request, response) => response.end())
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  })
`

const nothing = async () => {}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'

// Many of these wait for the deadline of two seconds, so they run concurrently.
describe('Sending', { concurrency: true, timeout: 20_000 }, () => {
  describe('A message:', { concurrency: true }, () => {
    test('A message is a POST of the exact bytes with the given headers and our User-Agent.', async () => {
      const receiver = await receiverThat()
      const headers = { 'Content-Type': 'application/json', 'Pay-Signature': 'ab12' }
      const body = '{"description":"Caffè pitch, £46.50 🎪"}'
      const outcome = await loopbackSend()({ url: `${receiver.url}/a%20b?c=d&e#f`, headers, body })
      assert.equal(outcome.status, 'SUCCESSFUL')
      assert.ok(Number.isInteger(outcome.response_time), `${outcome.response_time} ms`)
      const [request] = await receiver.next()
      assert.equal(request?.method, 'POST')
      assert.equal(request?.path, '/hook/a%20b?c=d&e')
      assert.equal(request?.body, body)
      assert.deepEqual(request?.headers, {
        'content-type': 'application/json',
        'pay-signature': 'ab12',
        'user-agent': 'Farthing/1.2.3',
        'content-length': String(Buffer.byteLength(body)),
        host: `localhost:${receiver.port}`,
        connection: 'keep-alive',
      })
    })

    test('The Host header and SNI carry the host name without its final dot.', async () => {
      const servernames: unknown[] = []
      const receiver = await receiverThat({
        onRequest: ({ response, socket }) => {
          servernames.push('servername' in socket && socket.servername)
          response.end()
        },
      })
      const outcome = await loopbackSend()(postTo(`https://receiver.test.:${receiver.port}/`))
      assert.equal(outcome.result, '200 OK')
      assert.equal(receiver.requests[0]?.headers.host, `receiver.test:${receiver.port}`)
      assert.deepEqual(servernames, ['receiver.test'])
    })

    test('A message that cannot be sent fails without an exception.', async () => {
      const receiver = await receiverThat()
      const send = loopbackSend()
      const refused = { status: 'FAILED', status_code: null, response_time: null }
      for (const url of ['', 'nonsense', 'http://hooks.example.com/', 'https://127.0.0.1/']) {
        assert.deepEqual(await send(postTo(url)), { ...refused, result: 'address refused' }, url)
      }
      const outcome = await send({ url: receiver.url, headers: { 'X-Bad': 'a\r\nb' }, body: '{}' })
      assert.deepEqual(outcome, { ...refused, result: 'connection failed' })
    })
  })

  describe('No address:', { concurrency: true }, () => {
    const answers: [how: string, resolve: Resolve][] = [
      ['returns an empty list', async () => []],
      ['fails', () => Promise.reject(new Error('ESERVFAIL'))],
    ]
    for (const [how, resolve] of answers) {
      test(`Nothing is connected to when the look-up ${how}.`, async () => {
        const receiver = await receiverThat()
        assert.deepEqual(await loopbackSend(resolve)(postTo(receiver.url)), {
          status: 'FAILED',
          status_code: null,
          response_time: null,
          result: 'name not resolved',
        })
        assert.equal(receiver.connections(), 0)
      })
    }
  })

  test('A first address that answers after a lost SYN is used before the second address.', async () => {
    const { url, close } = await startBusyReceiver()
    open.push({ close })
    const outcome = await loopbackSend(async () => ['127.0.0.1', '::1'])(postTo(url))
    assert.equal(outcome.result, '200 OK')
  })

  describe('A connection:', { concurrency: true }, () => {
    test('A connection is reused by later messages for longer than one deadline.', async () => {
      const receiver = await receiverThat()
      const send = loopbackSend()
      const started = performance.now()
      for (let sent = 0; performance.now() - started < 2500; sent += 1) {
        assert.equal((await send(postTo(receiver.url))).result, '200 OK', `message ${sent}`)
        await setTimeout(20)
      }
      assert.equal(receiver.connections(), 1)
    })

    test('A message on a broken idle connection fails, and the next attempt opens a new connection.', async () => {
      const receiver = await receiverThat({
        onRequest: ({ response, socket, nth }) => {
          if (nth === 3) socket.destroy()
          else setTimeout(nth < 3 ? 50 : 0).then(() => response.end())
        },
      })
      const send = loopbackSend()
      // Opens two connections, both idle afterwards. The third message is cut on one of them.
      await Promise.all([send(postTo(receiver.url, '1')), send(postTo(receiver.url, '2'))])
      assert.equal((await send(postTo(receiver.url, '3'))).result, 'connection failed')
      assert.equal((await send(postTo(receiver.url, '3'))).result, '200 OK')
      assert.deepEqual(
        receiver.requests.map(({ body }) => body).sort(),
        ['1', '2', '3', '3'],
        'no message is repeated silently',
      )
      assert.equal(receiver.connections(), 3)
    })

    test('A connection is closed when the receiver says so, and after a second without use.', async () => {
      const receiver = await receiverThat({
        onRequest: ({ response, nth }) =>
          response.writeHead(200, nth === 1 ? { connection: 'close' } : {}).end(),
      })
      const send = loopbackSend()
      await send(postTo(receiver.url, '1'))
      await send(postTo(receiver.url, '2'))
      assert.equal(receiver.connections(), 2)
      await setTimeout(1500)
      await send(postTo(receiver.url, '3'))
      assert.equal(receiver.connections(), 3)
    })

    test('A connection whose response body is slow ends at the deadline, after the status was returned.', async () => {
      let ended: Promise<void> | undefined
      const dripping = misbehaviours['drips the body']!.behaviour
      const receiver = await receiverThat({
        onRequest: answer => {
          ended = closed(answer.socket)
          dripping.onRequest?.(answer)
        },
      })
      const started = performance.now()
      assert.equal((await loopbackSend()(postTo(receiver.url))).result, '200 OK')
      assert.ok(performance.now() - started < 1500, 'the caller does not wait for the body')
      await ended
      const took = performance.now() - started
      assert.ok(took > 1900 && took < 2900, `${took} ms`)
    })

    test('A connection is reused after a body of up to 64 KiB, and closed by a longer one.', async () => {
      for (const [bytes, connections] of [
        [65_536, 1],
        [400_000, 2],
      ] as const) {
        const receiver = await receiverThat({
          onRequest: ({ response }) => response.end(Buffer.alloc(bytes)),
        })
        const send = loopbackSend()
        await send(postTo(receiver.url, '1'))
        await setTimeout(200)
        await send(postTo(receiver.url, '2'))
        assert.equal(receiver.connections(), connections, `${bytes} bytes`)
      }
    })
  })

  describe('An answer in pieces:', () => {
    test('An answer is read no further than 256 pieces, and its status counts.', async () => {
      const chunks = Buffer.from('1\r\nx\r\n'.repeat(5_000))
      const receiver = await receiverThat({
        onRequest: ({ socket }) => {
          socket.write('HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n')
          socket.write(chunks)
        },
        plain: true,
      })
      const send = loopbackSend()
      const { result, answer } = await send({ ...postTo(receiver.url), keepsAnswer: true })
      assert.equal(result, '202 Accepted')
      assert.equal((await answer)?.size, 257)
    })
  })

  describe('Concurrent messages:', { concurrency: true }, () => {
    test('Requests beyond 64 to a host wait in a queue, delay no other host, and open no connection if they time out there.', async () => {
      const hanging = await receiverThat({ onRequest: nothing, plain: true })
      const other = await receiverThat({ plain: true })
      const send = loopbackSend()
      const outcomes = Array.from({ length: 70 }, () => send(postTo(hanging.url)))
      const elsewhere = await send(postTo(`http://receiver.test:${other.port}/`))
      assert.equal(elsewhere.result, '200 OK', 'another host is not held up')
      const ended = await Promise.all(outcomes)
      assert.ok(ended.every(({ result }) => result === 'timeout'))
      // Six; fewer where starting all of them took longer than the first ones waited.
      const queued = ended.filter(({ response_time }) => response_time === null)
      assert.equal(queued.length, 70 - hanging.connections())
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
        Array.from({ length: 200 }, async () => {
          const outcome = await send(postTo(receiver.url))
          waits.push(performance.now() - began - (outcome.response_time ?? 0))
          return outcome
        }),
      )
      assert.ok(outcomes.every(({ result }) => result === '200 OK'))
      assert.equal(receiver.requests.length, 200)
      assert.ok(waits.filter(wait => wait >= pause).length >= 200 - 64)
    })

    test('Every kind of failure releases its slot.', async () => {
      const failing: [result: string, behaviour: Behaviour][] = [
        ['101 Switching Protocols', { onRequest: ({ socket }) => socket.write(SWITCHING) }],
        ['connection failed', { onRequest: ({ socket }) => socket.destroy() }],
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
      const outcome = await send(postTo(receiver.url))
      const took = performance.now() - started
      assert.deepEqual(outcome, {
        status: 'FAILED',
        status_code: null,
        response_time: null,
        result: 'timeout',
      })
      assert.ok(took > 1950 && took < 2900, `${took} ms`)
      answer(['127.0.0.1'])
      await setTimeout(100)
      assert.equal(receiver.connections(), 0)
    })
  })
})

// Alone, because so many connections at once delay the tests above.
describe('Sending to many hosts', { timeout: 20_000 }, () => {
  test('All hosts together get at most 256 requests at once; the others wait and are sent.', async () => {
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
      HOSTS.flatMap(host =>
        Array.from({ length: 60 }, () => send(postTo(`http://${host}:${receiver.port}/`))),
      ),
    )
    assert.ok(most <= 256, `${most} requests at once`)
    assert.ok(outcomes.some(({ result }) => result === '200 OK'))
  })
})
