import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertShows,
  CARD,
  captured,
  commonFields,
  inMotoMode,
  inWebMode,
  links,
  MOCK_CARD,
  refundSummary,
  TOKEN,
  tokenOf,
} from '../../support/expected-payment.ts'
import { authorise, DECLINED, read } from '../../support/journeys.ts'
import { activeAgreement } from '../../support/new-payment.ts'
import { onSharedDatabases } from '../../support/service.ts'

onSharedDatabases(
  'Payments: whole body in moto_api and agreement mode',
  service => {
    const base = () => service().config.baseUrl ?? service().baseUrl

    test('a payment in moto_api mode has a one-time token until a card is posted with it', async () => {
      const api = await service().newAccount()
      const created = await api.createPayment({ authorisation_mode: 'moto_api' })
      const { _links, ...waiting } = {
        ...commonFields(created),
        ...inMotoMode,
        state: { status: 'created', finished: false },
        refund_summary: refundSummary('pending', 4650),
        _links: links(base(), created.payment_id, ['auth_url_post', 'cancel'], tokenOf(created)),
      }
      assert.match(tokenOf(created), TOKEN)
      await assertShows(api, created, { ...waiting, _links })

      const number = { card_number: '5555555555554444', cardholder_name: 'A Caller' }
      await authorise(api, created, { ...number, expiry_date: '04/31' })
      const card = {
        first_digits_card_number: '555555',
        last_digits_card_number: '4444',
        cardholder_name: 'A Caller',
        expiry_date: '04/31',
        card_brand: 'Mastercard',
        card_type: 'credit',
      }
      await assertShows(api, await read(api, created), {
        ...waiting,
        ...CARD,
        ...captured(await api.now()),
        card_brand: 'Mastercard',
        card_details: card,
        _links: links(base(), created.payment_id, []),
      })
    })

    test('a payment in moto_api mode has no card_brand when the brand of the card is unknown', async () => {
      const api = await service().newAccount()
      const created = await api.createPayment({ authorisation_mode: 'moto_api' })
      await authorise(api, created, { card_number: '999999999999' })
      const { card_brand, card_details } = await read(api, created)
      assert.equal(card_brand, undefined)
      assert.deepEqual(card_details, {
        first_digits_card_number: '999999',
        last_digits_card_number: '9999',
        cardholder_name: 'A Caller',
        expiry_date: '04/31',
        card_type: 'credit',
      })
    })

    test('a payment in moto_api mode with a declined card is failed, and its card_details have no address', async () => {
      const api = await service().newAccount()
      const created = await api.createPayment({
        authorisation_mode: 'moto_api',
        prefilled_cardholder_details: { billing_address: { city: 'Bangor' } },
      })
      const declined = await authorise(api, created, { card_number: DECLINED })
      assert.equal(declined.status, 402)
      await assertShows(api, await read(api, created), {
        ...commonFields(created),
        ...inMotoMode,
        ...CARD,
        state: {
          status: 'failed',
          finished: true,
          code: 'P0010',
          message: 'Payment method rejected',
        },
        card_details: {
          first_digits_card_number: '400000',
          last_digits_card_number: '0002',
          cardholder_name: 'A Caller',
          expiry_date: '04/31',
          card_brand: 'Visa',
          card_type: 'credit',
        },
        refund_summary: refundSummary('unavailable', 4650),
        fee: 0,
        net_amount: 0,
        _links: links(base(), created.payment_id, []),
      })
    })

    test('a payment in agreement mode is success or capturable at once, with the card of the agreement', async () => {
      const api = await service().newAccount()
      const agreement = {
        authorisation_mode: 'agreement',
        agreement_id: await activeAgreement(api),
      }
      const payment = await api.createPayment(agreement)
      await assertShows(api, payment, {
        ...commonFields(payment),
        ...CARD,
        authorisation_mode: 'agreement',
        agreement_payment_type: 'recurring',
        ...captured(await api.now()),
        card_details: MOCK_CARD,
        _links: links(base(), payment.payment_id, []),
      })
      const waiting = await api.createPayment({
        ...agreement,
        delayed_capture: true,
        agreement_payment_type: 'unscheduled',
      })
      await assertShows(api, waiting, {
        ...commonFields(waiting),
        ...CARD,
        authorisation_mode: 'agreement',
        agreement_payment_type: 'unscheduled',
        delayed_capture: true,
        state: { status: 'capturable', finished: false },
        card_details: MOCK_CARD,
        refund_summary: refundSummary('unavailable', 4650),
        _links: links(base(), waiting.payment_id, ['cancel', 'capture']),
      })
    })

    test('a payment that sets up an agreement has its agreement_payment_type and not the agreement', async () => {
      const api = await service().newAccount()
      const set_up_agreement = await activeAgreement(api)
      const recurring = await api.createPayment({ set_up_agreement })
      assert.equal(recurring.agreement_payment_type, 'recurring')
      const fields = { set_up_agreement, agreement_payment_type: 'instalment' }
      const instalment = await api.createPayment(fields)
      await assertShows(api, instalment, {
        ...commonFields(instalment),
        ...inWebMode,
        agreement_payment_type: 'instalment',
        state: { status: 'created', finished: false },
        refund_summary: refundSummary('pending', 4650),
        _links: links(
          base(),
          instalment.payment_id,
          ['next_url', 'next_url_post', 'cancel'],
          tokenOf(instalment),
        ),
      })
    })
  },
  { control: true },
)
