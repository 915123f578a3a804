import type { Case } from '../../contract/differences.test.ts'
import { briefOf } from '../assertions.ts'
import { type Client, type RequestOptions, webPayment } from '../client.ts'
import { authorise, card, paidPayment, read } from '../journeys.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }

async function posted(api: Client, path: string, { body = '', ...rest }: RequestOptions = {}) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return briefOf(await api.request('POST', path, { headers: JSON_TYPE, ...rest, body: bytes }))
}

const motoPayment = (api: Client) => api.createPayment({ authorisation_mode: 'moto_api' })

/** Requests before their fields are read. */
export const arriving = {
  blockedText: {
    seen: async api => [
      briefOf(await api.post('/v1/payments', { ...webPayment, metadata: { size: '<3' } })),
      briefOf(await api.post('/v1/payments', { ...webPayment, reference: '<3' })),
      briefOf(await api.get('/v1/payments?reference=%3C3')),
    ],
    specification: ['201', '400 P0102 reference', '200'],
    'govuk-pay': ['400 P0920', '400 P0102 reference', '400 P0920'],
  },
  takenAccept: {
    seen: async api => [
      briefOf(await api.get('/v1/payments', { Accept: 'text/xml' })),
      briefOf(await api.get('/v1/payments', { Accept: 'text/html, */*;q=0.1' })),
    ],
    specification: ['200', '200'],
    'govuk-pay': ['400 P0920', '200'],
  },
  takenType: {
    async seen(api) {
      const body = JSON.stringify(webPayment)
      const types = [{}, { 'Content-Type': 'application/vnd.api+json' }, JSON_TYPE]
      const seen: string[] = []
      for (const headers of types) seen.push(await posted(api, '/v1/payments', { headers, body }))
      return [...seen, await posted(api, '/v1/payments')]
    },
    specification: ['201', '201', '201', '400 P0197'],
    'govuk-pay': ['400 P0920', '400 P0920', '201', '400 P0920'],
  },
  takesCardForms: {
    async seen(api) {
      const { href, params } = (await motoPayment(api))._links.auth_url_post
      return briefOf(await api.postForm(href, { ...params, ...card }))
    },
    specification: '204',
    'govuk-pay': '400 P0920',
  },
  postsASecond: {
    // Refused for their fields, because a payment takes longer than it must.
    async seen(api) {
      const post = () => posted(api, '/v1/payments', { body: '{}' })
      return [...new Set(await Array.fromAsync({ length: 32 }, post))]
    },
    specification: ['400 P0101 amount'],
    'govuk-pay': ['400 P0101 amount', '429 P0900'],
  },
} satisfies Record<string, Case>

export const errors = {
  wordedError: {
    seen: async api => [
      briefOf(await api.post('/v1/payments', { ...webPayment, return_url: undefined })),
      briefOf(await api.post('/v1/payments', { ...webPayment, authorisation_mode: 'moto_api' })),
    ],
    specification: ['400 P0101 return_url', '400 P0104 return_url'],
    'govuk-pay': ['400 P0101', '400 P0104'],
  },
  largestInteger: {
    seen: async api =>
      briefOf(await api.post('/v1/payments', { ...webPayment, amount: 2_147_483_648 })),
    specification: '422 P0102 amount',
    'govuk-pay': '400 P0102 amount',
  },
  otherBody: {
    seen: api =>
      Array.fromAsync(['[]', '{"amount":', 'abc'], body => posted(api, '/v1/payments', { body })),
    specification: Array(3).fill('400 P0197'),
    'govuk-pay': ['400 P0101 amount', '400 P0197', '500 500'],
  },
  lostError: {
    async seen(api) {
      const lost = await api.get('/v1/nothing')
      const wrong = await api.request('PUT', '/v1/payments')
      const codes = [lost.body.code, wrong.body.code]
      return [lost.status, wrong.status, ...codes, wrong.headers.get('allow')]
    },
    specification: [404, 405, 'P0911', 'P0912', 'POST, GET, HEAD'],
    'govuk-pay': [404, 405, 404, 405, 'POST, GET, HEAD'],
  },
  unknownRefunded: {
    async seen(api) {
      const address = `/v1/payments/${'0'.repeat(26)}/refunds`
      return [
        briefOf(await api.post(address, { amount: 1 })),
        briefOf(await api.post(address, { amount: 1, refund_amount_available: 1 })),
      ]
    },
    specification: ['404 P0600', '404 P0600'],
    'govuk-pay': ['404 P0200', '404 P0600'],
  },
  expectedAmount: {
    async seen(api) {
      const { payment_id } = await paidPayment(api)
      await api.advance(5_000)
      return Array.fromAsync(['x', {}, null, 4_650.9], async refund_amount_available => {
        const refund = { amount: 1, refund_amount_available }
        return briefOf(await api.post(`/v1/payments/${payment_id}/refunds`, refund))
      })
    },
    specification: [
      ...Array(2).fill('400 P0602 refund_amount_available'),
      '412 P0604',
      '400 P0602 refund_amount_available',
    ],
    'govuk-pay': [...Array(3).fill('412 P0604'), '202'],
  },
} satisfies Record<string, Case>

