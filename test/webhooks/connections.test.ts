import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { parseAllowedHosts } from '../../src/platform/outbound/address.ts'
import { createSend } from '../../src/platform/outbound/send.ts'
import { authority } from '../support/certificates.ts'
import { type Behaviour, postTo, type Receiver, startReceiver } from '../support/receiver.ts'

/** A sender, and two receivers at different ports of loopback. */
async function start(
  t: TestContext,
  behaviours: [Behaviour, Behaviour],
): Promise<[ReturnType<typeof createSend>, Receiver, Receiver]> {
  const allowed = parseAllowedHosts('localhost, receiver.test').hosts
  const send = createSend({ resolve: async () => ['127.0.0.1'], allowed, ca: authority })
  const [one, other] = [await startReceiver(behaviours[0]), await startReceiver(behaviours[1])]
  t.after(() => Promise.all([send.close(), one.close(), other.close()]))
  return [send, one, other]
}

describe('An idle connection:', () => {
  test('Each host and port has its own idle connections, as many as were used at once.', async t => {
    const pausing: Behaviour = {
      onRequest: ({ response }) => setTimeout(50).then(() => response.end()),
    }
    const [send, one, other] = await start(t, [pausing, pausing])
    for (const { url } of [one, other])
      for (const body of ['1', '2']) {
        const outcomes = await Promise.all([send(postTo(url, body)), send(postTo(url, body))])
        for (const { response_time } of outcomes) assert.ok(Number(response_time) >= 40)
      }
    for (const { requests, connections } of [one, other]) {
      assert.deepEqual(
        requests.map(({ body }) => body),
        ['1', '1', '2', '2'],
      )
      assert.equal(connections(), 2)
    }
  })

  test('A broken idle connection closes the other idle connections of its host only.', async t => {
    const cutting: Behaviour = {
      onRequest: ({ response, socket, nth }) => (nth === 1 ? response.end() : socket.destroy()),
    }
    const [send, one, other] = await start(t, [cutting, {}])
    const otherHost = `https://receiver.test:${other.port}/`
    await send(postTo(otherHost))
    await send(postTo(one.url))
    assert.equal((await send(postTo(one.url))).result, 'connection failed')
    assert.equal((await send(postTo(otherHost))).result, '200 OK')
    assert.equal(other.connections(), 1)
  })
})

test('A new connection never resumes a TLS session.', async t => {
  const resumed: unknown[] = []
  const closing: Behaviour = {
    onRequest: ({ response, socket }) => {
      resumed.push(socket instanceof TLSSocket && socket.isSessionReused())
      response.writeHead(200, { connection: 'close' }).end()
    },
  }
  const [send, one] = await start(t, [closing, {}])
  for (let sent = 0; sent < 3; sent++) await send(postTo(one.url))
  assert.deepEqual(resumed, [false, false, false])
})
