import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { KEPT_ANSWER_BYTES } from '../../src/core/budgets.ts'
import { createAgent } from '../../src/platform/outbound/agents.ts'
import { misbehaviours } from '../support/misbehaviours.ts'
import { closed } from '../support/raw-http.ts'
import { type Behaviour, postTo } from '../support/receiver.ts'
import { loopbackSend, receiverThat } from '../support/sending.ts'
import { endsWithin } from '../support/time.ts'

/** A message whose receiver has the time that a slow machine needs. */
const patiently = (url: string, body?: string) => ({ ...postTo(url, body), timeout: 60_000 })

/** Repeats a check that took so long that idle connections ended, which they do after a second. */
async function withinIdleTime(check: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    const began = performance.now()
    const isRight = await check()
    if (isRight || performance.now() - began < 900) return isRight
  }
}

// Two of these need responses within two seconds, so four run at once. With more a slow machine misses the deadline.
describe('Sending', { concurrency: 4 }, () => {
  test('A message is a POST of the exact bytes with the given headers and our User-Agent.', async () => {
    const receiver = await receiverThat()
    const headers = { 'Content-Type': 'application/json', 'Pay-Signature': 'ab12' }
    const body = '{"description":"Caffè pitch, £46.50 🎪"}'
    const url = `${receiver.url}/a%20b?c=d&e#f`
    const outcome = await loopbackSend()({ url, headers, body, timeout: 60_000 })
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
    const outcome = await loopbackSend()(patiently(`https://receiver.test.:${receiver.port}/`))
    assert.equal(outcome.result, '200 OK')
    assert.equal(receiver.requests[0]?.headers.host, `receiver.test:${receiver.port}`)
    assert.deepEqual(servernames, ['receiver.test'])
  })

  test('A message that cannot be sent fails without an exception.', async () => {
    const receiver = await receiverThat()
    const send = loopbackSend()
    const refused = { status: 'FAILED', status_code: null, response_time: null }
    for (const url of ['', 'nonsense'])
      assert.deepEqual(await send(patiently(url)), { ...refused, result: 'address refused' }, url)
    const outcome = await send({ url: receiver.url, headers: { 'X-Bad': 'a\r\nb' }, body: '{}' })
    assert.deepEqual(outcome, { ...refused, result: 'connection failed' })
  })

  test('Nothing is connected to when the look-up returns an empty list or fails.', async () => {
    const receiver = await receiverThat()
    for (const resolve of [async () => [], () => Promise.reject(new Error('ESERVFAIL'))])
      assert.deepEqual(await loopbackSend(resolve)(patiently(receiver.url)), {
        status: 'FAILED',
        status_code: null,
        response_time: null,
        result: 'name not resolved',
      })
    assert.equal(receiver.connections(), 0)
  })

  test('The second address of a host is not tried before TCP has repeated a lost SYN to the first, after a second.', () => {
    const agent: object = createAgent()
    assert.ok('options' in agent)
    const { autoSelectFamilyAttemptTimeout } = agent.options as { [name: string]: number }
    assert.ok(Number(autoSelectFamilyAttemptTimeout) > 1_000)
  })

  test('A connection is reused by later messages for longer than one deadline.', async () => {
    const receiver = await receiverThat()
    const send = loopbackSend()
    const started = performance.now()
    // An idle connection is closed after a second, and a busy machine may rest for longer.
    let rests = 0
    for (let sent = 0; performance.now() - started < 2500; sent += 1) {
      assert.equal((await send(postTo(receiver.url))).result, '200 OK', `message ${sent}`)
      const ended = performance.now()
      await setTimeout(20)
      if (performance.now() - ended > 900) rests += 1
    }
    assert.ok(receiver.connections() <= 1 + rests)
  })

  test('A message on a broken idle connection fails, and the next attempt opens a new connection.', async () => {
    const receiver = await receiverThat({
      onRequest: ({ response, socket, nth }) => {
        if (nth === 3) socket.destroy()
        else setTimeout(nth < 3 ? 50 : 0).then(() => response.end())
      },
    })
    const send = loopbackSend()
    // These open two connections, both idle afterwards. The third message is cut on one of them.
    await Promise.all([send(patiently(receiver.url, '1')), send(patiently(receiver.url, '2'))])
    assert.equal((await send(patiently(receiver.url, '3'))).result, 'connection failed')
    assert.equal((await send(patiently(receiver.url, '3'))).result, '200 OK')
    assert.deepEqual(
      receiver.requests.map(({ body }) => body).sort(),
      ['1', '2', '3', '3'],
      'no message is repeated silently',
    )
    assert.ok(receiver.connections() >= 3)
  })

  test('A connection is closed when the receiver says so, and after a second without use.', async () => {
    const receiver = await receiverThat({
      onRequest: ({ response, nth }) =>
        response.writeHead(200, nth === 1 ? { connection: 'close' } : {}).end(),
    })
    const send = loopbackSend()
    await send(patiently(receiver.url, '1'))
    await send(patiently(receiver.url, '2'))
    assert.equal(receiver.connections(), 2)
    await setTimeout(1500)
    await send(patiently(receiver.url, '3'))
    assert.equal(receiver.connections(), 3)
  })

  test('A connection whose response body is slow ends at the deadline, after the status was returned.', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const dripping = misbehaviours['drips the body']!.behaviour
    const receiver = await receiverThat({
      onRequest: answer => {
        void closed(answer.socket).then(end)
        dripping.onRequest?.(answer)
      },
    })
    const started = performance.now()
    const inTime = endsWithin(ended, 20_000)
    const sending = loopbackSend()(postTo(receiver.url))
    const first = await Promise.race([sending, ended])
    assert.equal(first?.result, '200 OK', 'the caller does not wait for the body')
    await ended
    assert.ok(performance.now() - started > 1900)
    assert.ok(await inTime)
  })

  test('A connection is reused after a body of up to 64 KiB, and closed by a longer one.', async () => {
    const answeringWith = (bytes: number) =>
      receiverThat({ onRequest: ({ response }) => response.end(Buffer.alloc(bytes)) })
    const send = loopbackSend()
    const long = await answeringWith(400_000)
    const short = await answeringWith(65_536)
    const toEach = async () => {
      for (const { url } of [long, short]) await send(patiently(url))
      await setTimeout(100) // until the bodies are read
    }
    // A busy machine needs longer to read a body.
    do await toEach()
    while (short.connections() === short.requests.length)
    assert.equal(long.connections(), long.requests.length)
  })

  test('Each host and port has its own idle connections, as many as were used at once.', async () => {
    const pausing: Behaviour = {
      onRequest: ({ response }) => setTimeout(50).then(() => response.end()),
    }
    const receivers = [await receiverThat(pausing), await receiverThat(pausing)]
    const send = loopbackSend()
    for (const { url, connections } of receivers) {
      const atOnce = () => Promise.all([send(patiently(url)), send(patiently(url))])
      const areReused = async () => {
        for (const { response_time } of await atOnce()) assert.ok(Number(response_time) >= 40)
        const before = connections()
        await atOnce()
        return connections() === before
      }
      assert.ok(await withinIdleTime(areReused))
    }
    for (const { requests, connections } of receivers)
      assert.ok(connections() <= requests.length / 2)
  })

  test('A broken idle connection closes the other idle connections of its host only.', async () => {
    const one = await receiverThat({
      onRequest: ({ response, socket, nth }) => (nth % 2 ? response.end() : socket.destroy()),
    })
    const other = await receiverThat()
    const otherHost = `https://receiver.test:${other.port}/`
    const send = loopbackSend()
    const isKept = async () => {
      await send(patiently(otherHost))
      const before = other.connections()
      await send(patiently(one.url))
      assert.equal((await send(patiently(one.url))).result, 'connection failed')
      assert.equal((await send(patiently(otherHost))).result, '200 OK')
      return other.connections() === before
    }
    assert.ok(await withinIdleTime(isKept))
  })

  test('A new connection never resumes a TLS session.', async () => {
    const resumed: unknown[] = []
    const { url } = await receiverThat({
      onRequest: ({ response, socket }) => {
        resumed.push(socket instanceof TLSSocket && socket.isSessionReused())
        response.writeHead(200, { connection: 'close' }).end()
      },
    })
    const send = loopbackSend()
    for (let sent = 0; sent < 3; sent++) await send(patiently(url))
    assert.deepEqual(resumed, [false, false, false])
  })

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
    const { result, answer } = await send({ ...patiently(receiver.url), keepsAnswer: true })
    assert.equal(result, '202 Accepted')
    assert.equal((await answer)?.size, 257)
  })

  test('Of the body of an answer 16 KiB are kept, and its size is known.', async () => {
    const receiver = await receiverThat({
      onRequest: ({ socket }) =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`),
      plain: true,
    })
    const { answer } = await loopbackSend()({ ...patiently(receiver.url), keepsAnswer: true })
    const { body, size } = (await answer) ?? {}
    assert.deepEqual([body?.length, size], [KEPT_ANSWER_BYTES, 20_000])
  })

  test('Of an answer with the same Content-Length twice the whole body is kept, also after an empty line in it.', async () => {
    const lengths = 'Content-Length: 9\r\n'.repeat(2)
    const receiver = await receiverThat({
      onRequest: ({ socket }) => socket.write(`HTTP/1.1 200 OK\r\n${lengths}\r\none\n\n\ntwo`),
      plain: true,
    })
    const send = loopbackSend()
    const { answer } = await send({ ...patiently(receiver.url), keepsAnswer: true })
    assert.equal((await answer)?.body.toString(), 'one\n\n\ntwo')
  })
})
