import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { CONNECTIONS, IDLE_MS } from '../../../src/core/budgets.ts'
import { createHttpServer } from '../../../src/platform/http/connections.ts'
import { type Client, webPayment } from '../../support/client.ts'
import { listenUntilEnd } from '../../support/ports.ts'
import { closed, exchangeBytes, open, statusesOf } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const HOST = 'Host: a\r\n'
const CLOSE = 'Connection: close\r\n'
/** A server that has only the limits of connections. */
async function listen(t: TestContext, handle: Parameters<typeof createHttpServer>[0]) {
  const server = createHttpServer(handle)
  return { server, baseUrl: `http://127.0.0.1:${await listenUntilEnd(t, server)}` }
}

const payment = JSON.stringify(webPayment)
const creation = ({ key }: Client, more = '', length = payment.length) =>
  `POST /v1/payments HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n${more}Content-Length: ${length}\r\n\r\n${payment}`
const GET = `GET /healthz HTTP/1.1\r\n${HOST}`
const POST = `POST /v1/auth HTTP/1.1\r\n${HOST}`
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n`

/** Requests that no HTTP client sends, and the statuses that may be returned before the connection closes. */
const faults: Record<string, [bytes: string | Uint8Array, statuses: number[]]> = {
  'a request line without a method': ['/healthz HTTP/1.1\r\n\r\n', [400]],
  'an unknown method': [`FLY /healthz HTTP/1.1\r\n${HOST}\r\n`, [400]],
  'a method in lower case': [`get /healthz HTTP/1.1\r\n${HOST}\r\n`, [400]],
  'an unknown HTTP version': [`GET /healthz HTTP/9.9\r\n${HOST}\r\n`, [400, 505]],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  'white space in the path': [`GET /a b HTTP/1.1\r\n${HOST}\r\n`, [400]],
  'control characters': ['\0\u0001\u0002\u0003\r\n\r\n', [400]],
  'a TLS handshake': [new Uint8Array([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), [400]],
  'two Hosts': [`${GET}HOST: b\r\n\r\n`, [400]],
  'the same Host twice': [`GET /secure/a HTTP/1.1\r\n${HOST}${HOST}\r\n`, [400]],
  'no Host': ['GET /healthz HTTP/1.1\r\n\r\n', [400]],
  'a header without a colon': [`${GET}nonsense\r\n\r\n`, [400]],
  'a header with a space in its name': [`${GET}a b: c\r\n\r\n`, [400]],
  'U+0000 in a header': [`${GET}a: b\0c\r\n\r\n`, [400]],
  'a header of 20,000 bytes': [`${GET}a: ${'x'.repeat(20_000)}\r\n\r\n`, [431]],
  'a path of 20,000 bytes': [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, [431]],
  'a Content-Length that is not a number': [`${POST}Content-Length: x\r\n\r\n`, [400]],
  'a negative Content-Length': [`${POST}Content-Length: -1\r\n\r\n`, [400]],
  'two Content-Lengths': [`${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, [400]],
  'a Content-Length and chunks': [`${CHUNKED}Content-Length: 2\r\n\r\n{}`, [400]],
  'a chunk without a size': [`${CHUNKED}\r\nxyz\r\n`, [400]],
  'a chunk extension of 20,000 bytes': [
    `${CHUNKED}\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    [413],
  ],
  'an unknown Transfer-Encoding': [`${POST}Transfer-Encoding: nonsense\r\n\r\n{}`, [400, 501]],
}

onOneDatabase('HTTP: invalid requests', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })

  test('a connection with an invalid request gets its status and is closed, and the service still works', async () => {
    for (const [fault, [bytes, statuses]] of Object.entries(faults)) {
      const text = (await exchangeBytes(service().baseUrl, [bytes])).toString('latin1')
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? []
      assert.ok(statuses.includes(Number(status)), `${fault}: ${text.slice(0, 200)}`)
      assert.doesNotMatch(text, /node_modules|\bat \w+ \(|\.ts:/)
    }
    await api.createPayment()
  })

  test('an incomplete POST /v1/payments creates no payment', async () => {
    const before = (await api.get('/v1/payments')).body.total
    await exchangeBytes(service().baseUrl, [creation(api, '', payment.length + 1)], true)
    assert.equal((await api.get('/v1/payments')).body.total, before)
  })
})

onOneDatabase('HTTP: connections', service => {
  test('65 pipelined requests on one connection are answered in order: one, and the 64 that may wait', async () => {
    const paths = Array.from({ length: 65 }, (_, i) => (i % 3 ? '/healthz' : `/nothing/${i}`))
    const requests = paths.map(
      (path, i) => `GET ${path} HTTP/1.1\r\n${HOST}${i < 64 ? '' : CLOSE}\r\n`,
    )
    assert.deepEqual(
      await statusesOf(service().baseUrl, ...requests),
      paths.map(path => (path === '/healthz' ? '200' : '404')),
    )
  })

  test('a connection on which more than 64 requests wait is closed, and what else it has sent is not parsed', async t => {
    const { server, baseUrl } = await listen(t, (_request, response) => response.end())
    const parsed: IncomingMessage[] = []
    server.on('request', request => parsed.push(request))
    await exchangeBytes(baseUrl, [`${GET}\r\n`.repeat(500)])
    assert.equal(parsed.length, 66)
  })

  test('a request waits until the client has read the response to the one before', async () => {
    const api = await service().newAccount()
    const socket = await open(service().baseUrl)
    const before = `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(50)
    socket.pause().write(before + creation(api, CLOSE))
    for (let i = 0; i < 100; i++)
      assert.equal((await api.get('/v1/payments')).body.total, 0, 'those before it are unread')
    await closed(socket.resume())
    assert.equal((await api.get('/v1/payments')).body.total, 1)
  })

  test('valid requests get their responses although invalid bytes follow, and then the connection is closed with 400', async () => {
    const api = await service().newAccount()
    const create = creation(api)
    for (const bad of ['nonsense\r\n\r\n', `${CHUNKED}\r\nxyz\r\n`]) {
      const statuses = await statusesOf(service().baseUrl, create, create, bad)
      assert.deepEqual(statuses, ['201', '201', '400'])
    }
    assert.equal((await api.get('/v1/payments')).body.total, 4)
  })

  test('a body in 4,096 pieces is read, and of one in more what follows its 4,097th piece is not', async t => {
    let pieces = 0
    const { baseUrl } = await listen(t, (request, response) => {
      const push = request.push.bind(request)
      request.push = piece => {
        pieces += 1
        return push(piece)
      }
      request.on('error', () => {}).on('end', () => response.end(String(pieces)))
      request.resume()
    })
    const send = (count: number, end: string) =>
      exchangeBytes(baseUrl, [`${CHUNKED}${CLOSE}\r\n${'1\r\n{\r\n'.repeat(count)}${end}`])
    await send(9_000, '')
    assert.ok(pieces <= 4_098, String(pieces))
    pieces = 0
    assert.match(String(await send(4_096, '0\r\n\r\n')), /\r\n\r\n4097$/)
  })

  test('beyond their share of 64 MB bodies without a key are refused with 503 until others have ended, and those of an account are not', async () => {
    const api = await service().newAccount()
    const create = () => api.post('/v1/payments', { ...webPayment, more: 'x'.repeat(60_000) })
    assert.equal((await create()).status, 201)
    const hold = async () => {
      const socket = await open(service().baseUrl)
      socket.write(`${POST}Content-Length: 65536\r\n\r\n${'x'.repeat(65_000)}`)
      const answer = once(socket, 'data').then(([bytes]) => String(bytes))
      return { socket, answer }
    }
    const held = await Promise.all(Array.from({ length: 1_100 }, hold))
    const first = await Promise.race(held.map(({ answer }) => answer))
    assert.match(first, /^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*"code":"P0999"/s)
    assert.equal((await create()).status, 201)
    for (const { socket } of held) socket.destroy()
    await Promise.all(held.map(({ socket }) => closed(socket)))
    const { socket, answer } = await hold()
    socket.write('x'.repeat(536))
    assert.match(await answer, /^HTTP\/1\.1 400 /)
    socket.destroy()
  })

  test('a body that was dropped beyond 64 MB is followed by a request whose body is read', async t => {
    const lengths: number[] = []
    const { baseUrl } = await listen(t, (request, response) => {
      let length = 0
      request.on('data', piece => {
        length += piece.length
      })
      request.on('end', () => {
        lengths.push(length)
        response.end()
      })
    })
    const post = (length: number, more = '') =>
      `POST / HTTP/1.1\r\n${HOST}${more}Content-Length: ${length}\r\n\r\n`
    const long = Buffer.alloc(70 * 1024 * 1024)
    await exchangeBytes(baseUrl, [post(long.length), long, `${post(2, CLOSE)}{}`])
    const [first = 0, second] = lengths
    assert.ok(first < 64 * 1024 * 1024)
    assert.equal(second, 2)
  })

  test('the bytes of a body of which the rest was dropped count until its request has ended', async t => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const requests: IncomingMessage[] = []
    let left = 100
    const { baseUrl } = await listen(t, request => {
      requests.push(request)
      const push = request.push.bind(request)
      request.push = piece => {
        const outcome = push(piece)
        if (piece === null) left -= 1
        if (left === 0) resolve()
        return outcome
      }
    })
    const body = `${CHUNKED}\r\n${'1\r\n{\r\n'.repeat(4_000)}0\r\n\r\n`
    const sockets = await Promise.all(Array.from({ length: left }, () => open(baseUrl)))
    for (const socket of sockets) socket.write(body)
    await ended
    const held = requests.reduce((sum, { readableLength }) => sum + readableLength * 257, 0)
    for (const socket of sockets) socket.destroy()
    assert.ok(held <= 64 * 1024 * 1024, String(held))
  })

  test('an HTTP/1.0 request without a Host is answered and its connection closed', async () => {
    const text = String(await exchangeBytes(service().baseUrl, ['GET /healthz HTTP/1.0\r\n\r\n']))
    assert.match(text, /^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s)
  })

  test('a request with Expect: 100-continue receives 100 and then its answer', async () => {
    const socket = await open(service().baseUrl)
    socket.write(`${POST}Content-Length: 2\r\nExpect: 100-continue\r\n${CLOSE}\r\n`)
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /)
    socket.write('{}')
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 422 /)
    await closed(socket)
  })

  test('a connection beyond the limit of 10,000 is closed at once and the others still work', async t => {
    const [{ server } = { server: undefined }] = service().apps.map(app => app.server)
    assert.equal(server?.maxConnections, CONNECTIONS)
    t.after(() => {
      server.maxConnections = CONNECTIONS
    })
    const first = await open(service().baseUrl)
    first.write(`${GET}\r\n`)
    await once(first, 'data')
    server.maxConnections = 0
    await closed((await open(service().baseUrl)).resume())
    first.write(`${GET}\r\n`)
    assert.match(
      String(await once(first, 'data')),
      /^HTTP\/1\.1 200 /,
      'the connection that was open is served',
    )
    first.destroy()
  })

  test('a connection is kept for 30 seconds, as its Keep-Alive header says, and is not idle while its client waits', async t => {
    const { baseUrl } = await listen(t, ({ socket }, response) => {
      socket.setTimeout(20).once('timeout', () => response.end('late'))
    })
    const answer = await fetch(baseUrl)
    assert.equal(answer.headers.get('keep-alive'), `timeout=${IDLE_MS / 1_000}`)
    assert.equal(await answer.text(), 'late')
  })

  test('a request that came while the process was busy is served, although its connection had been idle', async t => {
    const { server, baseUrl } = await listen(t, (_, response) => response.end())
    const accepted = once(server, 'connection')
    const socket = await open(baseUrl)
    const [ours] = await accepted
    ours.setTimeout(1).prependListener('timeout', () => socket.write(`${GET}${CLOSE}\r\n`))
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /)
  })

  test('a client that reads nothing of its answers for 30 seconds is disconnected', async t => {
    const [{ server } = { server: undefined }] = service().apps.map(app => app.server)
    assert.equal(server?.timeout, IDLE_MS)
    t.after(() => server.setTimeout(IDLE_MS))
    server.setTimeout(100)
    const accepted = once(server, 'connection')
    const socket = await open(service().baseUrl)
    const [ours] = await accepted
    // The responses are larger than the system's socket buffers for a client that does not read.
    socket.pause().write(`GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(60))
    await once(ours, 'close')
    socket.destroy()
  })
})
