import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import {
  authorise,
  card,
  choose,
  DECLINED,
  newPayment,
  read,
  statusesOf,
} from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const DAY_MS = 86_400_000
const moto = { authorisation_mode: 'moto_api' }

onSharedDatabases('Card authorisation: outcome', { control: true }, service => {
  test('POST /v1/auth needs no API key, returns 204 and makes the payment success', async () => {
    const { api, payment } = await newPayment(service(), moto)
    const answer = await authorise(service().anonymous, payment)
    assert.equal(answer.status, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('cache-control'), 'no-store')

    const steps = ['created', 'started', 'submitted', 'success']
    assert.deepEqual(await statusesOf(api, payment), steps)
  })

  test('POST /v1/auth with card 4000000000000002 returns 402 and makes the payment failed with P0010', async () => {
    const { api, payment } = await newPayment(service(), { ...moto, delayed_capture: true })
    assertError(await authorise(api, payment, { card_number: DECLINED }), 402, 'P0010')
    assert.equal((await read(api, payment)).state.code, 'P0010')
    assert.deepEqual(await statusesOf(api, payment), ['created', 'started', 'failed'])
  })

  test('POST /v1/auth accepts cards that only begin or end like the declined card', async () => {
    const api = await service().newAccount()
    for (const card_number of ['40000000000000020', '400000000000002', '4000000000000010']) {
      const payment = await api.createPayment(moto)
      assert.equal((await authorise(api, payment, { card_number })).status, 204)
    }
  })

  test('POST /v1/auth ignores every Authorization header', async () => {
    const api = await service().newAccount()
    const other = await service().newAccount()
    for (const value of ['Bearer wrong', `Bearer ${other.key}`]) {
      const payment = await api.createPayment(moto)
      const { href, params } = payment._links.auth_url_post
      const answer = await service().anonymous.post(
        href,
        { ...params, ...card },
        { Authorization: value },
      )
      assert.equal(answer.status, 204, value)
    }
  })

  test('POST /v1/auth returns 400 P1212 for a used token, whatever became of the payment', async () => {
    const api = await service().newAccount()
    const paid = await api.createPayment(moto)
    await authorise(api, paid)
    const declined = await api.createPayment(moto)
    await authorise(api, declined, { card_number: DECLINED })
    const cancelled = await api.createPayment({ ...moto, delayed_capture: true })
    await authorise(api, cancelled)
    await api.post(`/v1/payments/${cancelled.payment_id}/cancel`)
    for (const payment of [paid, declined, cancelled]) {
      const before = await read(api, payment)
      assertError(await authorise(api, payment), 400, 'P1212')
      assertError(await authorise(api, payment, { card_number: DECLINED }), 400, 'P1212')
      assert.deepEqual(await read(api, payment), before)
    }
  })

  test('POST /v1/auth returns 400 P1211 for the token of a payment cancelled before its use', async () => {
    const { api, payment } = await newPayment(service(), moto)
    await api.post(`/v1/payments/${payment.payment_id}/cancel`)
    assertError(await authorise(api, payment), 400, 'P1211')
    assert.deepEqual(await statusesOf(api, payment), ['created', 'cancelled'])
  })

  test('POST /v1/auth returns 400 P1211 for any text that is not a token', async () => {
    const { api, payment } = await newPayment(service(), moto)
    const token: string = payment._links.auth_url_post.params.one_time_token
    assert.match(token, /^[0-9a-v]{52}$/)
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    const wrong = [mistyped, token.slice(0, 26), `${token}0`, token.toUpperCase(), ` ${token}`]
    for (const one_time_token of [...wrong, 'x', '0'.repeat(52), '%00', 'é'.repeat(52)])
      assertError(await authorise(api, payment, { one_time_token }), 400, 'P1211')
    assert.deepEqual(await read(api, payment), payment)
  })

  test('POST /v1/auth returns 400 P1211 for the token of a web payment', async () => {
    const api = await service().newAccount()
    const web = await api.createPayment()
    const one_time_token = web._links.next_url_post.params.chargeTokenId
    const post = () => api.post('/v1/auth', { one_time_token, ...card })
    assertError(await post(), 400, 'P1211')
    await choose(api, web, 'declined')
    assertError(await post(), 400, 'P1211')
  })

  test('POST /v1/auth works until the payment is 7 days old and then returns 400 P1211, even for a used token', async () => {
    const api = await service().newAccount()
    const inTime = await api.createPayment(moto)
    const late = await api.createPayment(moto)
    await api.advance(7 * DAY_MS - 1)
    assert.equal((await authorise(api, inTime)).status, 204)
    await api.advance(1)
    assertError(await authorise(api, late), 400, 'P1211')
    assertError(await authorise(api, inTime), 400, 'P1211')
  })
})
