import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeAgreement,
  createAgreement,
  payByAgreement,
  readAgreement,
  setUpPayment,
} from '../../support/agreements.ts'
import type { Client } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { choose, payOnPages, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

const MINUTE_MS = 60_000

onSharedDatabases('Agreements: set-up', { control: true }, service => {
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
    const setUp = await setUpPayment(api, agreement, { delayed_capture: true })
    const payment = await payOnPages(api, setUp)
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
    const seen = [state.status, status, payment_instrument.card_details.last_digits_card_number]
    assert.deepEqual(seen, ['capturable', 'active', '4242'])
    assert.deepEqual((await control('messages')).body.results, [])
  })

  test('a set-up payment replaces the card of an active agreement, and no card of its payments', async () => {
    const api = await service().newAccount()
    const agreement = await activeAgreement(api)
    const first = (await payByAgreement(api, agreement)).body
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
    assert.deepEqual(await read(api, first), first)
    const second = (await payByAgreement(api, agreement)).body
    assert.deepEqual(second.card_details, payment_instrument.CardDetails)
  })
})
