import assert from 'node:assert/strict'
import { test } from 'node:test'
import { briefOf } from '../../support/assertions.ts'
import type { Client } from '../../support/client.ts'
import { read } from '../../support/journeys.ts'
import {
  activeAgreement,
  agreementParts,
  HEADER,
  type Parts,
  postPayment,
} from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'A request in agreement mode that is sent again, under the behaviour govuk-pay',
  { control: true },
  service => {
    async function prepare() {
      const api = await service().newAccount('govuk-pay')
      const parts: Parts = { ...agreementParts(await activeAgreement(api)), [HEADER]: 'k' }
      return { api, parts, post: (more: Parts = {}) => postPayment(api, { ...parts, ...more }) }
    }
    const settle = (api: Client) => api.advance(10_000)

    test('it is answered with the payment as it is now, whatever the order of its fields', async () => {
      const { api, parts, post } = await prepare()
      const more = { delayed_capture: 'true', metadata: '{"a":1,"b":2}' }
      const first = await post(more)
      assert.equal(first.status, 201)
      await settle(api)
      assert.equal((await api.post(`/v1/payments/${first.body.payment_id}/capture`)).status, 204)
      await settle(api)
      const reversed = Object.fromEntries(Object.entries({ ...parts, ...more }).toReversed())
      const same = await postPayment(api, { ...reversed, metadata: '{"b":2,"a":1}', email: 'null' })
      assert.equal(same.status, 200)
      assert.equal(same.headers.get('location'), null)
      assert.equal(same.body.state.status, 'success')
      assert.deepEqual(same.body, await read(api, first.body))
      assert.equal((await api.get('/v1/payments')).body.total, 2) // one set up the agreement
    })

    test('with other values, or with a default that was left out, it is 409 without a header', async () => {
      const { post } = await prepare()
      assert.equal((await post()).status, 201)
      for (const more of [
        { amount: '1' },
        { reference: '"another"' },
        { delayed_capture: 'false' },
        { moto: 'false' },
        { language: '"en"' },
        { agreement_payment_type: '"recurring"' },
        { email: '""' },
        { metadata: '{"a":1}' },
        { moto: 'true' },
        { amount: '0' },
      ])
        assert.equal(briefOf(await post(more)), '409 P0191', JSON.stringify(more))
      for (const more of [{ email: 'null' }, { metadata: '{}' }, { unknown: '1' }])
        assert.equal((await post(more)).status, 200, JSON.stringify(more))
    })

    test('it is looked up before its agreement, and a refused request takes no key', async () => {
      const { api, parts, post } = await prepare()
      assert.equal(briefOf(await post({ amount: '0' })), '422 P0102 amount')
      const first = await post()
      assert.equal(first.status, 201)
      await settle(api)
      const agreement_id = JSON.parse(parts.agreement_id ?? '')
      assert.equal((await api.post(`/v1/agreements/${agreement_id}/cancel`)).status, 204)
      assert.equal((await post()).body.payment_id, first.body.payment_id)
      assert.equal(briefOf(await post({ [HEADER]: 'l' })), '400 P0102 agreement_id')
      assert.equal(briefOf(await post({ return_url: '"https://example.org"' })), '400 P0104')
    })

    test('of ten at once one creates the payment, and none is answered with another', async () => {
      const { api, post } = await prepare()
      const answers = await Promise.all(Array.from({ length: 10 }, () => post()))
      const made = answers.filter(({ status }) => status === 201)
      assert.equal(made.length, 1)
      for (const { status, body } of answers)
        assert.ok(status === 409 || body.payment_id === made[0]?.body.payment_id)
      assert.equal((await api.get('/v1/payments')).body.total, 2)
    })
  },
)
