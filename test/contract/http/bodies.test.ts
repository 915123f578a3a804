import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { type Answer, type Client, webPayment } from '../../support/client.ts'
import { exchangeBytes, parseAnswer, sendRaw, statusesOf } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const LARGEST = 65_536
const json = JSON.stringify(webPayment)
const ofSize = (size: number) => json + ' '.repeat(size - json.length)

onOneDatabase('HTTP: request bodies', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const head = (path: string, ...headers: string[]) => [
    `POST ${path} HTTP/1.1`,
    `Authorization: Bearer ${api.key}`,
    ...headers,
  ]

  const send = (body: string, headers: string[], path = '/v1/payments'): Promise<Answer> =>
    sendRaw(service().baseUrl, head(path, ...headers), body)

  function sendChunked(body: string, path = '/v1/payments', end = '0\r\n\r\n'): Promise<Answer> {
    const chunks = body.match(/.{1,20000}/gs) ?? []
    const text = chunks.map(chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('') + end
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    return sendRaw(service().baseUrl, head(path, ...headers), text)
  }

  test('a body is read as JSON by its media type, whatever its parameters and case, or without one', async () => {
    for (const header of [
      'Content-Type: application/json',
      'Content-Type: APPLICATION/JSON',
      'Content-Type: application/json ; charset=ISO-8859-1; q="a;b"',
      'Content-Type: application/json; =',
      'Content-Type: application/vnd.example.v1+json',
      'Content-Type: application/problem+JSON; a=b',
      'Content-Type: ',
      'Content-Encoding: Identity',
    ])
      assert.equal((await send(json, [header])).status, 201, header)
    assert.equal((await send(json, [])).status, 201)
  })

  const withBody = ['/v1/payments', '/v1/agreements', '/v1/webhooks', '/v1/payments/a/refunds']

  test('a body with another Content-Type, also in chunks, returns 400 P0920', async () => {
    const others = [
      'text/json',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'application/json-seq',
      'application/json, text/plain',
      'application/ json',
      'application',
      '*/*',
      'nonsense;=;',
    ]
    for (const type of others)
      assertError(await send(json, [`Content-Type: ${type}`]), 400, 'P0920')
    const headers = ['Content-Type: text/plain', 'Transfer-Encoding: chunked']
    const answer = await sendRaw(service().baseUrl, head('/v1/payments', ...headers), '0\r\n\r\n')
    assertError(answer, 400, 'P0920')
  })

  test('a compressed body returns 400 P0920', async () => {
    const sent = (encoding: string, path: string, type = 'application/json') =>
      send(json, [`Content-Type: ${type}`, `Content-Encoding: ${encoding}`], path)
    for (const encoding of ['br', 'identity, gzip', 'x'])
      assertError(await sent(encoding, '/v1/payments'), 400, 'P0920')
    for (const path of [...withBody, '/v1/auth'])
      assertError(await sent('gzip', path), 400, 'P0920')
    const form = 'application/x-www-form-urlencoded'
    assertError(await sent('gzip', '/v1/auth', form), 400, 'P0920')
  })

  test('an empty body returns 400 P0197 whatever its Content-Type and Content-Encoding', async () => {
    for (const headers of [['Content-Type: text/plain'], ['Content-Encoding: gzip'], []])
      assertError(await send('', ['Content-Length: 0', ...headers]), 400, 'P0197')
  })

  test('a request without Content-Length and Transfer-Encoding is answered without waiting for a body', async () => {
    const { payment_id } = await api.createPayment()
    const form = 'Content-Type: application/x-www-form-urlencoded'
    for (const headers of [[], ['Content-Type: application/json'], [form]])
      assertError(await send('', headers), 400, 'P0197')
    assertError(await send('', [form], '/v1/auth'), 422, 'P0101', { field: 'one_time_token' })
    const json = ['Content-Type: application/json']
    assert.equal((await send('', json, `/v1/payments/${payment_id}/cancel`)).status, 204)
  })

  test('a body of 65,536 bytes, not characters, is accepted, also in chunks, and one byte more returns 413 P0913', async () => {
    for (const sent of [(body: string) => send(body, []), (body: string) => sendChunked(body)]) {
      assert.equal((await sent(ofSize(LARGEST))).status, 201)
      assertError(await sent(ofSize(LARGEST + 1)), 413, 'P0913')
    }
    const body = JSON.stringify({ ...webPayment, note: 'é'.repeat(40_000) })
    assert.ok(body.length < LARGEST)
    assertError(await send(body, []), 413, 'P0913')
  })

  test('a Content-Length above the limit returns 413 P0913 before the body has arrived', async () => {
    const { host } = new URL(service().baseUrl)
    const lines = head('/v1/payments', 'Content-Length: 1000000000', `Host: ${host}`)
    const bytes = await exchangeBytes(service().baseUrl, [
      [...lines, 'Connection: close', '', ''].join('\r\n'),
      '{',
    ])
    assertError(parseAnswer(bytes), 413, 'P0913')
  })

  test('a body in chunks returns 413 P0913 as soon as it exceeds the limit', async () => {
    assertError(await sendChunked(ofSize(LARGEST + 1), '/v1/payments', ''), 413, 'P0913')
  })

  test('the body of a GET is ignored', async () => {
    const { payment_id } = await api.createPayment()
    const [, ...headers] = head('', 'Content-Type: nonsense')
    const get = [`GET /v1/payments/${payment_id} HTTP/1.1`, ...headers]
    const answer = await sendRaw(service().baseUrl, get, '{"a":')
    assert.equal(answer.status, 200, answer.text)
  })

  type Sent = [method: string, path: string, body: string]

  function statusesOfAll(...requests: Sent[]): Promise<string[]> {
    const bytes = requests.map(([method, path, body], i) => {
      const end = i === requests.length - 1 ? ['Connection: close'] : []
      const lines = [...head(path, `Content-Length: ${body.length}`, 'Host: a', ...end), '', body]
      return lines.join('\r\n').replace('POST', method)
    })
    return statusesOf(service().baseUrl, ...bytes)
  }

  test('a connection carries the next request whatever the answer to the one before was', async () => {
    const statuses = await statusesOfAll(
      ['POST', '/v1/payments', json],
      ['POST', '/v1/payments', '{'],
      ['PUT', '/v1/payments', json],
      ['POST', '/v1/nothing', json],
      ['GET', '/v1/payments?page=x', ''],
    )
    assert.deepEqual(statuses, ['201', '400', '405', '404', '422'])
  })

  test('a connection carries the next request after a body of 5 MB was refused, and its client receives the 413', async () => {
    const large = ofSize(5_000_000)
    const codes = await statusesOfAll(['POST', '/v1/payments', large], ['GET', '/v1/payments', ''])
    assert.deepEqual(codes, ['413', '200'])
  })
})
