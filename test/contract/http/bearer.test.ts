import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Answer, Client } from '../../support/client.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

onOneDatabase('HTTP: API keys', service => {
  let api: Client
  let payment_id = ''
  before(async () => {
    api = await service().newAccount()
    payment_id = (await api.createPayment()).payment_id
  })
  const send = (method: string, path: string, ...headers: string[]) =>
    sendRaw(service().baseUrl, [`${method} ${path} HTTP/1.1`, ...headers])

  function assertRefused(answer: Answer, what: string): void {
    assert.equal(answer.status, 401, `${what}: ${answer.text}`)
    assertError(answer, 401, 'P0910')
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  }

  /** Sends each Authorization header. Returns the one description that all responses have. */
  async function descriptionFor(values: (string | undefined)[]): Promise<string> {
    const texts = new Set<string>()
    for (const value of values) {
      const headers = value === undefined ? [] : [`Authorization: ${value}`]
      const answer = await send('GET', `/v1/payments/${payment_id}`, ...headers)
      assertRefused(answer, String(value).slice(0, 100))
      assert.ok(!api.key || !answer.text.includes(api.key))
      texts.add(answer.body.description)
    }
    const [text = '', ...others] = texts
    assert.deepEqual(others, [])
    return text
  }

  test('a request without Authorization header is refused with the header to send', async () => {
    assert.match(await descriptionFor([undefined]), /send the header "Authorization: Bearer YOUR/)
  })

  test('a header that is not Bearer, one space and a key is refused with the form to use', async () => {
    const { key = '' } = api
    const description = await descriptionFor([
      '',
      'Bearer',
      'Bearer ',
      key,
      `bearer ${key}`,
      `BEARER ${key}`,
      `Bearer  ${key}`,
      `Bearer\t${key}`,
      `Bearer:${key}`,
      `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      `Token ${key}`,
    ])
    assert.match(description, /must be the word Bearer, one space and an API key/)
  })

  test('a key that is not known is refused with the likely causes', async () => {
    const { key = '' } = api
    const description = await descriptionFor([
      ` Bearer ${key}x`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer "${key}"`,
      `Bearer ${key} ${key}`,
      `Bearer ${key},Bearer ${key}`,
      `Bearer ${'x'.repeat(10_000)}`,
      'Bearer \u00e9\u00ff',
    ])
    assert.match(description, /another database, or revoked.*farthing keys list/)
  })

  test('every method and every path under /v1 needs the API key, unknown paths included', async () => {
    const known = '/payments /payments/ /refunds /agreements /disputes /webhooks'.split(' ')
    const unknown = '/nothing /nothing/at/all?a=b /auth/more / ?a //payments /payments// /% /%zz'
    const rests = [`/payments/${payment_id}`, '', '/payments/%ff', ...known, ...unknown.split(' ')]
    for (const path of rests.map(rest => `/v1${rest}`))
      for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND'])
        assertRefused(await send(method, path), `${method} ${path}`)
  })

  test('a path under /v1 needs the API key when its characters are percent-encoded', async () => {
    for (const start of ['/%761/', '/v%31/', '/%76%31/', '/v1%2f', '/v1%2F'])
      for (const rest of ['payments', `payments/${payment_id}`, 'nothing', '%ff'])
        assertRefused(await send('GET', start + rest), start + rest)
    for (const path of ['/v1/p%61yments', '/v1/payments/x%2f..'])
      assertRefused(await send('GET', path), path)
  })

  test('a path under /v1 needs the API key when the request target is an absolute URL', async () => {
    for (const target of [
      `${service().baseUrl}/v1/payments/${payment_id}`,
      'http://example.org/v1/payments',
      'http://example.org/v1/nothing',
      'HTTP://example.org/v1',
      'https://user@example.org/%761/payments',
    ])
      assertRefused(await send('GET', target), target)
  })

  test('paths that only resemble /v1 show no payment without the API key', async () => {
    const alike = '//v1/payments /V1/payments /./v1/payments /x/../v1/payments /v1;a/payments'
    for (const path of [...alike.split(' '), '/v1\\payments', 'v1/payments']) {
      const answer = await send('GET', path)
      assert.ok([400, 401, 404].includes(answer.status), `${path}: ${answer.status}`)
      assert.doesNotMatch(answer.text, new RegExp(payment_id))
    }
  })

  test('/v1/auth needs no API key and ignores the Authorization header', async () => {
    for (const value of ['', 'Bearer x', 'Basic x', `Bearer ${api.key}`])
      for (const path of ['/v1/auth', '/v1/auth/', '/v1/%61uth']) {
        const answer = await send('POST', path, `Authorization: ${value}`)
        assertError(answer, 400, 'P0197')
        assert.equal(answer.headers.get('www-authenticate'), null)
      }
  })
})
