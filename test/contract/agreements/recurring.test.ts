import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activeAgreement, payByAgreement } from '../../support/agreements.ts'
import { read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases('Payments in agreement mode', { control: true }, service => {
  test('a payment in agreement mode has the card of the agreement and its own address', async () => {
    const api = await service().newAccount()
    const agreement = await activeAgreement(api, {
      prefilled_cardholder_details: { cardholder_name: 'Gwen Hughes' },
    })
    const { status, headers, body } = await payByAgreement(api, agreement, {
      metadata: { month: 10 },
    })
    assert.equal(status, 201)
    assert.equal(headers.get('location'), body._links.self.href)
    assert.deepEqual(body.metadata, { month: 10 })
    assert.equal(body.card_details.cardholder_name, 'Gwen Hughes')
    assert.deepEqual(body.card_details, agreement.payment_instrument.CardDetails)
    assert.deepEqual(await read(api, body), body)
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
})
