import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgreement } from '../../support/agreements.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import {
  agreementFields,
  agreementRows,
  bodies,
  cardRows,
  keyRows,
  motoRows,
  newAgreementRows,
  posts,
  refundRows,
  searches,
  webRows,
} from '../../support/differences/wrong-requests.ts'
import { authorise, paidPayment } from '../../support/journeys.ts'
import {
  activeAgreement,
  agreementParts,
  bodyText,
  motoParts,
  type Parts,
  postPayment,
  type Row,
  webParts,
} from '../../support/new-payment.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

onOneDatabase(
  'The mistakes of requests under the behaviour govuk-pay',
  { control: true, env: { FARTHING_BEHAVIOUR: 'govuk-pay' } },
  service => {
    /** Each row has its own account, which may create 15 payments in the second at which the clock stands. */
    const account = () => service().newAccount('govuk-pay')

    async function check(rows: readonly Row[], post: (api: Client, parts: Parts) => Promise<Body>) {
      for (const [parts, expected] of rows)
        assert.equal(briefOf(await post(await account(), parts)), expected, bodyText(parts))
    }
    const posting = (given: Parts) => (api: Client, parts: Parts) =>
      postPayment(api, { ...given, ...parts })
    const send = (api: Client, path: string, text: string) =>
      api.request('POST', path, {
        headers: { 'Content-Type': 'application/json' },
        body: new TextEncoder().encode(text),
      })

    test('a web payment', () => check(webRows, posting(webParts)))

    test('an Idempotency-Key', () => check(keyRows, posting(webParts)))

    test('a moto_api payment', () => check(motoRows, posting(motoParts)))

    test('a payment in agreement mode', () =>
      check(agreementRows, async (api, parts) =>
        postPayment(api, { ...agreementParts(await activeAgreement(api)), ...parts }),
      ))

    test('the agreement of a payment must be active', async () => {
      const api = await account()
      const { agreement_id } = await createAgreement(api)
      const answer = await postPayment(api, agreementParts(agreement_id))
      assert.equal(briefOf(answer), '400 P0102 agreement_id')
      const mustBeActive = /^Invalid attribute value: agreement_id\. Agreement must/
      assert.match(answer.body.description, mustBeActive)
    })

    test('a body that is not one JSON object', async () => {
      for (const [text, ...expected] of bodies)
        for (const [i, path] of ['payments', 'payments/x/refunds', 'agreements'].entries())
          assert.equal(briefOf(await send(await account(), `/v1/${path}`, text)), expected[i], text)
    })

    test('a refund', () =>
      check(refundRows, async (api, parts) => {
        const { payment_id } = await paidPayment(api)
        await api.advance(5_000)
        return send(api, `/v1/payments/${payment_id}/refunds`, bodyText({ amount: '1', ...parts }))
      }))

    test('an agreement', () =>
      check(newAgreementRows, (api, parts) =>
        send(api, '/v1/agreements', bodyText({ ...agreementFields, ...parts })),
      ))

    test('a card', async () => {
      for (const [fields, expected] of cardRows) {
        const api = await account()
        const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
        const answer = await authorise(api, payment, fields)
        assert.equal(briefOf(answer), expected, JSON.stringify(fields))
      }
    })

    test('a one_time_token', async () => {
      const api = await account()
      const moto = { authorisation_mode: 'moto_api' }
      const paid = await api.createPayment(moto)
      const cancelled = await api.createPayment(moto)
      await api.post(`/v1/payments/${cancelled.payment_id}/cancel`)
      const wrong = { card_number: '4242424242424241' }
      const seen: string[] = []
      for (const [payment, fields] of [
        [paid, { cvc: '12' }],
        [paid, {}],
        [paid, {}],
        [cancelled, wrong],
        [cancelled, {}],
        [paid, { one_time_token: 'x' }],
        [paid, { one_time_token: ' ' }],
      ])
        seen.push(briefOf(await authorise(api, payment, fields)))
      const before = ['422 P0102 cvc', '204', '400 P1212', '500 500', '400 P1212']
      assert.deepEqual(seen, [...before, '400 P1211', '422 P0101 one_time_token'])
    })

    test('a card as no JSON object, of no payment, is answered as the service behaves', async () => {
      const anonymous = createClient(service().baseUrls, undefined, 'govuk-pay')
      const seen: string[] = []
      for (const text of ['[]', '{', 'abc', ''])
        seen.push(briefOf(await send(anonymous, '/v1/auth', text)))
      assert.deepEqual(seen, ['500 500', '500 500', '500 500', '400 P0920'])
    })

    test('a chunked body without any bytes is no body', async () => {
      for (const path of ['/v1/payments', '/v1/auth']) {
        const head = [
          `POST ${path} HTTP/1.1`,
          `Authorization: Bearer ${(await account()).key}`,
          'Content-Type: application/json',
          'Transfer-Encoding: chunked',
        ]
        const answer = await sendRaw(service().baseUrl, head, '0\r\n\r\n')
        assert.equal(briefOf(answer), '400 P0920', path)
      }
    })

    test('searches, reads and what moves a payment', async () => {
      const api = await account()
      for (const [path, expected] of searches)
        assert.equal(briefOf(await api.get(`/v1/${path}`)), expected, path)
      for (const [path, expected] of posts)
        assert.equal(briefOf(await api.post(`/v1/${path}`)), expected, path)
    })
  },
)
