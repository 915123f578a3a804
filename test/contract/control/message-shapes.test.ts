import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asGovukPay } from '../../../src/pay/webhooks/govuk-pay.ts'
import { signature } from '../../../src/pay/webhooks/webhook.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { choose } from '../../support/journeys.ts'
import { startReceiver } from '../../support/receiver.ts'
import { onSharedDatabases } from '../../support/service.ts'

const CALLBACK = 'https://localhost/'

onSharedDatabases(
  'Messages as GOV.UK Pay sends them',
  service => {
    const control = (api: Client, path: string, body?: object, method?: string) =>
      ask(service(), api, path, body, method)
    const shape = (api: Client, webhook_id: string, body: object) =>
      control(api, `webhooks/${webhook_id}`, body, 'PUT')
    const register = async (api: Client, callback_url = CALLBACK): Promise<Body> =>
      (await api.post('/v1/webhooks', { callback_url })).body
    const declined = async (api: Client) => {
      const payment = await api.createPayment()
      await choose(api, payment, 'declined')
      return payment
    }

    test('a webhook gets its messages in the other shape from then on, signed, and its history shows what was sent', async t => {
      const receiver = await startReceiver({ plain: true })
      t.after(() => receiver.close())
      const api = await service().newAccount()
      const webhook = await register(api, receiver.url)
      const other = await register(api)
      await declined(api)
      const { status, body } = await shape(api, webhook.external_id, { as: 'govuk-pay' })
      assert.deepEqual([status, body], [200, { webhook_id: webhook.external_id, as: 'govuk-pay' }])
      const payment = await declined(api)
      await api.post(`/v1/payments/${(await api.createPayment()).payment_id}/cancel`)
      await shape(api, webhook.external_id, { as: null })
      await declined(api)
      const bodies = receiver.requests.map(request => JSON.parse(request.body))
      assert.deepEqual(
        bodies.map(({ resource_type, event_type, resource }) => [
          resource_type,
          event_type,
          resource.state.status,
        ]),
        [
          ['payment', 'card_payment_failed', 'failed'],
          ['PAYMENT', 'card_payment_failed', 'declined'],
          ['PAYMENT', 'card_payment_failed', 'cancelled'],
          ['payment', 'card_payment_failed', 'failed'],
        ],
      )
      for (const { body, headers } of receiver.requests)
        assert.equal(headers['pay-signature'], signature(body, webhook.signing_key))
      const history = await api.get(`/v1/webhooks/${webhook.external_id}/messages`)
      assert.deepEqual(
        history.body.results.map((each: Body) => [each.event_type, each.resource_type]).at(1),
        ['card_payment_cancelled', 'payment'],
      )
      assert.deepEqual(
        history.body.results.map((each: Body) => each.body),
        bodies.toReversed(),
      )
      const { results } = (await control(api, `messages?payment_id=${payment.payment_id}`)).body
      const to = (id: string) => results.find((each: Body) => each.webhook_id === id)
      assert.equal(to(webhook.external_id).raw, receiver.requests[1]?.body)
      assert.equal(JSON.parse(to(other.external_id).raw).resource_type, 'payment')
      const shown = (await api.get(`/v1/webhooks/${webhook.external_id}`)).body
      assert.deepEqual(shown, webhook)
    })

    test('one message can be sent again in the other shape, and stays as it is', async t => {
      const receiver = await startReceiver({ plain: true })
      t.after(() => receiver.close())
      const api = await service().newAccount()
      const { signing_key } = await register(api, receiver.url)
      await declined(api)
      const [{ message_id, raw }] = (await control(api, 'messages')).body.results
      const path = `messages/${message_id}/send`
      assert.equal((await control(api, path, { as: 'govuk-pay' })).status, 200)
      const again = receiver.requests[1]
      assert.equal(again?.body, asGovukPay(raw))
      assert.equal(again?.headers['pay-signature'], signature(again?.body ?? '', signing_key))
      assert.equal((await control(api, 'messages')).body.results[0].raw, raw)
      for (const [body, field] of [
        [{ as: 'gov' }, 'as'],
        [{ as: 'govuk-pay', body: '{}' }, 'as'],
      ] as const) {
        const refused = await control(api, path, body)
        assert.deepEqual([refused.status, refused.body.field], [422, field])
      }
    })

    test('the shape of a webhook that is unknown or of another account cannot be set, nor an unknown shape', async () => {
      const api = await service().newAccount()
      const { external_id } = await register(api)
      const strange = await service().newAccount()
      const [known, unknown] = [{ as: 'govuk-pay' }, '0'.repeat(26)]
      for (const [by, id, body, status, code] of [
        [strange, external_id, known, 404, 'C0200'],
        [api, unknown, known, 404, 'C0200'],
        [api, external_id, {}, 422, 'C0101'],
        [api, external_id, { as: 'stripe' }, 422, 'C0102'],
        [api, external_id, { az: 'govuk-pay' }, 422, 'C0103'],
      ] as const) {
        const refused = await shape(by, id, body)
        assert.deepEqual([refused.status, refused.body.code], [status, code])
      }
      const sent = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          shape(api, external_id, { as: i % 2 ? 'govuk-pay' : null }),
        ),
      )
      assert.deepEqual(
        sent.map(({ status }) => status),
        Array(8).fill(200),
      )
    })
  },
  { control: true, receives: true },
)
