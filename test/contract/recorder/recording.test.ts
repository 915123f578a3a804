import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCanaries } from '../../faults/secrets.ts'
import type { Body, Client } from '../../support/client.ts'
import { ticking } from '../../support/integration.ts'
import { authorise, cancelledPayment, card, DECLINED, payOnPages } from '../../support/journeys.ts'
import { flush, recorded } from '../../support/record.ts'
import { onEveryDatabase, startService } from '../../support/service.ts'
import { history, received, receiving, subscribe } from '../../support/subscriber.ts'

const moto = { authorisation_mode: 'moto_api' }

function remembering(api: Client) {
  const sent: [line: string, body: string, status: number, answered: string][] = []
  const send = async (method: string, path: string, json?: unknown) => {
    const body = json === undefined ? '' : JSON.stringify(json)
    const headers = { ...(body && { 'Content-Type': 'application/json' }) }
    const answer = await api.request(method, path, { headers, ...(body && { body }) })
    sent.push([`${method} ${path}`, body, answer.status, answer.text])
    return answer
  }
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown) => send('POST', path, body),
    send,
    sent,
  }
}

onEveryDatabase('The recorder', receiving, service => {
  /** Time passes with each request, so the requests have an order. */
  const newAccount = async () => {
    const { name, api } = await service().namedAccount()
    return { name, api: ticking(api, service()) }
  }

  test('The record has every request with a key byte for byte, except tokens, signing keys and the body that HEAD does not send', async t => {
    const { name, api } = await newAccount()
    const { webhook } = await subscribe(t, api)
    const { get, post, send, sent } = remembering(api)
    const given = { amount: 100, reference: 'ü-1', description: 'Ein Stück', ...moto }
    const { body: payment } = await post('/v1/payments', given)
    const path = `/v1/payments/${payment.payment_id}`
    await authorise(api, payment)
    const agreement = await post('/v1/agreements', { reference: 'A', description: 'B' })
    const refund = await post(`${path}/refunds`, { amount: 1, refund_amount_available: 100 })
    const agreementPath = `/v1/agreements/${agreement.body.agreement_id}`
    for (const each of [
      '/v1/payments?reference=%C3%BC-1',
      path,
      `${path}/events`,
      `${path}/refunds`,
      `${path}/refunds/${refund.body.refund_id}`,
      '/v1/refunds',
      '/v1/disputes',
      '/v1/agreements',
      agreementPath,
      '/v1/webhooks',
      `/v1/webhooks/${webhook.external_id}`,
      `/v1/webhooks/${webhook.external_id}/messages`,
      '/v1/payments/unknown',
    ])
      await get(each)
    await send('HEAD', path)
    for (const each of [`${path}/cancel`, `${path}/capture`, `${agreementPath}/cancel`])
      await post(each)
    const made = await post('/v1/webhooks', { callback_url: 'https://localhost/made' })
    await send('DELETE', `/v1/webhooks/${webhook.external_id}`)

    const secrets = [webhook.signing_key, made.body.signing_key]
    const { one_time_token } = payment._links.auth_url_post.params
    const masked = (text: string) =>
      secrets
        .reduce((all, secret) => all.replaceAll(secret, '…'), text)
        .replaceAll(one_time_token, `${payment.payment_id}…`)
    const kept = (await recorded(service(), name, { kinds: ['api'] })).filter(
      ({ operation }) => operation !== 'authorisePayment',
    )
    // The first exchange registers the webhook of `subscribe`.
    const found = kept.slice(1).map(({ request_body, response_body, ...each }) => {
      const line = `${each.method} ${each.path}${each.query && `?${each.query}`}`
      return [line, request_body?.text ?? '', each.status, response_body?.text ?? '']
    })
    const expected = sent.map(([line, body, status, text]) => [line, body, status, masked(text)])
    assert.deepEqual(found, expected)
    const { body: description } = await service().anonymous.get('/openapi.json')
    const operations = Object.entries<Body>(description.paths)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([, methods]) => Object.values<Body>(methods).map(each => each.operationId))
    const missed = new Set(operations).difference(new Set(kept.map(each => each.operation)))
    assert.deepEqual([...missed], ['authorisePayment'])
    assert.deepEqual([...new Set(kept.map(each => each.key_id?.length))], [26])
  })

  test('The record names for every event and every message the one request that caused it', async t => {
    const { name, api } = await service().namedAccount()
    const { webhook } = await subscribe(t, api)
    const made = [
      await payOnPages(api, await api.createPayment()),
      await api.createPayment(moto),
      await api.createPayment({ delayed_capture: true }),
    ]
    const [paid, declined, captured] = made
    const guarded = { amount: 5, refund_amount_available: paid.amount }
    await api.post(`/v1/payments/${paid.payment_id}/refunds`, guarded)
    assert.equal((await authorise(api, declined, { card_number: DECLINED })).status, 402)
    await payOnPages(api, captured)
    await api.post(`/v1/payments/${captured.payment_id}/capture`)
    await flush(service())
    const causedMessages: string[] = []
    for (const { payment_id } of made) {
      const all = await recorded(service(), name, { payment_id })
      const { body } = await api.get(`/v1/payments/${payment_id}/events`)
      assert.deepEqual(all.flatMap(({ caused }) => caused?.events ?? []).sort(), [
        ...body.events.keys(),
      ])
      causedMessages.push(...all.flatMap(({ caused }) => caused?.messages ?? []))
      const attempts = all.filter(({ kind }) => kind === 'out')
      assert.ok(attempts.every(({ message_id }) => causedMessages.includes(message_id ?? '')))
    }
    const messages = (await history(api, webhook)).map(each => each.webhook_message_id)
    assert.ok(messages.length > 5)
    assert.deepEqual(causedMessages.sort(), messages.sort())
  })

  test('The record of an attempt has the request and the response of the receiver', async t => {
    const { name, api } = await service().namedAccount()
    const answer = 'é'.repeat(10_000)
    const subscriber = await subscribe(t, api, {
      behaviour: {
        onRequest: ({ response }) => {
          for (let i = 0; i < 30; i++) response.setHeader(`X-Header-${i}`, `${i}`)
          response.writeHead(500, 'Broken').end(answer)
        },
      },
    })
    await cancelledPayment(api)
    const attempts = await recorded(service(), name, { kinds: ['out'] })
    assert.equal(attempts.length, 2, 'both attempts')
    const [attempt] = attempts
    assert.ok(attempt)
    const [arrived] = subscriber.requests
    assert.deepEqual([attempt.method, attempt.path], ['POST', subscriber.url])
    assert.equal(attempt.request_body?.text, arrived?.body)
    assert.ok('Pay-Signature' in attempt.request_headers)
    for (const [header, value] of Object.entries(attempt.request_headers))
      assert.equal(arrived?.headers[header.toLowerCase()], value)
    const { status, result, refused, operation, response_headers, response_body } = attempt
    assert.deepEqual([status, result, refused], [500, '500 Broken', true])
    assert.equal(operation, 'card_payment_cancelled')
    assert.equal(Object.keys(response_headers).length, 20)
    assert.equal(response_headers['X-Header-7'], '7')
    assert.deepEqual(response_body, { text: 'é'.repeat(4_096), cut: 20_000 })
    assert.equal(received(subscriber).length, 2)
  })

  test('The record of pages and card authorisations has no forms, pages, cards or tokens', async () => {
    const { name, api } = await newAccount()
    const web = await api.createPayment()
    const { pathname } = new URL(web._links.next_url.href)
    for (const path of [
      `${pathname}?again=${pathname.slice(8)}`,
      `/secure/%3${pathname.slice(8)}`,
      pathname.replace('/0', '/%30'),
    ])
      await api.get(path)
    await api.postForm(pathname, { scenario: 'declined', card_number: card.card_number })
    const called = await api.createPayment(moto)
    for (const fields of [{ card_number: '1' }, { cvc: '7319' }, {}])
      await authorise(api, called, fields)
    const all = await recorded(service(), name)
    const tokens = [pathname.slice(8), pathname.slice(34)]
    const secrets = { tokens, cards: [card.card_number], cvcs: ['7319'] }
    assert.deepEqual(findCanaries([JSON.stringify(all)], secrets), [])
    const pages = all.filter(({ kind }) => kind === 'page')
    const forms = pages.map(({ request_body }) => request_body?.text)
    assert.deepEqual(forms, [undefined, undefined, undefined, 'scenario=declined'])
    for (const { path, response_body } of pages)
      assert.deepEqual([path, response_body], [`/secure/${web.payment_id}…`, undefined])
    const authorised = all.filter(({ operation }) => operation === 'authorisePayment')
    const codes = authorised.map(({ status, code }) => `${status} ${code}`)
    assert.deepEqual(codes, ['422 P0102', '204 undefined', '400 P1212'])
    for (const { payment_id, request_body } of authorised)
      assert.deepEqual([payment_id, request_body], [called.payment_id, undefined])
  })

  test('Refusals at the address of a payment’s page are recorded with the payment', async () => {
    const { name, api } = await newAccount()
    const { payment_id, _links } = await api.createPayment()
    const { pathname } = new URL(_links.next_url.href)
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const otherSite = { ...form, 'Sec-Fetch-Site': 'cross-site' }
    for (const [method, headers, body] of [
      ['POST', otherSite, 'scenario=success'],
      ['PUT', form, 'scenario=success'],
      ['POST', form, `scenario=${'x'.repeat(70_000)}`],
      ['POST', { 'Content-Type': 'application/json' }, '{}'],
    ] as const)
      await api.request(method, pathname, { headers, body })
    const pages = await recorded(service(), name, { payment_id, kinds: ['page'] })
    const found = pages.map(({ method, status, refused }) => `${method} ${status} ${refused}`)
    assert.deepEqual(found, ['POST 403 true', 'PUT 405 true', 'POST 413 true', 'POST 415 true'])
    for (const { path } of pages) assert.equal(path, `/secure/${payment_id}…`)
  })

  test('A payment whose creation was refused is found by its reference of at most 255 characters', async () => {
    const { name, api } = await newAccount()
    for (const [length, found] of [
      [255, 1],
      [256, 0],
    ] as const) {
      const reference = 'r'.repeat(length)
      await api.post('/v1/payments', { amount: 'no', reference })
      assert.equal((await recorded(service(), name, { reference })).length, found)
    }
  })

  test('Requests without an account are not recorded, and with a key those of unknown paths are', async () => {
    const { name, api } = await newAccount()
    const countAll = async () => {
      await flush(service())
      return service().database.query('select count(*) from exchanges')
    }
    const before = await countAll()
    for (const path of ['/v1/payments', '/v1/v1', '/secure/unknown', '/healthz', '/', '/nowhere'])
      await service().anonymous.request('GET', path)
    await service().anonymous.post('/v1/auth', { ...card, one_time_token: 'x' })
    const headers = { Authorization: 'Bearer api_test_unknown' }
    await service().anonymous.request('GET', '/nowhere', { headers })
    for (const path of ['/healthz', '/secure/unknown/more']) await api.request('GET', path)
    assert.deepEqual(await countAll(), before)
    const token = 'a'.repeat(52)
    const wrong = ['/v1/v1/payments', '//v1/payments', '/payments', `/nowhere/${token}?a=1`]
    for (const [method, path] of [
      ['PUT', '/v1/payments'],
      ...wrong.map(path => ['POST', path] as const),
    ] as const)
      await api.request(method, path, { body: 'x' })
    const found = (await recorded(service(), name)).map(
      ({ operation, code, path, query }) => `${operation} ${code} ${path}${query}`,
    )
    const masked = [...wrong.slice(0, 3), `/nowhere/${'a'.repeat(26)}…a=1`]
    const unknown = masked.map(path => `noSuchEndpoint P0911 ${path}`)
    assert.deepEqual(found, ['methodNotAllowed P0912 /v1/payments', ...unknown])
  })
})

test('Exchanges beyond the limits are counted, and refusals are recorded during a load of successes', async t => {
  // The clock moves by a millisecond only, so that no bucket is filled up again.
  const service = await startService('sqlite')
  t.after(() => service.stop())
  const { name, api } = await service.namedAccount()
  for (let i = 0; i < 42; i++) {
    const path = `/v1/agreements${i === 41 ? '/unknown' : ''}`
    const getAtOnce = () => Promise.all(Array.from({ length: 25 }, () => api.get(path)))
    await getAtOnce()
    if (i === 40) service.clock.advance(1)
    await getAtOnce()
    await flush(service)
  }
  const all = await recorded(service, name)
  const kept = all.filter(({ kind }) => kind === 'api')
  assert.deepEqual([kept.length, kept.filter(({ refused }) => refused).length], [2_050, 50])
  const counted = all.flatMap(({ gap }) => gap ?? [])
  const from = counted[0]?.from ?? NaN
  assert.deepEqual(counted, [{ count: 50, refused: 0, from, to: from + 1, bounds: ['account'] }])
})
