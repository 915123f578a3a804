import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLAIM_MS } from '../../../src/pay/webhooks/attempts.ts'
import { assertError, briefOf } from '../../support/assertions.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { askFor, ofOneThing } from '../../support/endpoints.ts'
import { authorise, choose, payOnPages } from '../../support/journeys.ts'
import { activeAgreement, newAgreement } from '../../support/new-payment.ts'
import { onEveryDatabase, onSharedDatabases } from '../../support/service.ts'
import { history } from '../../support/subscriber.ts'

const SEVEN_DAYS = 604_800_000
const moto = { authorisation_mode: 'moto_api' }

onSharedDatabases('Retention: expired payments', { control: true }, service => {
  /** Moves the clock to the last millisecond before the newest payment is gone. */
  const toTheEnd = (api: Client) => api.advance(SEVEN_DAYS - 1)
  const pastTheEnd = (api: Client) => api.advance(1)

  test('the endpoints of a payment return 404 with their codes when it is 7 days old, and not before', async () => {
    const api = await service().newAccount()
    const payment = await payOnPages(api, await api.createPayment())
    const refund = (await api.post(payment._links.refunds.href, { amount: 1 })).body
    const ids: Body = { ...payment, ...refund }
    const ofPayment = ofOneThing.filter(({ name }) => name.includes('{payment_id}'))
    const answers = async () => {
      const found: string[] = []
      for (const { name } of ofPayment)
        found.push(briefOf(await askFor(api, name, id => ids[id], 5_000)))
      return found.join(', ')
    }
    await toTheEnd(api)
    const before = '200, 200, 400 P0501, 409 P1003, 200, 400 P0603, 200'
    assert.equal(await answers(), before)
    await pastTheEnd(api)
    assert.equal(await answers(), ofPayment.map(({ code }) => `404 ${code}`).join(', '))
  })

  test('an expired payment and its refunds are in no search, total or page', async () => {
    const api = await service().newAccount()
    const payment = await payOnPages(api, await api.createPayment({ email: 'a@example.org' }))
    await api.post(payment._links.refunds.href, { amount: 1 })
    await api.advance(1)
    const younger = await payOnPages(api, await api.createPayment({ email: 'a@example.org' }))
    await api.post(younger._links.refunds.href, { amount: 1 })
    const totals = async () => [
      (await api.get('/v1/payments')).body.total,
      (await api.get('/v1/payments?email=A@&state=success')).body.total,
      (await api.get('/v1/refunds')).body.total,
    ]
    await api.advance(SEVEN_DAYS - 2)
    assert.deepEqual(await totals(), [2, 2, 2])
    assert.equal((await api.get('/v1/payments?page=2&display_size=1')).status, 200)
    await pastTheEnd(api)
    assert.deepEqual(await totals(), [1, 1, 1])
    const { body } = await api.get('/v1/payments')
    const shown = body.results.map((each: Body) => each.payment_id)
    assert.deepEqual(shown, [younger.payment_id])
    assertError(await api.get('/v1/payments?page=2&display_size=1'), 404, 'P0402')
    assertError(await api.get('/v1/refunds?page=2&display_size=1'), 404, 'P1100')
    const early = new Date(Date.parse(payment.created_date)).toISOString()
    assert.equal((await api.get(`/v1/payments?from_date=${early}`)).body.total, 1)
    await pastTheEnd(api)
    assert.deepEqual(await totals(), [0, 0, 0])
  })

  test('the hosted pages of an expired payment return 404, and POST /v1/auth 400 P1211, even for a used token', async () => {
    const api = await service().newAccount()
    const payment = await api.createPayment()
    const [used, unused] = [await api.createPayment(moto), await api.createPayment(moto)]
    await choose(api, payment, 'success')
    const finished = await payOnPages(api, await api.createPayment())
    const page = payment._links.next_url.href
    const token = page.split('/').pop() ?? ''
    const visits = (): Promise<Answer>[] => [
      api.get(page),
      api.get(`${page}/confirm`),
      api.postForm('/secure', { chargeTokenId: token }),
    ]
    await toTheEnd(api)
    for (const answer of await Promise.all(visits())) assert.equal(answer.status, 200)
    assert.equal((await authorise(api, used)).status, 204)
    await pastTheEnd(api)
    for (const each of [used, unused]) assertError(await authorise(api, each), 400, 'P1211')
    for (const answer of await Promise.all([
      ...visits(),
      api.postForm(page, { scenario: 'success' }),
      api.postForm(`${page}/confirm`, {}),
      api.get(page.replace(token, `${finished.payment_id}${token.slice(26)}`)),
      api.postForm('/secure', { chargeTokenId: token, step: 'confirm' }),
    ])) {
      assert.equal(answer.status, 404)
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    }
  })

  test('a webhook does not expire, and an agreement outlives its set-up payment and can still be used', async () => {
    const api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    const cancelled = await newAgreement(api)
    await api.post(`/v1/agreements/${cancelled}/cancel`)
    await api.post('/v1/webhooks', { callback_url: 'https://hooks.example.org/' })
    const both = () => Promise.all(['agreements', 'webhooks'].map(each => api.get(`/v1/${each}`)))
    const before = (await both()).map(({ body }) => body)
    await api.advance(SEVEN_DAYS * 3)
    const after = (await both()).map(({ body }) => body)
    assert.deepEqual(after, before)
    const payment = await api.createPayment({ authorisation_mode: 'agreement', agreement_id })
    assert.equal(payment.state.status, 'success')
    assert.equal(payment.card_details.last_digits_card_number, '4242')
    const listed = await api.get(`/v1/payments?agreement_id=${agreement_id}`)
    assert.equal(listed.body.total, 1)
  })
})

let sends = 0
onEveryDatabase(
  'Retention: pending messages',
  {
    control: true,
    send: async () => {
      sends += 1
      throw new Error('a faulty sender leaves the message PENDING')
    },
  },
  service => {
    test('a message still PENDING when its payment expires becomes FAILED and is never sent', async () => {
      const api = await service().newAccount()
      const hook = { callback_url: 'https://hooks.example.org/' }
      const { body: webhook } = await api.post('/v1/webhooks', hook)
      await api.post((await api.createPayment())._links.cancel.href)
      const [pending] = await history(api, webhook)
      assert.equal(pending.last_delivery_status, 'PENDING')
      await api.advance(SEVEN_DAYS - 1)
      assert.deepEqual(await history(api, webhook), [pending])
      await api.advance(1)
      const failed = { ...pending, body: null, last_delivery_status: 'FAILED' }
      assert.deepEqual(await history(api, webhook), [failed])
      const before = sends
      service().clock.advance(CLAIM_MS)
      for (const { deliveries } of service().apps) await deliveries.recover()
      assert.equal(sends, before)
      assert.deepEqual(await history(api, webhook), [failed])
    })
  },
)
