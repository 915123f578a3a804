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

/** CONNECT never reaches a route. The first route is asked with all others that Node's HTTP parser knows. */
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

  test('an unknown path returns 404 P0911, under /v1 and outside it', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v1/disputes/06g29a1qo2naf3av5jnd3p8dkd',
      '/v1/payments/a/b',
      '/v1/refunds/a',
      '/v1/Payments',
      '/V1/payments',
      '/v2/payments',
      '/nothing',
      '/favicon.ico',
      '/healthz/more',
      '/assets/nothing.css',
      '/assets/..%2f..%2fpackage.json',
      '/assets/../../package.json',
      '/secured',
      '/%',
      '/%ff',
    ])
      for (const method of ['GET', 'POST', 'PUT'])
        if (!path.startsWith('/assets') || method === 'GET')
          assertError(await send(method, path), 404, 'P0911')
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

  test('a path with a very long identifier reaches its route, which returns its own 404', async () => {
    for (const length of [101, 1_000, 10_000]) {
      const id = 'x'.repeat(length)
      assertError(await send('GET', `/v1/payments/${id}`), 404, 'P0200')
      assertError(await send('POST', `/v1/payments/${id}/cancel`), 404, 'P0500')
      assert.match((await send('GET', `/secure/${id}`)).text, /^<!doctype html>/i)
    }
  })

  test('a path that cannot be decoded returns 404 P0911, or the HTML page under /secure', async () => {
    for (const path of [
      '/v1/%',
      '/v1/payments/%ff',
      '/v1/payments/%e0%a4/cancel',
      '/v1/%ff?page=x',
    ])
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await send(method, path)
        assertError(answer, 404, 'P0911')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      }
    const page = await send('GET', '/secure/%ff')
    assert.equal(page.status, 404)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  })
})
