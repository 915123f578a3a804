import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Answer, Client } from '../../support/client.ts'
import { endpoints } from '../../support/endpoints.ts'
import { payOnPages } from '../../support/journeys.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

const UNKNOWN = '06g5petm8gpatdosqb0u8c1mv7'
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'

/** The path and the methods of every route that answers in JSON, with HEAD beside GET. */
const routes = [
  ...Map.groupBy(
    [...Object.keys(endpoints), 'GET /healthz', 'GET /readyz', 'GET /healthcheck'],
    name => name.replace(/^\S+ /, ''),
  ),
].map(([path, names]): [path: string, allow: string[]] => [
  path,
  names.flatMap(name => (name.startsWith('GET ') ? ['GET', 'HEAD'] : name.replace(/ .*/, ''))),
])

/** CONNECT never reaches a route. The first route gets all other methods that Node's HTTP parser knows. */
const known = METHODS.filter(method => method !== 'CONNECT')
const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

onOneDatabase('HTTP: routes', service => {
  let api: Client
  let ids: Record<string, string> = {}
  before(async () => {
    api = await service().newAccount()
    const payment = await payOnPages(api, await api.createPayment())
    const refund = await api.post(`${payment._links.refunds.href}`, { amount: 1 })
    const agreement = await api.post('/v1/agreements', { reference: 'a', description: 'b' })
    const webhook = await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    ids = {
      '{payment_id}': payment.payment_id,
      '{refund_id}': refund.body.refund_id,
      '{agreement_id}': agreement.body.agreement_id,
      '{webhook_id}': webhook.body.external_id,
    }
  })
  const address = (route: string) => route.replace(/\{\w+\}/g, name => ids[name] ?? UNKNOWN)
  const send = (method: string, path: string, ...headers: string[]) =>
    sendRaw(service().baseUrl, [
      `${method} ${path} HTTP/1.1`,
      `Authorization: Bearer ${api.key}`,
      ...headers,
    ])
  const readable = routes.filter(([, allow]) => allow.includes('GET'))
  const listed = (answer: Answer) => answer.headers.get('allow')?.split(', ').sort()

  for (const [i, [route, allow]] of routes.entries())
    test(`${route} allows ${allow.join(', ')} and returns 405 with Allow to every other method`, async () => {
      const wrong = (i === 0 ? known : usual).filter(method => !allow.includes(method))
      for (const method of wrong) {
        const answer = await send(method, address(route))
        assert.equal(answer.status, 405, `${method}: ${answer.text}`)
        if (method !== 'HEAD') {
          assertError(answer, 405, 'P0912')
          assert.ok(answer.body.description.includes(method), `${method}: ${answer.text}`)
        }
        assert.deepEqual(listed(answer), allow.toSorted(), method)
      }
    })

  for (const [route] of readable)
    test(`HEAD ${route} returns the status and headers of GET and no body`, async () => {
      for (const query of ['', '?page=x']) {
        const path = address(route) + query
        const [get, head] = [await send('GET', path), await send('HEAD', path)]
        assert.equal(head.text, '')
        assert.equal(head.status, get.status)
        const withoutDate = ({ headers }: Answer) =>
          Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
        assert.deepEqual(withoutDate(head), withoutDate(get))
      }
    })

  for (const [route] of readable)
    test(`GET ${route} accepts one slash at the end and no second one`, async () => {
      const path = address(route)
      const [plain, slashed] = [await send('GET', path), await send('GET', `${path}/`)]
      assert.deepEqual([slashed.status, slashed.text], [plain.status, plain.text])
      assert.equal((await send('GET', `${path}/?page=1`)).status, 200)
      for (const method of ['GET', 'POST'])
        assertError(await send(method, `${path}//`), 404, 'P0911')
      assertError(await send('GET', `${path}//?page=1`), 404, 'P0911')
    })

  test('POST and DELETE accept one slash at the end of the path', async () => {
    const payment = await api.createPayment()
    const cancel = `/v1/payments/${payment.payment_id}/cancel/`
    assert.equal((await send('POST', cancel)).status, 204)
    assert.equal((await api.request('POST', '/v1/payments/')).body.code, 'P0197')
    assert.equal((await api.request('POST', '/v1/auth/')).body.code, 'P0197')
    assert.equal((await api.request('POST', '/v1/agreements/')).body.code, 'P2197')
    assert.equal((await send('DELETE', `/v1/webhooks/${ids['{webhook_id}']}/`)).status, 204)
  })

  const unknown = '/nothing /favicon.ico /healthz/more /secured /v2/payments /V1/payments /v1 /v1/'
  const ofVersion = '/v1/nothing /v1/Payments /v1/payments/a/b /v1/refunds/a /v1/disputes/a'
  const undecodable = '/% /%ff /v1/% /v1/payments/%ff /v1/payments/%e0%a4/cancel /v1/%ff?page=x'
  const assets = '/assets/nothing.css /assets/..%2f..%2fpackage.json /assets/../../package.json'

  test('an unknown path and one that cannot be decoded return 404 P0911, under /v1 and outside it, and the HTML page under /secure', async () => {
    for (const path of `${unknown} ${ofVersion} ${undecodable}`.split(' '))
      for (const method of ['GET', 'POST', 'PUT']) {
        const answer = await send(method, path)
        assertError(answer, 404, 'P0911')
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
        if (path.startsWith('/v1/')) assert.equal(answer.headers.get('cache-control'), 'no-store')
      }
    for (const path of assets.split(' ')) assertError(await send('GET', path), 404, 'P0911')
    const page = await send('GET', '/secure/%ff')
    assert.equal(page.status, 404)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  })

  test('the 404 of an unknown path says what is wrong with /v1 or the slashes in it', async () => {
    const id = ids['{payment_id}'] ?? 'id'
    for (const [pattern, paths] of [
      [/begins with \/v1 twice/, ['/v1/v1', '/v1/v1/payments', '/v%31/v1/a?b=c']],
      [/empty segment/, ['//v1/payments', '/v1//payments', `/v1/payments/${id}//`, '//']],
      [/but with \/v1 before it/, ['/payments', '/payments/', `/payments/${id}/events?a=//b`]],
      [
        /GET \/openapi.json lists them all$/,
        ['/v1/nothing', '/nothing', '/v1/v1a', '/payments/a/b'],
      ],
    ] as const)
      for (const path of paths) {
        const answer = await send('POST', path)
        assertError(answer, 404, 'P0911')
        assert.match(answer.body.description, pattern, path)
        assert.ok(!answer.body.description.includes(id))
      }
  })

  test('a GET for an unknown address that prefers HTML gets the page for it, with the headers of a page', async () => {
    for (const accept of [BROWSER, 'Text/HTML', 'text/html, */*;q=0.1', 'text/html;level=1'])
      for (const path of ['/nothing', '/payments/abc?x=y', '/docs/more', '//', '/%ff', '/v1x']) {
        // Not sendRaw: it expects JSON, as the description says.
        const answer = await fetch(service().baseUrl + path, { headers: { accept } })
        assert.equal(answer.status, 404, path)
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', path)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
        assert.match(await answer.text(), /<h1 class="govuk-heading-l">Page not found<\/h1>/)
      }
  })

  test('any other request for an unknown address and every request under /v1 gets JSON, and known addresses stay as they are', async () => {
    const json = ['application/json, text/html;q=0.9', 'text/html, application/json']
    for (const accept of ['', '*/*', ...json, 'text/html;q=0', 'text/html;q=x', 'text/htmlx'])
      assertError(await send('GET', '/nothing', `Accept: ${accept}`), 404, 'P0911')
    const inBrowser = (method: string, path: string) => send(method, path, `Accept: ${BROWSER}`)
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      assertError(await inBrowser(method, '/nothing'), 404, 'P0911')
    for (const path of ['/v1/nothing', '/%761/nothing'])
      assertError(await inBrowser('GET', path), 404, 'P0911')
    assert.equal((await inBrowser('GET', '/healthz')).text, '{"status":"ok"}')
    assertError(await inBrowser('POST', '/healthz'), 405, 'P0912')
  })
})
