import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertShows,
  CARD,
  cancelledState,
  captured,
  commonFields,
  inWebMode,
  links,
  MOCK_CARD,
  refundSummary,
  TOKEN,
  tokenOf,
} from '../../support/expected-payment.ts'
import { payOnPages, read } from '../../support/journeys.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Payments: whole body in web mode',
  service => {
    const base = () => service().config.baseUrl ?? service().baseUrl

    test('a new payment in web mode returns the given fields and the links to pay', async () => {
      const api = await service().newAccount()
      const given = {
        language: 'cy',
        email: 'trader@example.org',
        metadata: { pitch: 22, covered: true, market: 'Corn Street' },
        delayed_capture: true,
        moto: true,
        prefilled_cardholder_details: {
          cardholder_name: 'Gwen Hughes',
          billing_address: {
            line1: '1 Stryd',
            line2: 'Tŷ',
            city: 'Bangor',
            postcode: 'LL',
            country: 'gb',
          },
        },
        unknown: 'ignored',
      }
      const payment = await api.createPayment(given)
      assert.match(tokenOf(payment), TOKEN)
      assert.ok(tokenOf(payment).startsWith(payment.payment_id))
      await assertShows(api, payment, {
        ...commonFields(payment),
        ...inWebMode,
        created_date: new Date(await api.now()).toISOString(),
        language: 'cy',
        email: 'trader@example.org',
        metadata: { pitch: 22, covered: true, market: 'Corn Street' },
        delayed_capture: true,
        moto: true,
        state: { status: 'created', finished: false },
        refund_summary: refundSummary('pending', 4650),
        card_details: { ...given.prefilled_cardholder_details, card_type: null },
        _links: links(
          base(),
          payment.payment_id,
          ['next_url', 'next_url_post', 'cancel'],
          tokenOf(payment),
        ),
      })
    })

    test('a new payment with only the required fields has defaults and no null', async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment({
        email: ' ',
        prefilled_cardholder_details: { cardholder_name: null, billing_address: { city: '' } },
      })
      await assertShows(api, payment, {
        ...commonFields(payment),
        ...inWebMode,
        state: { status: 'created', finished: false },
        refund_summary: refundSummary('pending', 4650),
        _links: links(
          base(),
          payment.payment_id,
          ['next_url', 'next_url_post', 'cancel'],
          tokenOf(payment),
        ),
      })
    })

    test('a started payment differs from a created one only in its state', async () => {
      const api = await service().newAccount()
      const payment = await api.createPayment()
      await api.get(payment._links.next_url.href)
      assert.deepEqual(await read(api, payment), {
        ...payment,
        state: { status: 'started', finished: false },
      })
    })

    test('a payment that was paid on the pages has its card and its capture date', async () => {
      const api = await service().newAccount()
      const created = await api.createPayment()
      await api.advance(154_211)
      const payment = await payOnPages(api, created)
      await assertShows(api, payment, {
        ...commonFields(created),
        ...inWebMode,
        ...CARD,
        ...captured(await api.now()),
        card_details: MOCK_CARD,
        _links: links(base(), payment.payment_id, []),
      })
      await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 1250 })
      await assertShows(api, await read(api, payment), {
        ...payment,
        refund_summary: refundSummary('available', 4650, 1250),
      })
      await api.post(`/v1/payments/${payment.payment_id}/refunds`, { amount: 3400 })
      const full = { ...payment, refund_summary: refundSummary('full', 4650, 4650) }
      await assertShows(api, await read(api, payment), full)
    })

    test('a payment of amount 0 has refund status full as soon as it is paid', async () => {
      const api = await service().newAccount()
      const payment = await payOnPages(api, await api.createPayment({ amount: 0 }))
      assert.equal(payment.amount, 0)
      assert.equal(payment.net_amount, 0)
      assert.deepEqual(payment.refund_summary, refundSummary('full', 0))
    })

    test('a payment with delayed capture stays capturable until it is captured or cancelled', async () => {
      const api = await service().newAccount()
      const prefilled_cardholder_details = { cardholder_name: 'Gwen Hughes' }
      const fields = { delayed_capture: true, prefilled_cardholder_details }
      const payment = await payOnPages(api, await api.createPayment(fields))
      const capturable = {
        ...commonFields(payment),
        ...inWebMode,
        ...CARD,
        delayed_capture: true,
        state: { status: 'capturable', finished: false },
        card_details: { ...MOCK_CARD, cardholder_name: 'Gwen Hughes' },
        refund_summary: refundSummary('unavailable', 4650),
        _links: links(base(), payment.payment_id, ['cancel', 'capture']),
      }
      await assertShows(api, payment, capturable)

      await api.advance(86_400_000)
      await api.post(payment._links.capture.href)
      await assertShows(api, await read(api, payment), {
        ...capturable,
        ...captured(await api.now()),
        _links: links(base(), payment.payment_id, []),
      })

      const other = await payOnPages(api, await api.createPayment({ delayed_capture: true }))
      await api.post(other._links.cancel.href)
      await assertShows(api, await read(api, other), {
        ...other,
        state: cancelledState,
        _links: links(base(), other.payment_id, []),
      })
    })

    test('a payment that was cancelled before a card was submitted keeps its prefilled details', async () => {
      const api = await service().newAccount()
      const prefilled_cardholder_details = { billing_address: { city: 'Bangor' } }
      const created = await api.createPayment({ prefilled_cardholder_details })
      await api.post(created._links.cancel.href)
      await assertShows(api, await read(api, created), {
        ...commonFields(created),
        ...inWebMode,
        state: cancelledState,
        card_details: { billing_address: { city: 'Bangor' }, card_type: null },
        refund_summary: refundSummary('unavailable', 4650),
        _links: links(base(), created.payment_id, []),
      })
    })
  },
  { control: true },
)
