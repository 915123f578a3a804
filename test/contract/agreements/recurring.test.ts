import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  createAgreement,
  payByAgreement,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body } from '../../support/client.ts'
import { read, statusesOf } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const WEEK_MS = 7 * 86_400_000
const key = (text: string) => ({ 'Idempotency-Key': text })

onSharedDatabases(
  'Payments in agreement mode',
  service => {
    describe('payments', () => {
      test('a payment in agreement mode is success when it is created, with the card of the agreement', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api, {
          prefilled_cardholder_details: { cardholder_name: 'Gwen Hughes' },
        })
        await api.advance(60_000)
        const now = new Date(await api.now()).toISOString()
        const answer = await payByAgreement(api, agreement, { metadata: { month: 10 } })
        assert.equal(answer.status, 201, answer.text)
        const { body } = answer
        const self: string = body._links.self.href
        assert.equal(answer.headers.get('location'), self)
        assert.deepEqual(body, {
          payment_id: body.payment_id,
          amount: 2500,
          reference: 'PLAN-8/OCT',
          description: 'Monthly plan',
          language: 'en',
          metadata: { month: 10 },
          agreement_payment_type: 'recurring',
          state: { status: 'success', finished: true },
          payment_provider: 'sandbox',
          provider_id: body.provider_id,
          created_date: now,
          refund_summary: { status: 'available', amount_available: 2500, amount_submitted: 0 },
          settlement_summary: { capture_submit_time: now, captured_date: now.slice(0, 10) },
          delayed_capture: false,
          moto: false,
          authorisation_mode: 'agreement',
          card_brand: 'Visa',
          card_details: agreement.payment_instrument.CardDetails,
          authorisation_summary: { three_d_secure: { required: false } },
          fee: 0,
          net_amount: 2500,
          _links: {
            self: { href: self, method: 'GET' },
            events: { href: `${self}/events`, method: 'GET' },
            refunds: { href: `${self}/refunds`, method: 'GET' },
          },
        })
        assert.deepEqual(await read(api, body), body)
        const steps = ['created', 'started', 'submitted', 'success']
        assert.deepEqual(await statusesOf(api, body), steps)
      })

      test('a payment in agreement mode with delayed_capture is capturable and has links to capture and to cancel it', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const { status, body } = await payByAgreement(api, agreement, { delayed_capture: true })
        assert.equal(status, 201)
        assert.deepEqual(body.state, { status: 'capturable', finished: false })
        assert.equal(body.refund_summary.status, 'unavailable')
        assert.deepEqual(Object.keys(body._links), [
          'self',
          'events',
          'refunds',
          'cancel',
          'capture',
        ])
        assert.equal((await api.post(body._links.capture.href)).status, 204)
        const steps = ['created', 'started', 'submitted', 'capturable', 'success']
        assert.deepEqual(await statusesOf(api, body), steps)
      })

      test('a capturable payment in agreement mode can be cancelled by its link', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const { body } = await payByAgreement(api, agreement, { delayed_capture: true })
        assert.equal((await api.post(body._links.cancel.href)).status, 204)
        const { state, card_details } = await read(api, body)
        assert.deepEqual([state.status, state.code], ['cancelled', 'P0040'])
        assert.deepEqual(card_details, agreement.payment_instrument.CardDetails)
        const paid = (await payByAgreement(api, agreement)).body
        assertError(await api.post(`/v1/payments/${paid.payment_id}/cancel`), 400, 'P0501')
      })

      test('a payment in agreement mode may have any agreement_payment_type, language and amount', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        for (const agreement_payment_type of ['instalment', 'recurring', 'unscheduled']) {
          const answer = await payByAgreement(api, agreement, { agreement_payment_type })
          assert.equal(answer.body.agreement_payment_type, agreement_payment_type)
        }
        assert.equal((await payByAgreement(api, agreement, { language: 'cy' })).body.language, 'cy')
        const nothing = (await payByAgreement(api, agreement, { amount: 0 })).body
        assert.equal(nothing.amount, 0)
        assert.equal(nothing.refund_summary.status, 'full')
        assert.equal((await payByAgreement(api, agreement, { amount: 10_000_000 })).status, 201)
      })

      test('agreement mode accepts absent or empty values of fields that it does not allow', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const empty = {
          return_url: ' ',
          set_up_agreement: null,
          moto: false,
          email: null,
          prefilled_cardholder_details: { cardholder_name: '', billing_address: {} },
        }
        const answer = await payByAgreement(api, agreement, empty)
        assert.equal(answer.status, 201, answer.text)
        assert.equal('email' in answer.body || 'return_url' in answer.body, false)
      })

      test('agreement mode returns an error unless agreement_id is an active agreement of the account', async () => {
        const api = await service().newAccount()
        const other = await service().newAccount()
        const field = 'agreement_id'
        for (const agreement_id of [undefined, null, '', ' '])
          assertError(await payByAgreement(api, { agreement_id }), 400, 'P0101', { field })
        for (const agreement_id of [1, true, {}, []])
          assertError(await payByAgreement(api, { agreement_id }), 400, 'P0102', { field })
        for (const agreement_id of ['x', '0'.repeat(25), '0'.repeat(27), `${'0'.repeat(25)}\0`])
          assertError(await payByAgreement(api, { agreement_id }), 422, 'P0102', { field })
        const cancelled = await activeAgreement(api)
        await cancelAgreement(api, cancelled)
        for (const agreement of [
          { agreement_id: '0'.repeat(26) },
          { agreement_id: 'é'.repeat(26) },
          await activeAgreement(other),
          await createAgreement(api),
          cancelled,
        ])
          assertError(await payByAgreement(api, agreement), 400, 'P0102', { field })
        assert.equal((await api.get('/v1/payments?state=success')).body.total, 1, 'only the set-up')
      })

      test('web and moto_api mode refuse agreement_id, whatever its value', async () => {
        const api = await service().newAccount()
        const { agreement_id } = await activeAgreement(api)
        for (const authorisation_mode of ['web', 'moto_api'])
          for (const value of [agreement_id, null, '', 5]) {
            const answer = await api.post('/v1/payments', {
              amount: 1,
              reference: 'r',
              description: 'd',
              authorisation_mode,
              agreement_id: value,
            })
            assertError(answer, 400, 'P0104', { field: 'agreement_id' })
          }
      })

      test('a payment keeps its card when its agreement gets another card', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const first = (await payByAgreement(api, agreement)).body
        const { agreement_id } = agreement
        const setUp = await api.createPayment({
          set_up_agreement: agreement_id,
          prefilled_cardholder_details: { cardholder_name: 'Second Card' },
        })
        await api.postForm(setUp._links.next_url.href, { scenario: 'success' })
        await api.postForm(`${setUp._links.next_url.href}/confirm`, {})
        const second = (await payByAgreement(api, agreement)).body
        assert.equal(second.card_details.cardholder_name, 'Second Card')
        assert.equal((await read(api, first)).card_details.cardholder_name, 'Demo Cardholder')
        const found = await api.get(`/v1/payments?agreement_id=${agreement_id}`)
        assert.equal(
          found.body.total,
          4,
          'two set-up payments and two payments made with the agreement',
        )
      })

      test('twenty payments with one agreement at once all succeed', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const twenty = Array.from({ length: 20 }, () => payByAgreement(api, agreement))
        const answers = await Promise.all(twenty)
        for (const { status, body, text } of answers) {
          assert.equal(status, 201, text)
          assert.equal(body.state.status, 'success')
        }
        assert.equal(new Set(answers.map(({ body }) => body.payment_id)).size, 20)
      })
    })

    describe('idempotency key', () => {
      test('in agreement mode, a used idempotency key returns 409 P0191, whatever the body', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        assert.equal((await payByAgreement(api, agreement, {}, key('once'))).status, 201)
        const again = await payByAgreement(api, agreement, { amount: 1 }, key('once'))
        assertError(again, 409, 'P0191', { header: 'Idempotency-Key' })
        assert.equal((await payByAgreement(api, agreement, {}, key('ONCE'))).status, 201)
        const other = await service().newAccount()
        assert.equal(
          (await payByAgreement(other, await activeAgreement(other), {}, key('once'))).status,
          201,
        )
      })

      test('in agreement mode, a refused request does not use up its idempotency key, and its error is reported before 409', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        const created: Body = await createAgreement(api)
        const field = 'agreement_id'
        assertError(await payByAgreement(api, created, {}, key('k')), 400, 'P0102', { field })
        assert.equal((await payByAgreement(api, agreement, {}, key('k'))).status, 201)
        assertError(await payByAgreement(api, created, {}, key('k')), 400, 'P0102', { field })
        await cancelAgreement(api, agreement)
        assertError(await payByAgreement(api, agreement, {}, key('k')), 400, 'P0102', { field })
      })

      test('in agreement mode, an idempotency key is free again after its payment expired', async () => {
        const api = await service().newAccount()
        const agreement = await activeAgreement(api)
        assert.equal((await payByAgreement(api, agreement, {}, key('k'))).status, 201)
        await api.advance(WEEK_MS - 1)
        assert.equal((await payByAgreement(api, agreement, {}, key('k'))).status, 409)
        await api.advance(1)
        assert.equal((await payByAgreement(api, agreement, {}, key('k'))).status, 201)
      })
    })
  },
  { control: true },
)
