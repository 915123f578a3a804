import assert from 'node:assert/strict'
import { test } from 'node:test'
import { briefOf } from '../../support/assertions.ts'
import { createClient, webPayment } from '../../support/client.ts'
import { authorise } from '../../support/journeys.ts'
import { onEveryDatabase, START } from '../../support/service.ts'

const MOST = 15

onEveryDatabase('The rate limit under the behaviour govuk-pay', { control: true }, service => {
  /** A client of one instance, because each instance counts for itself. */
  async function account() {
    const { key } = await service().newAccount('govuk-pay')
    return createClient(service().baseUrls.slice(0, 1), key, 'govuk-pay')
  }
  const invalid = { ...webPayment, amount: 'x' }

  test('creates, captures and other POSTs of an account count each by themselves, the refused ones too, until the next second of the machine', async () => {
    const [api, other] = [await account(), await account()]
    const create = () => api.post('/v1/payments', invalid)
    for (let posts = 0; posts < MOST; posts++) assert.equal((await create()).status, 400)
    assert.equal(briefOf(await create()), '429 P0900')
    assert.equal((await other.post('/v1/payments', webPayment)).status, 201)
    for (const [path, expected] of [
      ['payments/x/capture', '404 P1000'],
      ['payments/x/cancel', '404 P0500'],
      ['payments/x/refunds', '400 P0601 amount'],
    ])
      assert.equal(briefOf(await api.post(`/v1/${path}`, {})), expected)
    assert.equal((await api.get('/v1/payments')).status, 200)

    service().clock.advance(999 - (START % 1_000))
    assert.equal((await create()).status, 429)
    service().clock.advance(1)
    assert.equal((await create()).status, 400)
  })

  test('a request counts before its body is read, and not with a bad key, a wrong type or an unknown path', async () => {
    const api = await account()
    const body = new TextEncoder().encode('{')
    const post = (headers: Record<string, string>, path = '/v1/agreements') =>
      api.request('POST', path, {
        headers: { 'Content-Type': 'application/json', ...headers },
        body,
      })
    for (let posts = 0; posts < 20; posts++) {
      assert.equal((await post({ Authorization: 'Bearer x' })).status, 401)
      assert.equal(briefOf(await post({ 'Content-Type': 'text/plain' })), '400 P0920')
      assert.equal((await post({}, '/v1/nothing')).status, 404)
    }
    for (let posts = 0; posts < MOST; posts++) assert.equal(briefOf(await post({})), '400 P2197')
    assert.equal(briefOf(await post({})), '429 P0900')
  })

  test('a card counts for the account of its payment', async () => {
    const [api, other] = [await account(), await account()]
    const pay = async (client: typeof api) =>
      client.createPayment({ authorisation_mode: 'moto_api' })
    const [one, two] = [await pay(api), await pay(other)]
    const seen: string[] = []
    for (let posts = 0; posts <= MOST; posts++)
      seen.push(briefOf(await authorise(api, one, { cvc: '1' })))
    assert.deepEqual(seen, [...Array(MOST).fill('422 P0102 cvc'), '429 P0900'])
    assert.equal((await authorise(other, two)).status, 204)
  })
})
