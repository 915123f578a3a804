import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultCodeOf, onlyByPlan } from '../../../src/core/codes.ts'
import { card } from '../../support/journeys.ts'
import { newAgreement } from '../../support/new-payment.ts'
import { planning } from '../../support/plans.ts'
import { onEveryDatabase } from '../../support/service.ts'

onEveryDatabase(
  'Codes that only a plan answers with',
  service => {
    const { plan, send, create } = planning(service)

    test('a plan answers with every code of GOV.UK Pay that never happens here, and its status', async () => {
      const api = await service().newAccount()
      for (const [code, { status, text }] of Object.entries(onlyByPlan)) {
        await plan(api, { on: 'createPayment', answer: { code } })
        const answer = await create(api)
        assert.deepEqual([answer.status, answer.body], [status, { code, description: text }])
      }
      assert.equal((await api.get('/v1/payments')).body.total, 0)
    })

    test('a fault of a plan without a code has the code of its operation', async () => {
      const api = await service().newAccount()
      const { payment_id } = await api.createPayment()
      const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
      const agreement_id = await newAgreement(api)
      const path = `/v1/payments/${payment_id}`
      await plan(api, { answer: { status: 500 }, times: 'always' })
      const refund = { method: 'POST', json: { amount: 1 } }
      const agreement = `/v1/agreements/${agreement_id}`
      const token = moto._links.auth_url_post.params
      for (const [operation, address, options] of [
        ['createPayment', '/v1/payments', { method: 'POST', json: {} }],
        ['readPayment', path],
        ['listPaymentEvents', `${path}/events`],
        ['searchPayments', '/v1/payments'],
        ['cancelPayment', `${path}/cancel`, { method: 'POST' }],
        ['capturePayment', `${path}/capture`, { method: 'POST' }],
        ['refundPayment', `${path}/refunds`, refund],
        ['listRefunds', `${path}/refunds`],
        ['readRefund', `${path}/refunds/${payment_id}`],
        ['searchRefunds', '/v1/refunds'],
        ['createAgreement', '/v1/agreements', { method: 'POST', json: {} }],
        ['readAgreement', agreement],
        ['searchAgreements', '/v1/agreements'],
        ['cancelAgreement', `${agreement}/cancel`, { method: 'POST' }],
        ['searchDisputes', '/v1/disputes'],
        ['authorisePayment', '/v1/auth', { method: 'POST', json: { ...card, ...token } }],
        ['listWebhooks', '/v1/webhooks'],
      ] as const) {
        const { status, body } = await send(api, address, options ?? {})
        assert.deepEqual([status, body.code], [500, faultCodeOf(operation) ?? 'P0999'], operation)
      }
      assert.equal(faultCodeOf('listWebhooks'), undefined)
      assert.equal(faultCodeOf('authorisePayment'), 'P0050')
      const codes = Object.keys(onlyByPlan).filter(code => code.endsWith('98'))
      assert.equal(codes.length, 14)
    })
  },
  { control: true },
)
