import type { Case } from '../../contract/differences.test.ts'
import { activeAgreement, payByAgreement } from '../agreements.ts'
import { briefOf } from '../assertions.ts'
import { type Client, webPayment } from '../client.ts'
import { authorise, choose, paidPayment, read } from '../journeys.ts'
import { HEADER } from '../new-payment.ts'

const create = async (api: Client, fields: object, headers?: Record<string, string>) =>
  briefOf(await api.post('/v1/payments', { ...webPayment, ...fields }, headers))

const NOBODY = '0'.repeat(26)
const LINK = 'CARD_PAYMENT_LINK'

/** As many digits as some card numbers have. */
const NUMBER = 'N 12345678901'

export const creating = {
  leastAmount: {
    seen: api => create(api, { amount: 0 }),
    specification: '201',
    'govuk-pay': '422 P0102 amount',
  },
  plainHttp: {
    async seen(api) {
      const payment = await api.createPayment()
      const { href } = payment._links.next_url
      /** The addresses to which Chromium lets the form of the page and the redirect after it lead. */
      const leadsTo = async (path: string) =>
        /form-action ([^;]+)/.exec(
          (await api.get(path)).headers.get('content-security-policy') ?? '',
        )?.[1]
      const first = await leadsTo(href)
      await choose(api, payment, 'success')
      const second = await leadsTo(`${href}/confirm`)
      return [await create(api, { return_url: 'http://shop.example.org/back' }), first, second]
    },
    specification: ['422 P0102 return_url', ...Array(2).fill("'self' https:")],
    'govuk-pay': ['201', ...Array(2).fill("'self' https: http:")],
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
  keepsBlankPrefilled: {
    async seen(api) {
      const agreement = await activeAgreement(api)
      const blank = { cardholder_name: null, billing_address: { line1: null } }
      const empty = { billing_address: { country: '' } }
      const seen = await Array.fromAsync(
        [{ cardholder_name: ' ' }, empty, blank, {}, ''],
        async prefilled_cardholder_details =>
          briefOf(await payByAgreement(api, agreement, { prefilled_cardholder_details })),
      )
      const details = { cardholder_name: '', billing_address: { line1: ' ', country: '' } }
      const paid = await paidPayment(api, { prefilled_cardholder_details: details })
      const made = await api.createPayment({ prefilled_cardholder_details: details })
      const [shown, { cardholder_name }] = [made.card_details, paid.card_details]
      return [seen, shown?.cardholder_name, shown?.billing_address, cardholder_name]
    },
    specification: [Array(5).fill('201'), undefined, undefined, 'Demo Cardholder'],
    'govuk-pay': [
      ['400 P0104', '400 P0104', '201', '201', '201'],
      '',
      { line1: ' ' },
      'Demo Cardholder',
    ],
  },
  keptText: {
    async seen(api) {
      const billing_address = { line1: 'Flat 1234567890', city: 'a12345678901z', country: 'GB' }
      const prefilled_cardholder_details = { cardholder_name: NUMBER, billing_address }
      const fields = { prefilled_cardholder_details, authorisation_mode: 'moto_api' }
      const created = await api.createPayment({ ...fields, return_url: undefined })
      await authorise(api, created, { cardholder_name: NUMBER })
      const paid = await paidPayment(api, { prefilled_cardholder_details })
      const { cardholder_name, billing_address: shown } = created.card_details
      const names = [await read(api, created), paid].map(
        ({ card_details }) => card_details.cardholder_name,
      )
      return [cardholder_name, shown, names]
    },
    specification: [
      NUMBER,
      { line1: 'Flat 1234567890', city: 'a12345678901z', country: 'GB' },
      [NUMBER, NUMBER],
    ],
    'govuk-pay': [
      NUMBER,
      { line1: 'Flat 1234567890', city: 'a***********z', country: 'GB' },
      Array(2).fill('N ***********'),
    ],
  },
  keepsEmptyMetadata: {
    async seen(api) {
      const created = await api.createPayment({ metadata: {} })
      return [created.metadata, (await read(api, created)).metadata]
    },
    specification: [{}, {}],
    'govuk-pay': [undefined, undefined],
  },
  checksMetadataFirst: {
    seen: api => create(api, { amount: -1, metadata: { a: null } }),
    specification: '422 P0102 amount',
    'govuk-pay': '422 P0102 metadata',
  },
  refusedSource: {
    seen: api =>
      Array.fromAsync([LINK, null, 'CARD_API', true, [LINK], 'PHONE'], source =>
        create(api, { internal: { source } }),
      ),
    specification: Array(6).fill('201'),
    'govuk-pay': ['201', '201', ...Array(3).fill('400 P0102 source'), '422 P0102 source'],
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
      const agreement = await activeAgreement(api)
      return Array.fromAsync([0, 24 * 3_600_000 - 1, 1, 6 * 24 * 3_600_000], async wait => {
        await api.advance(wait)
        return briefOf(await payByAgreement(api, agreement, {}, { [HEADER]: 'k' }))
      })
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
      const noReturn = { ...mode, return_url: undefined }
      return [
        await create(api, mode),
        await create(api, noReturn),
        await create(api, { ...noReturn, set_up_agreement: NOBODY }),
      ]
    },
    specification: Array(3).fill('400 P0101 agreement_id'),
    'govuk-pay': ['400 P0104', '400 P0101', '400 P0104'],
  },
} satisfies Record<string, Case>
