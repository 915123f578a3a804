import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  createAgreement,
  payByAgreement,
  readAgreement,
  setUpPayment,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { interleaving } from '../../support/interleave.ts'
import { choose, payOnPages, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const ROUNDS = 4
const UNUSABLE = { field: 'agreement_id' }

const confirm = (api: Client, payment: Body): Promise<Answer> =>
  api.postForm(`${payment._links.next_url.href}/confirm`, {})

/** The agreement is cancelled, has the date, and has a card only if it was active before. */
function assertCancelled(agreement: Body, wasActive: boolean): void {
  assert.equal(agreement.status, 'cancelled')
  assert.ok('cancelled_date' in agreement)
  assert.equal('payment_instrument' in agreement, wasActive)
}

onSharedDatabases('Agreements: races', service => {
  /** test/faults/races.test.ts has the other requests to one agreement, in any order. */
  describe('any order', () => {
    test('no payment is made with an agreement after its cancel was acknowledged', async () => {
      const api = await service().newAccount()
      for (let round = 0; round < ROUNDS; round++) {
        const agreement = await activeAgreement(api)
        let acknowledged = false
        const made: Body[] = []
        const payUntilRefused = async () => {
          for (;;) {
            const late = acknowledged
            const answer = await payByAgreement(api, agreement)
            if (answer.status !== 201) return assertError(answer, 400, 'P0102', UNUSABLE)
            assert.equal(late, false, 'made after the cancel was acknowledged')
            made.push(answer.body)
          }
        }
        const payers = Array.from({ length: 5 }, payUntilRefused)
        const cancelled = await cancelAgreement(api, agreement)
        acknowledged = true
        assert.equal(cancelled.status, 204)
        await Promise.all(payers)
        for (const payment of made) {
          assert.equal(payment.state.status, 'success')
          assert.equal((await read(api, payment)).state.status, 'success')
        }
        const found = await api.get(`/v1/payments?agreement_id=${agreement.agreement_id}`)
        assert.equal(
          found.body.total,
          made.length + 1,
          'every payment that was created was returned by a request',
        )
        assert.equal((await readAgreement(api, agreement)).status, 'cancelled')
      }
    })

    test('payments made during a new set-up of their agreement use either the old card or the new one', async () => {
      const api = await service().newAccount()
      for (let round = 0; round < ROUNDS; round++) {
        const agreement = await activeAgreement(api)
        const payment = await setUpPayment(api, agreement, {
          prefilled_cardholder_details: { cardholder_name: 'New Card' },
        })
        await choose(api, payment, 'success')
        const [, ...answers] = await Promise.all([
          confirm(api, payment),
          ...Array.from({ length: 8 }, () => payByAgreement(api, agreement)),
        ])
        for (const { status, body } of answers) {
          assert.equal(status, 201)
          assert.match(body.card_details.cardholder_name, /^(Demo Cardholder|New Card)$/)
        }
        const after = await payByAgreement(api, agreement)
        assert.equal(after.body.card_details.cardholder_name, 'New Card')
      }
    })
  })

  /** Races with a fixed order: one request acts between another request's read and its write. */
  describe('fixed order', () => {
    const INSERT_PAYMENT = /insert into payments/
    const SAVE_AGREEMENT = /update agreements set version = \$2/

    test('an agreement cancelled while a payment with it is being made refuses the payment', async t => {
      const { api, beforeWrite } = await interleaving(t, service())
      const agreement = await activeAgreement(api)
      beforeWrite(INSERT_PAYMENT, async () => {
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
      beforeWrite(INSERT_PAYMENT, () => payOnPages(api, setUp))
      const { status, body } = await payByAgreement(api, agreement)
      assert.equal(status, 201)
      assert.equal(body.card_details.cardholder_name, 'New Card')
    })

    test('a set-up that commits after a cancel pays the payment and leaves the agreement cancelled', async t => {
      const { api, beforeWrite } = await interleaving(t, service())
      const agreement = await createAgreement(api)
      const payment = await setUpPayment(api, agreement)
      await choose(api, payment, 'success')
      beforeWrite(SAVE_AGREEMENT, async () => {
        assert.equal((await cancelAgreement(api, agreement)).status, 204)
      })
      assert.equal((await confirm(api, payment)).status, 303)
      assertCancelled(await readAgreement(api, agreement), false)
      const { body } = await api.get(`/v1/payments/${payment.payment_id}/events`)
      assert.equal(body.events.length, 4, 'a repeated attempt records its events once')
    })

    test('a cancel that commits after a set-up cancels the agreement, which keeps the card', async t => {
      const { api, beforeWrite } = await interleaving(t, service())
      const agreement = await createAgreement(api)
      const payment = await setUpPayment(api, agreement)
      beforeWrite(SAVE_AGREEMENT, () => payOnPages(api, payment))
      assert.equal((await cancelAgreement(api, agreement)).status, 204)
      assertCancelled(await readAgreement(api, agreement), true)
    })

    test('a set-up that commits after another set-up of the same agreement replaces its card', async t => {
      const { api, beforeWrite } = await interleaving(t, service())
      const agreement = await createAgreement(api)
      const [first, second] = await Promise.all(
        ['First Card', 'Second Card'].map(cardholder_name =>
          setUpPayment(api, agreement, { prefilled_cardholder_details: { cardholder_name } }),
        ),
      )
      await choose(api, first, 'success')
      beforeWrite(SAVE_AGREEMENT, () => payOnPages(api, second))
      assert.equal((await confirm(api, first)).status, 303)
      const { payment_instrument } = await readAgreement(api, agreement)
      assert.equal(payment_instrument.CardDetails.cardholder_name, 'First Card')
      for (const payment of [first, second])
        assert.equal((await read(api, payment)).state.status, 'success')
    })
  })
})
