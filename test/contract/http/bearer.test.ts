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
    for (const path of [
      `/v1/payments/${payment_id}`,
      '/v1/payments',
      '/v1/payments/',
      '/v1/refunds',
      '/v1/agreements',
      '/v1/disputes',
      '/v1/webhooks',
      '/v1/nothing',
      '/v1/nothing/at/all?a=b',
      '/v1/auth/',
      '/v1/auth/more',
      '/v1',
      '/v1/',
      '/v1?a',
      '/v1//payments',
      '/v1/payments//',
      '/v1/%',
      '/v1/%zz',
      '/v1/payments/%ff',
    ])
      for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
        if (path === '/v1/auth/') continue
        assertRefused(await send(method, path), `${method} ${path}`)
      }
  })

  test('a path under /v1 needs the API key when its characters are percent-encoded', async () => {
    const prefix = ['/%761', '/v%31', '/%76%31', '/v1%2f', '/v1%2F']
    for (const start of prefix)
      for (const rest of ['/payments', `/payments/${payment_id}`, '/nothing', '/%ff']) {
        const path =
          start.endsWith('f') || start.endsWith('F') ? start + rest.slice(1) : start + rest
        const answer = await send('GET', path)
        assert.equal(answer.body.payment_id ?? answer.body.results, undefined, path)
        assertRefused(answer, path)
      }
    for (const path of ['/v1/p%61yments', `/v1/payments/${encodeURIComponent('x')}%2f..`])
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
    for (const path of [
      '//v1/payments',
      '/V1/payments',
      '/./v1/payments',
      '/x/../v1/payments',
      '/v1;a/payments',
      '/v1\\payments',
      'v1/payments',
    ]) {
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
