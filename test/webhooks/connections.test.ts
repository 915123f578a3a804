import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { HANDSHAKE_BYTES } from '../../src/core/budgets.ts'
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
    for (const body of ['1', '2'])
      for (const { url } of [one, other]) {
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

test('A receiver that sends more than 16 KB before it is trusted is not, and an equal one with a short chain is.', async t => {
  const [send, long, short] = await start(t, [{ certificate: 'with many others' }, {}])
  const bytes = new X509Certificate(authority).raw.length * 60
  assert.ok(bytes > HANDSHAKE_BYTES)
  const { result, cause } = await send(postTo(long.url))
  assert.deepEqual([result, cause], ['tls failed', 'ERR_TLS_HANDSHAKE_TOO_LONG'])
  const answered: Behaviour['onRequest'] = ({ response }) => response.end('x'.repeat(2 * bytes))
  const talkative = await startReceiver({ onRequest: answered })
  t.after(talkative.close)
  for (const { url } of [short, talkative]) assert.equal((await send(postTo(url))).result, '200 OK')
})

test('Each handshake is read in turns of the event loop of its own.', async t => {
  const serves: (() => void)[] = []
  const together: Behaviour = {
    certificate: 'self-signed',
    onConnection(_socket, serve) {
      if (serves.push(serve) === 20) for (const each of serves) each()
    },
  }
  const [send, one] = await start(t, [together, {}])
  let turn = 0
  let counting = globalThis.setImmediate(function count() {
    turn += 1
    counting = globalThis.setImmediate(count)
  })
  t.after(() => clearImmediate(counting))
  const { push } = Duplex.prototype
  const turns: number[] = []
  t.mock.method(Duplex.prototype, 'push', function (this: Duplex, bytes: Buffer | null) {
    if (bytes && this.constructor === Duplex) turns.push(turn)
    return push.call(this, bytes)
  })
  const sent = await Promise.all(
    Array.from({ length: 20 }, () => send({ ...postTo(one.url), timeout: 30_000 })),
  )
  assert.ok(sent.every(({ result }) => result === 'tls failed'))
  assert.ok(turns.length >= sent.length)
  assert.equal(new Set(turns).size, turns.length)
})
