import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { healthEndpoints } from '../../../src/platform/http/health.ts'
import type { Answer, Client } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

onOneDatabase('HTTP: response headers', service => {
  let api: Client
  /** One answer of every kind under /v1. */
  let answers: Record<string, Answer> = {}
  before(async () => {
    api = await service().newAccount()
    const payment = await payOnPages(api, await api.createPayment())
    const self = `/v1/payments/${payment.payment_id}`
    const { anonymous } = service()
    answers = {
      'a payment': await api.get(self),
      'a search': await api.get('/v1/payments'),
      'a refund': await api.post(`${self}/refunds`, { amount: 1 }),
      events: await api.get(`${self}/events`),
      disputes: await api.get('/v1/disputes'),
      'an agreement': await api.post('/v1/agreements', { reference: 'a', description: 'b' }),
      'a webhook': await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' }),
      'a cancel': await api.post((await api.createPayment())._links.cancel.href),
      400: await api.post('/v1/payments', {}),
      401: await anonymous.get(self),
      '401 of an unknown route': await anonymous.get('/v1/nothing'),
      '401 of a path that cannot be decoded': await anonymous.get('/v1/%ff'),
      404: await api.get('/v1/payments/x'),
      '404 of an unknown route': await api.get('/v1/nothing'),
      '404 of a path that cannot be decoded': await api.get('/v1/%ff'),
      405: await api.request('PUT', '/v1/payments'),
      409: await api.post(`${self}/capture`),
      413: await api.request('POST', '/v1/payments', { body: ' '.repeat(65_537) }),
      'a 400 for a media type': await api.request('POST', '/v1/payments', { body: 'text' }),
      422: await api.get('/v1/payments?page=x'),
      'an OPTIONS': await api.request('OPTIONS', '/v1/payments'),
      'an auth': await anonymous.post('/v1/auth', {}),
    }
  })

  test('every answer under /v1 has the headers no-store, no-cache and nosniff', () => {
    for (const [what, { headers }] of Object.entries(answers)) {
      assert.equal(headers.get('cache-control'), 'no-store', what)
      assert.equal(headers.get('pragma'), 'no-cache', what)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', what)
    }
  })

  test('no answer under /v1 has a CORS header, and OPTIONS returns 405', () => {
    for (const [what, { headers }] of Object.entries(answers))
      for (const name of headers.keys()) assert.doesNotMatch(name, /^access-control/, what)
    assert.equal(answers['an OPTIONS']?.status, 405)
  })

  test('only the answer to a new payment has a Location, which is the address of the payment', async () => {
    const created = await api.post('/v1/payments', {
      amount: 1,
      reference: 'a',
      description: 'b',
      return_url: 'https://example.org/',
    })
    const { href } = created.body._links.self
    assert.equal(created.headers.get('location'), href)
    assert.equal((await api.get(href)).body.payment_id, created.body.payment_id)
    for (const [what, { headers }] of Object.entries(answers))
      assert.equal(headers.get('location'), null, what)
  })
})

onSharedDatabases('HTTP: health checks', service => {
  test('/healthz and /readyz return 200 and status ok without an API key', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, body } = await service().anonymous.get(path)
      assert.equal(status, 200)
      assert.deepEqual(body, { status: 'ok' })
    }
  })

  test('/healthcheck returns the same body as GOV.UK Pay', async () => {
    const { status, body } = await service().anonymous.get('/healthcheck')
    assert.equal(status, 200)
    assert.deepEqual(body, { ping: { healthy: true }, deadlocks: { healthy: true } })
  })
})

test('100 requests to /readyz at once ask the database once', async () => {
  let checks = 0
  const check = async () => {
    checks += 1
    await setImmediate()
  }
  const endpoints = healthEndpoints({ database: { check } }, () => false)
  const readiness = endpoints.find(({ path }) => path === '/readyz')
  const request = {} as FastifyRequest
  const reply = {} as FastifyReply
  const bodies = await Promise.all(
    Array.from({ length: 100 }, () => readiness?.handler(request, reply)),
  )
  for (const body of bodies) assert.deepEqual(body, { status: 'ok' })
  assert.equal(checks, 1)
})
