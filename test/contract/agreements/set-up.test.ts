import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeAgreement,
  cancelAgreement,
  createAgreement,
  payByAgreement,
  readAgreement,
  setUpPayment,
} from '../../support/agreements.ts'
import { assertError } from '../../support/assertions.ts'
import type { Body, Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { choose, payOnPages, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const MINUTE_MS = 60_000

const setUpRequest = (set_up_agreement: string) => ({
  amount: 1,
  reference: 'r',
  description: 'd',
  return_url: 'https://example.org/',
  set_up_agreement,
})

/** Outcomes of a set-up payment without an authorised card. */
const failures: Record<string, (api: Client, payment: Body) => Promise<unknown>> = {
  'was declined': (api, payment) => choose(api, payment, 'declined'),
  'was cancelled by the user on the second page': async (api, payment) => {
    await choose(api, payment, 'success')
    await api.postForm(`${payment._links.next_url.href}/confirm`, { scenario: 'cancel' })
  },
  'was cancelled through the API': (api, payment) => api.post(payment._links.cancel.href),
  'was not confirmed': (api, payment) => choose(api, payment, 'success'),
}

onSharedDatabases(
  'Agreements: set-up',
  service => {
    const iso = async (api: Client) => new Date(await api.now()).toISOString()

    test('a paid set-up payment makes its agreement active and gives it the card of the payment', async () => {
      const api = await service().newAccount()
      const agreement = await createAgreement(api)
      const payment = await setUpPayment(api, agreement, {
        prefilled_cardholder_details: {
          cardholder_name: 'Gwen Hughes',
          billing_address: { line1: '2 Heol y Bryn', city: 'Aberystwyth' },
        },
      })
      assert.equal(payment.agreement_payment_type, 'recurring')
      assert.equal('set_up_agreement' in payment, false)
      assert.deepEqual(await readAgreement(api, agreement), agreement)
      await api.advance(MINUTE_MS)
      const { card_details } = await payOnPages(api, payment)
      assert.equal(card_details.cardholder_name, 'Gwen Hughes')
      assert.deepEqual(await readAgreement(api, agreement), {
        ...agreement,
        status: 'active',
        payment_instrument: {
          type: 'card',
          created_date: await iso(api),
          CardDetails: card_details,
          card_details,
        },
      })
    })

    test('a set-up payment makes its agreement active when it becomes capturable, and its capture changes nothing', async () => {
      const api = await service().newAccount()
      const agreement = await createAgreement(api)
      const payment = await payOnPages(
        api,
        await setUpPayment(api, agreement, { delayed_capture: true }),
      )
      assert.equal(payment.state.status, 'capturable')
      const active = await readAgreement(api, agreement)
      assert.equal(active.status, 'active')
      await api.advance(MINUTE_MS)
      assert.equal((await api.post(payment._links.capture.href)).status, 204)
      assert.deepEqual(await readAgreement(api, agreement), active)
    })

    test('under govuk-pay a set-up payment that becomes capturable makes its agreement active, without a message', async () => {
      const api = await service().newAccount('govuk-pay')
      const agreement = await createAgreement(api)
      const control = (path: string, body?: object) => ask(service(), api, path, body)
      await control('webhooks', { callback_url: 'https://localhost:1/' })
      const payment = await setUpPayment(api, agreement, { delayed_capture: true })
      await choose(api, payment, 'success')
      assert.equal((await readAgreement(api, agreement)).status, 'created')
      const { state } = await payOnPages(api, payment)
      const { status, payment_instrument } = await readAgreement(api, agreement)
      assert.deepEqual(
        [state.status, status, payment_instrument.card_details.last_digits_card_number],
        ['capturable', 'active', '4242'],
      )
      assert.deepEqual((await control('messages')).body.results, [])
    })

    test('a capturable set-up payment that is captured or cancelled later leaves its agreement as it is, active or cancelled', async () => {
      const api = await service().newAccount()
      for (const isCancelled of [true, false]) {
        const agreement = await createAgreement(api)
        const given = { delayed_capture: true }
        const payment = await payOnPages(api, await setUpPayment(api, agreement, given))
        if (isCancelled) await cancelAgreement(api, agreement)
        const before = await readAgreement(api, agreement)
        await api.advance(MINUTE_MS)
        const { cancel, capture } = payment._links
        assert.equal((await api.post((isCancelled ? capture : cancel).href)).status, 204)
        assert.deepEqual(await readAgreement(api, agreement), before)
      }
    })

    for (const [what, fail] of Object.entries(failures))
      test(`a set-up payment that ${what} leaves its agreement unchanged`, async () => {
        const api = await service().newAccount()
        for (const agreement of [await createAgreement(api), await activeAgreement(api)]) {
          const payment = await setUpPayment(api, agreement)
          await api.advance(MINUTE_MS)
          await fail(api, payment)
          assert.notEqual((await read(api, payment)).state.status, 'success')
          assert.deepEqual(await readAgreement(api, agreement), agreement)
        }
      })

    test('a set-up payment replaces the card of an active agreement', async () => {
      const api = await service().newAccount()
      const agreement = await activeAgreement(api)
      await api.advance(MINUTE_MS)
      await payOnPages(
        api,
        await setUpPayment(api, agreement, {
          prefilled_cardholder_details: { cardholder_name: 'Second Card' },
        }),
      )
      const { payment_instrument, ...rest } = await readAgreement(api, agreement)
      assert.equal(payment_instrument.created_date, await iso(api))
      assert.equal(payment_instrument.CardDetails.cardholder_name, 'Second Card')
      assert.deepEqual({ ...rest, payment_instrument: agreement.payment_instrument }, agreement)
    })

    test('a cancelled agreement stays cancelled when a payment that sets it up is confirmed, and the payment succeeds', async () => {
      const api = await service().newAccount()
      for (const delayed_capture of [false, true])
        for (const agreement of [await createAgreement(api), await activeAgreement(api)]) {
          const payment = await setUpPayment(api, agreement, { delayed_capture })
          await cancelAgreement(api, agreement)
          const cancelled = await readAgreement(api, agreement)
          assert.equal(cancelled.status, 'cancelled')
          await api.advance(MINUTE_MS)
          const { state } = await payOnPages(api, payment)
          assert.equal(state.status, delayed_capture ? 'capturable' : 'success')
          assert.deepEqual(await readAgreement(api, agreement), cancelled)
          const answer = await payByAgreement(api, agreement)
          assertError(answer, 400, 'P0102', { field: 'agreement_id' })
        }
    })

    test('set_up_agreement returns 400 P0103 for a cancelled agreement, and the description says its status', async () => {
      const api = await service().newAccount()
      const agreement = await createAgreement(api)
      await cancelAgreement(api, agreement)
      const { agreement_id } = agreement
      const answer = await api.post('/v1/payments', setUpRequest(agreement_id))
      assertError(answer, 400, 'P0103', { field: 'set_up_agreement' })
      assert.match(answer.body.description, /cancelled/)
      assert.equal((await api.get('/v1/payments')).body.total, 0)
    })

    test('set_up_agreement returns 400 P0103 for an agreement that the account does not have, whatever its text', async () => {
      const api = await service().newAccount()
      const other = await service().newAccount()
      const { agreement_id } = await createAgreement(other)
      for (const set_up_agreement of [agreement_id, '0'.repeat(26), 'é'.repeat(26)]) {
        const answer = await api.post('/v1/payments', setUpRequest(set_up_agreement))
        assertError(answer, 400, 'P0103', { field: 'set_up_agreement' })
      }
    })

    test('a payment search by agreement_id finds the set-up payment before it is paid', async () => {
      const api = await service().newAccount()
      const agreement = await createAgreement(api)
      const setUp = await setUpPayment(api, agreement)
      await api.createPayment()
      const found = await api.get(`/v1/payments?agreement_id=${agreement.agreement_id}`)
      assert.deepEqual(
        found.body.results.map(({ payment_id }: Body) => payment_id),
        [setUp.payment_id],
      )
    })

    test('a set-up payment is seen as success as soon as its agreement is seen as active', async () => {
      const api = await service().newAccount()
      for (let round = 0; round < 5; round++) {
        const agreement = await createAgreement(api)
        const payment = await setUpPayment(api, agreement)
        await choose(api, payment, 'success')
        const confirming = api.postForm(`${payment._links.next_url.href}/confirm`, {})
        let status = ''
        while (status !== 'success') {
          const before = await readAgreement(api, agreement)
          status = (await read(api, payment)).state.status
          if (before.status === 'active') assert.equal(status, 'success')
        }
        assert.equal((await readAgreement(api, agreement)).status, 'active')
        await confirming
      }
    })
  },
  { control: true },
)
