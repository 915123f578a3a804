import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body, Client } from '../../support/client.ts'
import {
  assertShows,
  bodyOf,
  CANCELLED,
  CAPTURABLE,
  CARD,
  captured,
  inMotoMode,
  inWebMode,
  MOCK_CARD,
  OPEN,
  refundSummary,
  TOKEN,
  tokenOf,
} from '../../support/expected-payment.ts'
import { authorise, DECLINED, newPayment, payOnPages, read } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

const PAGES = ['next_url', 'next_url_post', 'cancel']
const moto = { authorisation_mode: 'moto_api' }
const gwen = { cardholder_name: 'Gwen Hughes' }

/** The card that `authorise` posts, which has no address. */
const POSTED = {
  first_digits_card_number: '424242',
  last_digits_card_number: '4242',
  cardholder_name: 'A Caller',
  expiry_date: '04/31',
  card_brand: 'Visa',
  card_type: 'credit',
}

onSharedDatabases('Payments: whole body', { control: true }, service => {
  const base = () => service().config.baseUrl ?? service().baseUrl
  const shows = (api: Client, shown: Body, created: Body, linked: string[], fields: object) =>
    assertShows(api, shown, bodyOf(base(), created, linked, fields))

  test('a new payment in web mode returns the given fields and the links to pay', async () => {
    const given = {
      language: 'cy',
      email: 'trader@example.org',
      metadata: { pitch: 22, covered: true, market: 'Corn Street' },
      delayed_capture: true,
      moto: true,
    }
    const prefilled = {
      ...gwen,
      billing_address: {
        line1: '1 Stryd',
        line2: 'Tŷ',
        city: 'Bangor',
        postcode: 'LL',
        country: 'gb',
      },
    }
    const fields = { ...given, prefilled_cardholder_details: prefilled, unknown: 'ignored' }
    const { api, payment } = await newPayment(service(), fields)
    assert.match(tokenOf(payment), TOKEN)
    assert.ok(tokenOf(payment).startsWith(payment.payment_id))
    await shows(api, payment, payment, PAGES, {
      ...inWebMode,
      ...OPEN,
      ...given,
      created_date: new Date(await api.now()).toISOString(),
      card_details: { ...prefilled, card_type: null },
    })
  })

  test('a new payment with only the required fields has defaults and no null, and once started only another state', async () => {
    const { api, payment } = await newPayment(service(), {
      email: ' ',
      prefilled_cardholder_details: { cardholder_name: null, billing_address: { city: '' } },
    })
    await shows(api, payment, payment, PAGES, { ...inWebMode, ...OPEN })
    await api.get(payment._links.next_url.href)
    const state = { status: 'started', finished: false }
    assert.deepEqual(await read(api, payment), { ...payment, state })
  })

  test('a payment that was paid on the pages has its card and its capture date', async () => {
    const { api, payment: created } = await newPayment(service())
    await api.advance(154_211)
    const payment = await payOnPages(api, created)
    const paid = { ...inWebMode, ...CARD, ...captured(await api.now()), card_details: MOCK_CARD }
    await shows(api, payment, created, [], paid)
  })

  test('a payment with delayed capture stays capturable until it is captured or cancelled', async () => {
    const fields = { delayed_capture: true, prefilled_cardholder_details: gwen }
    const { api, payment: created } = await newPayment(service(), fields)
    const payment = await payOnPages(api, created)
    const card_details = { ...MOCK_CARD, ...gwen }
    const capturable = { ...inWebMode, ...CAPTURABLE, delayed_capture: true, card_details }
    await shows(api, payment, created, ['cancel', 'capture'], capturable)
    await api.advance(86_400_000)
    await api.post(payment._links.capture.href)
    const now = captured(await api.now())
    await shows(api, await read(api, payment), created, [], { ...capturable, ...now })

    const second = await api.createPayment(fields)
    await api.post((await payOnPages(api, second))._links.cancel.href)
    await shows(api, await read(api, second), second, [], { ...capturable, ...CANCELLED })
  })

  test('a payment that was cancelled before a card was submitted keeps its prefilled details', async () => {
    const billing_address = { city: 'Bangor' }
    const { api, payment } = await newPayment(service(), {
      prefilled_cardholder_details: { billing_address },
    })
    await api.post(payment._links.cancel.href)
    const card_details = { billing_address, card_type: null }
    const fields = { ...inWebMode, ...CANCELLED, card_details }
    await shows(api, await read(api, payment), payment, [], fields)
  })

  test('a payment in moto_api mode has a one-time token until a card is posted with it', async () => {
    const { api, payment } = await newPayment(service(), moto)
    await shows(api, payment, payment, ['auth_url_post', 'cancel'], { ...inMotoMode, ...OPEN })
    assert.match(tokenOf(payment), TOKEN)
    await authorise(api, payment, { card_number: '5555555555554444' })
    const brand = { card_brand: 'Mastercard' }
    const digits = { first_digits_card_number: '555555', last_digits_card_number: '4444' }
    await shows(api, await read(api, payment), payment, [], {
      ...inMotoMode,
      ...CARD,
      ...captured(await api.now()),
      ...brand,
      card_details: { ...POSTED, ...digits, ...brand },
    })
  })

  test('a payment in moto_api mode has no card_brand when the brand of the card is unknown', async () => {
    const { api, payment } = await newPayment(service(), moto)
    await authorise(api, payment, { card_number: '999999999999' })
    const { card_brand, card_details } = await read(api, payment)
    const { card_brand: visa, ...posted } = POSTED
    const digits = { first_digits_card_number: '999999', last_digits_card_number: '9999' }
    assert.deepEqual([card_brand, card_details], [undefined, { ...posted, ...digits }])
  })

  test('a payment in moto_api mode with a declined card is failed, and its card_details have no address', async () => {
    const { api, payment } = await newPayment(service(), {
      ...moto,
      prefilled_cardholder_details: { billing_address: { city: 'Bangor' } },
    })
    assert.equal((await authorise(api, payment, { card_number: DECLINED })).status, 402)
    const digits = { first_digits_card_number: '400000', last_digits_card_number: '0002' }
    const [code, message] = ['P0010', 'Payment method rejected']
    await shows(api, await read(api, payment), payment, [], {
      ...inMotoMode,
      ...CARD,
      state: { status: 'failed', finished: true, code, message },
      card_details: { ...POSTED, ...digits },
      refund_summary: refundSummary('unavailable', 4650),
      fee: 0,
      net_amount: 0,
    })
  })

  test('a payment in agreement mode is success or capturable at once, with the card of the agreement', async () => {
    const api = await service().newAccount()
    const authorisation_mode = 'agreement'
    const agreement = { authorisation_mode, agreement_id: await activeAgreement(api) }
    const common = { authorisation_mode, ...CARD, card_details: MOCK_CARD }
    const payment = await api.createPayment(agreement)
    const paid = { agreement_payment_type: 'recurring', ...captured(await api.now()) }
    await shows(api, payment, payment, [], { ...common, ...paid })
    const given = { delayed_capture: true, agreement_payment_type: 'unscheduled' }
    const waiting = await api.createPayment({ ...agreement, ...given })
    const fields = { ...common, ...CAPTURABLE, ...given }
    await shows(api, waiting, waiting, ['cancel', 'capture'], fields)
  })

  test('a payment that sets up an agreement has its agreement_payment_type and not the agreement', async () => {
    const api = await service().newAccount()
    const set_up_agreement = await activeAgreement(api)
    for (const agreement_payment_type of ['recurring', 'instalment']) {
      const isDefault = agreement_payment_type === 'recurring'
      const given = { set_up_agreement, ...(!isDefault && { agreement_payment_type }) }
      const made = await api.createPayment(given)
      await shows(api, made, made, PAGES, { ...inWebMode, ...OPEN, agreement_payment_type })
    }
  })

  test('the events of a payment have the time of each step, and the code and message of its end', async () => {
    const { api, payment } = await newPayment(service(), { delayed_capture: true })
    const { payment_id, created_date, _links } = payment
    await api.advance(1_000)
    await api.get(_links.next_url.href)
    await api.advance(1_000)
    await payOnPages(api, payment)
    await api.advance(1_000)
    await api.post(_links.cancel.href)
    const steps: [second: number, state: object][] = [
      [0, { status: 'created', finished: false }],
      [1, { status: 'started', finished: false }],
      [2, { status: 'submitted', finished: false }],
      [2, { status: 'capturable', finished: false }],
      [3, CANCELLED.state],
    ]
    const link = (href: string) => ({ href, method: 'GET' })
    assert.deepEqual((await api.get(_links.events.href)).body, {
      payment_id,
      events: steps.map(([second, state]) => ({
        payment_id,
        state,
        updated: new Date(Date.parse(created_date) + second * 1_000).toISOString(),
        _links: { payment_url: link(_links.self.href) },
      })),
      _links: { self: link(_links.events.href) },
    })
  })
})