async function payWith(api: Client, fields: Record<string, unknown>) {
  const payment = await motoPayment(api)
  const answer = briefOf(await authorise(api, payment, fields))
  const { state, card_details } = await read(api, payment)
  return [answer, state.status, card_details?.last_digits_card_number ?? 'no card']
}

export const cards = {
  cardMistake: {
    seen: api => payWith(api, { expiry_date: '08/26' }),
    specification: ['204', 'success', '4242'],
    'govuk-pay': ['422 P0102', 'created', 'no card'],
  },
  refusedNumber: {
    seen: async api => [
      await payWith(api, { card_number: '4242424242424241' }),
      await payWith(api, { card_number: '9999999999999995' }),
    ],
    specification: [
      ['204', 'success', '4241'],
      ['204', 'success', '9995'],
    ],
    'govuk-pay': Array(2).fill(['402 P0010', 'failed', 'no card']),
  },
  cardOutcome: {
    seen: api =>
      Array.fromAsync(
        ['4444333322221111', '4000000000000069', '4000000000000119', '4012888888881881'],
        async card_number => (await payWith(api, { card_number })).join(' '),
      ),
    specification: ['204 success 1111', '204 success 0069', '204 success 0119', '204 success 1881'],
    'govuk-pay': [
      '204 success 1111',
      '402 P0010 failed 0069',
      '500 P0050 error 0119',
      '500 P0050 error 1881',
    ],
  },
  cardFault: {
    async seen(api, { control, unchecked }) {
      await control(api, 'plans', { on: 'authorisePayment', answer: { status: 500 } })
      return payWith(unchecked(api), {})
    },
    specification: ['500 P0050', 'created', 'no card'],
    'govuk-pay': ['500 P0198', 'created', 'no card'],
  },
  endedPayment: {
    async seen(api) {
      const payment = await motoPayment(api)
      await api.post(`/v1/payments/${payment.payment_id}/cancel`)
      const post = async () => briefOf(await authorise(api, payment))
      return [await post(), await post()]
    },
    specification: Array(2).fill('400 P1211'),
    'govuk-pay': ['500 P0198', '400 P1212'],
  },
  cardTypeUnknown: {
    async seen(api) {
      const numbers = ['4000000000000010', '5105105105105100', '4242424242424242']
      return Array.fromAsync(numbers, async card_number => {
        const payment = await motoPayment(api)
        await authorise(api, payment, { card_number })
        return (await read(api, payment)).card_details.card_type
      })
    },
    specification: ['credit', 'debit', 'credit'],
    'govuk-pay': [null, 'debit', 'credit'],
  },
} satisfies Record<string, Case>

export const searching = {
  refusedStates: {
    seen: async api => briefOf(await api.get('/v1/payments?state=capturable')),
    specification: '200',
    'govuk-pay': '422 P0401',
  },
  filtersByBrand: {
    async seen(api) {
      await api.createPayment()
      return (await api.get('/v1/payments?card_brand=visa')).body.total
    },
    specification: 0,
    'govuk-pay': 1,
  },
  findsFromDate: {
    async seen(api) {
      const { created_date } = await api.createPayment()
      const found = async (query: string) => (await api.get(`/v1/payments?${query}`)).body.total
      const earlier = new Date(Date.parse(created_date) - 1).toISOString()
      return [await found(`from_date=${created_date}`), await found(`from_date=${earlier}`)]
    },
    specification: [1, 1],
    'govuk-pay': [0, 1],
  },
  mostAgreements: {
    // Looks at the links of the pages, because a second has less than 21 POSTs.
    async seen(api) {
      const queries = ['', '?display_size=500', '?display_size=20', '?display_size=2']
      return Array.fromAsync(queries, async query => {
        const { href } = (await api.get(`/v1/agreements${query}`)).body._links.self
        return new URL(href).searchParams.get('display_size')
      })
    },
    specification: ['500', '500', '20', '2'],
    'govuk-pay': ['20', '20', '20', '2'],
  },
} satisfies Record<string, Case>
