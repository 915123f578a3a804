import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  payByAgreement,
  setUpPayment,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import { payOnPages } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'
import { interleaving } from '../../support/watched.ts'

const UNUSABLE = { field: 'agreement_id' }

// test/faults/races.test.ts has what is not in this order.
onSharedDatabases('Agreements: races', service => {
  test('an agreement cancelled while a payment with it is being made refuses the payment', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const agreement = await activeAgreement(api)
    beforeWrite(async () => {
      assert.equal((await cancelAgreement(api, agreement)).status, 204)
    })
    const headers = { 'Idempotency-Key': 'late' }
    assertError(await payByAgreement(api, agreement, {}, headers), 400, 'P0102', UNUSABLE)
    const found = await api.get(`/v1/payments?agreement_id=${agreement.agreement_id}`)
    assert.equal(found.body.total, 1, 'only the payment that set it up')
    const other = await payByAgreement(api, await activeAgreement(api), {}, headers)
    assert.equal(other.status, 201, 'the idempotency key is not used up')
  })

  test('a card replaced while a payment with the agreement is being made is the card of the payment', async t => {
    const { api, beforeWrite } = await interleaving(t, service())
    const agreement = await activeAgreement(api)
    const setUp = await setUpPayment(api, agreement, {
      prefilled_cardholder_details: { cardholder_name: 'New Card' },
    })
    beforeWrite(() => payOnPages(api, setUp))
    const { status, body } = await payByAgreement(api, agreement)
    assert.equal(status, 201)
    assert.equal(body.card_details.cardholder_name, 'New Card')
  })
})
