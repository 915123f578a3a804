import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement, payByAgreement, setUpPayment } from '../agreements.ts'
import type { Body, Client } from '../client.ts'
import { authorise, paidPayment, read } from '../journeys.ts'

const MOTO = { authorisation_mode: 'moto_api' }
const keysOf = (object: Body): string[] => Object.keys(object).sort()

/** A moto_api payment whose card was accepted. */
async function motoPayment(api: Client, fields = {}): Promise<Body> {
  const created = await api.createPayment({ ...MOTO, ...fields })
  await authorise(api, created)
  return read(api, created)
}

const searched = async (api: Client, path: string): Promise<Body> => (await api.get(path)).body

const CARD = {
  last_digits_card_number: '4242',
  first_digits_card_number: '424242',
  cardholder_name: 'A Caller',
  expiry_date: '04/31',
  card_brand: 'Visa',
  card_type: 'credit',
}

const ADDRESS = { line1: '10 Quay Street', postcode: 'ZZ1 1ZZ' }
const OF_PAGES = { line1: '1 Sample Street', postcode: 'ZZ1 1ZZ', city: 'Sampleton', country: 'GB' }
const NONE = { last_digits_card_number: null, first_digits_card_number: null, expiry_date: null }

export const reading = {
  agreementIdOfPayments: {
    async seen(api) {
      const agreement = await activeAgreement(api)
      const setUp = await setUpPayment(api, agreement)
      const { body: charge } = await payByAgreement(api, agreement)
      const { body: found } = await api.get('/v1/payments')
      const shown = [setUp, charge, await read(api, charge), ...found.results]
      return shown.map(({ agreement_id }) => agreement_id === agreement.agreement_id)
    },
    specification: [false, false, false, false, false, false],
    'govuk-pay': [true, true, true, false, false, false],
  },
  cancelLink: {
    async seen(api) {
      await api.createPayment()
      const [{ _links }] = (await searched(api, '/v1/payments')).results
      const agreement = await activeAgreement(api)
      await api.advance(1_000)
      const { body } = await payByAgreement(api, agreement, { delayed_capture: true })
      await api.advance(6_000)
      return [_links.cancel?.method, _links.capture, 'cancel' in (await read(api, body))._links]
    },
    specification: ['POST', undefined, true],
    'govuk-pay': ['POST', null, false],
  },
  actionLinks: {
    async seen(api) {
      const { _links } = await paidPayment(api, { delayed_capture: true })
      const { auth_url_post } = (await api.createPayment(MOTO))._links
      const keys = [_links.cancel, _links.capture].map(each => keysOf(each).join(' '))
      return [...keys, auth_url_post.type]
    },
    specification: [
      ...Array(2).fill('href method params type'),
      'application/x-www-form-urlencoded',
    ],
    'govuk-pay': [...Array(2).fill('href method'), 'application/json'],
  },
  pageLinks: {
    async seen(api) {
      await api.createPayment()
      await api.createPayment()
      const { _links } = await searched(api, '/v1/payments?page=1&display_size=1')
      const paths = ['/v1/agreements', '/v1/refunds', '/v1/disputes', '/v1/payments']
      const pages = await Promise.all(paths.map(path => searched(api, path)))
      const [, , disputes] = pages
      return [
        [_links, _links.self, _links.next_page].map(each => keysOf(each).join(' ')),
        pages.map(page => (page._links ?? page.links).next_page),
        keysOf(disputes).filter(key => /links/.test(key)),
      ]
    },
    specification: [
      ['first_page last_page next_page self', 'href method', 'href method'],
      Array(4).fill(undefined),
      ['_links', 'links'],
    ],
    'govuk-pay': [
      ['first_page last_page next_page self', 'href', 'href'],
      [{}, {}, {}, undefined],
      ['links'],
    ],
  },
  settlementOfOpenDisputes: {
    async seen(api) {
      const { results } = await searched(api, '/v1/disputes')
      return results.map((dispute: Body) => dispute.settlement_summary)
    },
    specification: [undefined, undefined, undefined, { settled_date: '2026-07-24' }],
    'govuk-pay': [{}, {}, {}, { settled_date: '2026-07-24' }],
  },
  cardOfPayments: {
    async seen(api) {
      const prefilled_cardholder_details = { cardholder_name: 'A User', billing_address: ADDRESS }
      const filled = { prefilled_cardholder_details }
      const shown = [
        await api.createPayment(),
        await api.createPayment(filled),
        await motoPayment(api),
        await motoPayment(api, filled),
      ]
      return shown.map(({ card_details }) => card_details)
    },
    specification: [
      undefined,
      { cardholder_name: 'A User', billing_address: ADDRESS, card_type: null },
      CARD,
      CARD,
    ],
    'govuk-pay': [
      undefined,
      {
        ...NONE,
        cardholder_name: 'A User',
        billing_address: ADDRESS,
        card_brand: '',
        card_type: null,
        wallet_type: null,
      },
      { ...CARD, billing_address: null, wallet_type: null },
      { ...CARD, billing_address: ADDRESS, wallet_type: null },
    ],
  },
  cardOfAgreements: {
    async seen(api) {
      const { CardDetails, card_details } = (await activeAgreement(api)).payment_instrument
      return [
        CardDetails && keysOf(CardDetails).length,
        keysOf(card_details).length,
        card_details.billing_address,
        card_details.card_brand,
      ]
    },
    specification: [7, 7, { ...OF_PAGES, line2: '' }, 'Visa'],
    'govuk-pay': [undefined, 7, OF_PAGES, 'visa'],
  },
  shownFields: {
    async seen(api) {
      const created = await api.createPayment(MOTO)
      await authorise(api, created)
      const { fee, net_amount, authorisation_summary, provider_id } = await read(api, created)
      const ids = [created.provider_id, provider_id].map(id => typeof id)
      return [ids, fee, net_amount, authorisation_summary]
    },
    specification: [['string', 'string'], 0, 4650, { three_d_secure: { required: false } }],
    'govuk-pay': [['undefined', 'string'], undefined, undefined, undefined],
  },
} satisfies Record<string, Case>
