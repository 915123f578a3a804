import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement } from '../agreements.ts'
import { briefOf } from '../assertions.ts'
import { type Client, webPayment } from '../client.ts'
import { HEADER } from '../new-payment.ts'

const create = async (api: Client, fields: object, headers?: Record<string, string>) =>
  briefOf(await api.post('/v1/payments', { ...webPayment, ...fields }, headers))

/** An identifier that no agreement has. */
const NOBODY = '0'.repeat(26)

const { return_url, ...anyMode } = webPayment

export const creating = {
  leastAmount: {
    seen: api => create(api, { amount: 0 }),
    specification: '201',
    'govuk-pay': '422 P0102 amount',
  },
  plainHttp: {
    seen: api => create(api, { return_url: 'http://shop.example.org/back' }),
    specification: '422 P0102 return_url',
    'govuk-pay': '201',
  },
  returnAddress: {
    seen: api => create(api, { return_url: 'https://shop.test/back' }),
    specification: '201',
    'govuk-pay': '422 P0102',
  },
  blankReturnUrl: {
    seen: async api => [
      await create(api, { return_url: ' ' }),
      await create(api, { return_url: ' ', authorisation_mode: 'moto_api' }),
    ],
    specification: ['400 P0101 return_url', '201'],
    'govuk-pay': ['422 P0102', '400 P0104'],
  },
  refusesBlankPrefilled: {
    async seen(api) {
      const { agreement_id } = await activeAgreement(api)
      const fields = { ...anyMode, authorisation_mode: 'agreement', agreement_id }
      const seen: string[] = []
      const blank = { cardholder_name: null, billing_address: { line1: null } }
      const empty = { billing_address: { country: '' } }
      for (const prefilled_cardholder_details of [{ cardholder_name: ' ' }, empty, blank, {}, '']) {
        const given = { ...fields, prefilled_cardholder_details }
        seen.push(briefOf(await api.post('/v1/payments', given)))
      }
      return seen
    },
    specification: Array(5).fill('201'),
    'govuk-pay': ['400 P0104', '400 P0104', '201', '201', '201'],
  },
  checksMetadataFirst: {
    seen: api => create(api, { amount: -1, metadata: { a: null } }),
    specification: '422 P0102 amount',
    'govuk-pay': '422 P0102 metadata',
  },
  refusedSource: {
    async seen(api) {
      const seen: string[] = []
      for (const source of ['CARD_PAYMENT_LINK', 'CARD_API', true, 'PHONE'])
        seen.push(await create(api, { internal: { source } }))
      return seen
    },
    specification: Array(4).fill('201'),
    'govuk-pay': ['201', '400 P0102 source', '400 P0102 source', '422 P0102 source'],
  },
  usedKey: {
    async seen(api) {
      const headers = { [HEADER]: crypto.randomUUID() }
      const create = () => api.post('/v1/payments', webPayment, headers)
      const [first, second] = [await create(), await create()]
      return [briefOf(second), second.body.payment_id === first.body.payment_id]
    },
    specification: ['409 P0191 Idempotency-Key', false],
    'govuk-pay': ['201', false],
  },
  oldestWithKey: {
    async seen(api) {
      const { agreement_id } = await activeAgreement(api)
      const given = { ...anyMode, authorisation_mode: 'agreement', agreement_id }
      const headers = { [HEADER]: 'k' }
      const seen: unknown[] = []
      for (const wait of [0, 24 * 3_600_000 - 1, 1, 6 * 24 * 3_600_000]) {
        await api.advance(wait)
        seen.push(briefOf(await api.post('/v1/payments', given, headers)))
      }
      return seen
    },
    specification: ['201', ...Array(2).fill('409 P0191 Idempotency-Key'), '201'],
    'govuk-pay': ['201', '200', '201', '201'],
  },
  ignoredSetUp: {
    seen: async api => [
      await create(api, { set_up_agreement: 1 }),
      await create(api, { set_up_agreement: 1, agreement_payment_type: 'recurring' }),
    ],
    specification: Array(2).fill('400 P0102 set_up_agreement'),
    'govuk-pay': ['201', '400 P0104'],
  },
  unknownSetUp: {
    seen: api => create(api, { set_up_agreement: NOBODY }),
    specification: '400 P0103 set_up_agreement',
    'govuk-pay': '400 P0102 agreement_id',
  },
  readsAgreementFirst: {
    async seen(api) {
      const mode = { authorisation_mode: 'agreement' }
      return [await create(api, mode), await create(api, { ...mode, return_url: undefined })]
    },
    specification: Array(2).fill('400 P0101 agreement_id'),
    'govuk-pay': ['400 P0104', '400 P0101'],
  },
} satisfies Record<string, Case>
