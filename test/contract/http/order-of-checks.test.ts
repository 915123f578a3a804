import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { briefOf } from '../../support/assertions.ts'
import { type Answer, type Client, webPayment } from '../../support/client.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const TOO_LARGE = 'x'.repeat(65_537)
const NO_OBJECTS = ['', '[]', '"x"', 'null', '1', '{', '{"a":1}x', '{"__proto__":1}']
const UNKNOWN = '06g5petm8gpatdosqb0u8c1mv7'
const KEYLESS = { key: undefined }

type Request = {
  method?: string
  path: string
  key?: string | undefined
  type?: string
  body?: string
}

onOneDatabase('HTTP: order of checks', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })

  function send(request: Request): Promise<Answer> {
    const { method = 'POST', path, key, type, body } = { key: api.key, ...request }
    const head = [`${method} ${path} HTTP/1.1`, `Content-Type: ${type ?? 'application/json'}`]
    if (key !== undefined) head.push(`Authorization: Bearer ${key}`)
    return sendRaw(service().baseUrl, head, body)
  }

  const expectAnswer = async (request: Request, expected: string): Promise<void> =>
    assert.equal(briefOf(await send(request)), expected)

  const withBody = [
    { path: '/v1/payments', noObject: '400 P0197', wrong: '400 P0101 amount' },
    { path: `/v1/payments/${UNKNOWN}/refunds`, noObject: '400 P0697', wrong: '400 P0601 amount' },
    { path: '/v1/agreements', noObject: '400 P2197', wrong: '400 P2101 reference' },
    { path: '/v1/webhooks', noObject: '400 P0197', wrong: '422 P0101 callback_url' },
  ]
  for (const { path, noObject, wrong } of withBody)
    test(`POST ${path} checks key, route, method, media type, size, JSON object and fields in this order`, async () => {
      const worst = { path, type: 'text/plain', body: TOO_LARGE }
      await expectAnswer({ ...worst, ...KEYLESS }, '401 P0910')
      await expectAnswer({ ...worst, method: 'PUT', path: `${path}/no/such` }, '404 P0911')
      await expectAnswer({ ...worst, path: `${path}/no/such` }, '404 P0911')
      await expectAnswer({ ...worst, method: 'PUT' }, '405 P0912')
      await expectAnswer(worst, '400 P0920')
      await expectAnswer({ ...worst, type: 'application/json' }, '413 P0913')
      for (const body of [TOO_LARGE.slice(1), ...NO_OBJECTS])
        await expectAnswer({ path, body }, noObject)
      await expectAnswer({ path, body: '{}' }, wrong)
    })

  test('POST /v1/auth checks method, media type, size, JSON object and fields in this order, and never a key', async () => {
    const worst = { path: '/v1/auth', type: 'text/plain', body: TOO_LARGE }
    for (const key of [undefined, 'no such key', api.key]) {
      await expectAnswer({ ...worst, key, method: 'PUT' }, '405 P0912')
      await expectAnswer({ ...worst, key }, '400 P0920')
      await expectAnswer({ ...worst, key, type: 'application/json' }, '413 P0913')
      for (const body of NO_OBJECTS)
        await expectAnswer({ path: '/v1/auth', key, body }, '400 P0197')
      await expectAnswer({ path: '/v1/auth', key, body: '{}' }, '422 P0101 one_time_token')
    }
  })

  const bodyless = [
    { path: '/v1/payments/:id/cancel', unknown: '404 P0500' },
    { path: '/v1/payments/:id/capture', unknown: '404 P1000' },
    { path: '/v1/agreements/:id/cancel', unknown: '404 P2500' },
    { path: '/v1/webhooks/:id', method: 'DELETE', unknown: '404 P2700' },
  ]
  for (const { path: pattern, method = 'POST', unknown } of bodyless)
    test(`${method} ${pattern} checks key, route, method, size and resource in this order, whatever the type and encoding of the body`, async () => {
      const path = pattern.replace(':id', UNKNOWN)
      const worst = { method, path, type: 'nonsense', body: TOO_LARGE }
      await expectAnswer({ ...worst, ...KEYLESS }, '401 P0910')
      await expectAnswer({ ...worst, path: `${path}/no` }, '404 P0911')
      await expectAnswer({ ...worst, method: 'PATCH' }, '405 P0912')
      await expectAnswer(worst, '413 P0913')
      for (const type of ['nonsense', 'application/json\r\nContent-Encoding: gzip', ''])
        await expectAnswer({ ...worst, type, body: TOO_LARGE.slice(1) }, unknown)
    })

  const long = `reference=${'x'.repeat(256)}`
  const searches: [path: string, invalid: string, ...otherQueries: string[]][] = [
    ['/v1/payments', '422 P0401'],
    ['/v1/refunds', '422 P1101', 'to_settled_date=2026-02-30'],
    ['/v1/agreements', '422 P2401', 'status=Active', long, 'reference=%00'],
    ['/v1/disputes', '422 P0401', 'status=LOST'],
    ['/v1/webhooks', '422 P2701'],
    [`/v1/webhooks/${UNKNOWN}/messages`, '422 P2701'],
  ]
  for (const [path, invalid, ...otherQueries] of searches)
    test(`GET ${path} checks key, route, method and parameters in this order`, async () => {
      const query = '?page=x'
      const method = 'GET'
      await expectAnswer({ ...KEYLESS, method, path: path + query }, '401 P0910')
      await expectAnswer({ method, path: `${path}/no/such/thing${query}` }, '404 P0911')
      await expectAnswer({ method: 'PATCH', path: path + query }, '405 P0912')
      for (const wrong of [query, ...otherQueries.map(other => `?${other}`)])
        await expectAnswer({ method, path: path + wrong }, invalid)
    })

  test('a request that fails a check has no effect', async () => {
    const other = await service().newAccount()
    const body = JSON.stringify(webPayment)
    for (const request of [
      { path: '/v1/payments', body, type: 'text/plain' },
      { path: '/v1/payments', body, method: 'PUT' },
      { path: '/v1/payments/', body: body + ' '.repeat(65_536) },
      { path: '/v1/payment', body },
    ])
      assert.ok((await send({ ...request, key: other.key })).status >= 400)
    assert.equal((await other.get('/v1/payments')).body.total, 0)
  })
})
