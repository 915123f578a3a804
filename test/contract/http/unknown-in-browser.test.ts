import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'

onOneDatabase('HTTP: unknown addresses in a browser', service => {
  const send = (accept: string | undefined, path: string, method = 'GET') =>
    sendRaw(service().baseUrl, [
      `${method} ${path} HTTP/1.1`,
      ...(accept === undefined ? [] : [`Accept: ${accept}`]),
    ])

  test('a GET that prefers HTML gets the page for an unknown address, with the headers of a page', async () => {
    for (const accept of [BROWSER, 'Text/HTML', 'text/html, */*;q=0.1', 'text/html;level=1'])
      for (const path of ['/nothing', '/payments/abc?x=y', '/docs/more', '//', '/%ff', '/v1x']) {
        // Not sendRaw: it expects what the description says, which is JSON.
        const answer = await fetch(service().baseUrl + path, { headers: { accept } })
        assert.equal(answer.status, 404, path)
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', path)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
        assert.match(await answer.text(), /<h1 class="govuk-heading-l">Page not found<\/h1>/)
      }
  })

  test('any other request for an unknown address gets JSON', async () => {
    for (const accept of [
      undefined,
      '',
      '*/*',
      'application/json',
      'application/json, text/html;q=0.9',
      'text/html, application/json',
      'text/html;q=0',
      'text/html;q=x',
      'text/htmlx',
    ])
      assertError(await send(accept, '/nothing'), 404, 'P0911')
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      assertError(await send(BROWSER, '/nothing', method), 404, 'P0911')
  })

  test('under /v1 every request gets JSON, and known addresses stay as they are', async () => {
    assertError(await send(BROWSER, '/v1/nothing'), 401, 'P0910')
    assertError(await send(BROWSER, '/%761/nothing'), 401, 'P0910')
    assert.equal((await send(BROWSER, '/healthz')).text, '{"status":"ok"}')
    assertError(await send(BROWSER, '/healthz', 'POST'), 405, 'P0912')
  })
})
