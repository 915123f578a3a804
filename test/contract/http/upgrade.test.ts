import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { before, test } from 'node:test'
import { type Client, webPayment } from '../../support/client.ts'
import { open, sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const json = JSON.stringify(webPayment)

/** Java's HttpClient sends these headers with every request and accepts an answer in HTTP/1.1. */
const ASKS = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAE']

onOneDatabase('HTTP: upgrade requests', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })

  const head = (path: string, key = api.key, length = json.length) =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: a',
      `Authorization: Bearer ${key}`,
      ...ASKS,
      `Content-Length: ${length}`,
      '\r\n',
    ].join('\r\n')

  async function statusOf(socket: Socket): Promise<string> {
    const [bytes] = await once(socket, 'data')
    return bytes.toString('latin1', 9, 12)
  }

  for (const protocol of ['h2c', 'websocket'])
    test(`a request to upgrade to ${protocol} is answered in HTTP/1.1`, async () => {
      const line = 'GET /v1/payments HTTP/1.1'
      const headers = [`Authorization: Bearer ${api.key}`, 'Connection: Upgrade']
      const lines = [line, ...headers, `Upgrade: ${protocol}`]
      assert.equal((await sendRaw(service().baseUrl, lines)).status, 200)
    })

  for (const [status, path, key, length] of [
    ['401', '/v1/payments', 'wrong', json.length],
    ['404', '/v1/nothing', undefined, json.length],
    ['413', '/v1/payments', undefined, 200_000],
  ] as const)
    test(`an upgrade request whose body has not arrived returns ${status}, and the connection carries the next request`, async () => {
      const socket = await open(service().baseUrl)
      const seen = statusOf(socket)
      let isAnswered = false
      void seen.then(() => {
        isAnswered = true
      })
      socket.write(head(path, key, length))
      // By the time these are answered, the service would have answered the first if it did not wait for the body.
      for (let i = 0; i < 3; i++) await api.get('/v1/payments')
      // A client sends its next request right after the body.
      const next = head('/v1/payments') + json
      const body = json.padEnd(length)
      if (isAnswered) socket.write(body + next)
      else {
        socket.write(body)
        assert.equal(await seen, status)
        socket.write(next)
      }
      assert.equal(await statusOf(socket), '201')
      socket.destroy()
    })

  test('a request with an unknown Expect value is answered as without it', async () => {
    const lines = ['POST /v1/payments HTTP/1.1', 'Expect: nonsense']
    assert.equal((await sendRaw(service().baseUrl, lines, json)).status, 401)
    lines.push(`Authorization: Bearer ${api.key}`)
    assert.equal((await sendRaw(service().baseUrl, lines, json)).status, 201)
  })
})
