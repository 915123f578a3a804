import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgreement } from '../../support/agreements.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { authorise, paidPayment } from '../../support/journeys.ts'
import {
  activeAgreement,
  agreementParts,
  bodyText,
  DETAILS,
  HEADER,
  motoParts,
  ofLength,
  type Parts,
  postPayment,
  type Row,
  rowsOf,
  webParts,
} from '../../support/new-payment.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { onOneDatabase } from '../../support/service.ts'

/**
 * Requests that are wrong in one thing, and what GOV.UK Pay answers, by its source and its own tests: where a difference
 * decides. What is answered as the specification says is in contract/payments, authorise, refunds and agreements.
 */
const NOBODY = JSON.stringify('0'.repeat(26))
const LINE = `${DETAILS}.billing_address.line1`
const LONG_URL = JSON.stringify('https://example.org/'.padEnd(2001, 'a'))

const webRows: Row[] = [
  ...rowsOf('amount', '400 P0102 amount', '2147483648', '-2147483649', '1e400'),
  ...rowsOf('amount', '422 P0102 amount', '10000001', '2147483647', '0', '-0'),
  ...rowsOf('amount', '201', '1', '10000000'),
  ...rowsOf('description', '400 P0102 description', '"a < b"'),
  ...rowsOf('return_url', '400 P0101', undefined, 'null', '""'),
  ...rowsOf('return_url', '422 P0102 return_url', LONG_URL),
  ...rowsOf('return_url', '422 P0102', '" "', '"x"', '"https://a.test"', '"https://a.com/../x"'),
  ...rowsOf('return_url', '201', '"http://a.com"', '"http://localhost:3000/back"'),
  ...rowsOf('set_up_agreement', '201', 'null', '1', '{}', '[]'),
  ...rowsOf('agreement_id', '400 P0104', NOBODY, 'null', '1'),
  ...rowsOf('agreement_payment_type', '400 P0104', '"recurring"', '"x"'),
  [{ agreement_payment_type: '"x"', set_up_agreement: NOBODY }, '422 P0102 agreement_payment_type'],
  [{ agreement_payment_type: '"unscheduled"', set_up_agreement: 'null' }, '400 P0104'],
  [{ agreement_payment_type: '"x"', set_up_agreement: '1' }, '422 P0102 agreement_payment_type'],
  ...rowsOf(LINE, '400 P0102 line1', '1'),
  ...rowsOf(LINE, '422 P0102 line1', ofLength(256)),
  ...rowsOf('metadata', '400 P0920', '{"a":"<"}', '{">":"a"}', '{"a":"\\u007c"}'),
  ...rowsOf('email', '400 P0920', '"a|b"'),
  ...rowsOf(HEADER, `422 P0102 ${HEADER}`, 'a b'),
  // Of two mistakes the first counts, in the order in which fields are read, and types before lengths.
  [{ return_url: undefined, amount: '0' }, '400 P0101'],
  [{ amount: '0', set_up_agreement: NOBODY }, '422 P0102 amount'],
  [{ return_url: '"https://a.test"', metadata: 'null' }, '422 P0102 metadata'],
]

const motoRows: Row[] = [
  ...rowsOf('return_url', '400 P0104', '"https://example.org"', '" "', '"x"'),
  ...rowsOf('return_url', '201', '""', 'null'),
  ...rowsOf('set_up_agreement', '400 P0104', NOBODY),
  ...rowsOf('agreement_payment_type', '400 P0104', '"recurring"'),
  [{ amount: '0' }, '422 P0102 amount'],
  [{ amount: '0', return_url: '"x"' }, '400 P0104'],
]

const agreementRows: Row[] = [
  [{ agreement_id: undefined }, '400 P0101'],
  ...rowsOf('agreement_id', '400 P0101 agreement_id', 'null', '""', '" "'),
  ...rowsOf('set_up_agreement', '400 P0104', NOBODY),
  ...rowsOf('moto', '400 P0104', 'true'),
  ...rowsOf('email', '400 P0104', '"a@example.org"'),
  ...rowsOf(LINE, '400 P0104', '"1 Street"'),
  ...rowsOf('return_url', '400 P0104', '"https://example.org"'),
  // The API passes set_up_agreement on as the agreement.
  [{ agreement_id: undefined, set_up_agreement: NOBODY }, '400 P0104'],
  [{ amount: '0', agreement_id: NOBODY }, '422 P0102 amount'],
  [{ amount: '0', moto: 'true' }, '400 P0104'],
]

/** Bodies that are not one JSON object, and what POST /v1/payments, a refund and POST /v1/agreements answer. */
const bodies = [
  ['[]', '400 P0101 amount', '400 P0601 amount', '400 P2101 reference'],
  ['{"amount":', '400 P0197', '400 P0697', '400 P2197'],
  ['abc', '500 500', '500 500', '500 500'],
  ['', '400 P0920', '400 P0920', '400 P0920'],
] as const

const refundRows: Row[] = [
  ...rowsOf('amount', '400 P0602 amount', '2147483648'),
  ...rowsOf('refund_amount_available', '412 P0604', '1', 'null', '"abc"', '{}', '"46.5"', '"5000"'),
  ...rowsOf('refund_amount_available', '202', '4650', '"4650"', '4650.9', '" 4650 "', '"4650.9"'),
  [{ refund_amount_available: '4650', amount: '5000' }, '400 P0603'],
]

type CardRow = [fields: Record<string, unknown>, expected: string]
const cards = (name: string, expected: string, ...values: unknown[]): CardRow[] =>
  values.map(value => [{ [name]: value }, expected])

/** Fields of POST /v1/auth. */
const cardRows: CardRow[] = [
  ...cards('cardholder_name', '422 P0101 cardholder_name', null, ' '),
  ...cards('cardholder_name', '422 P0102 cardholder_name', 1, 'n'.repeat(256)),
  ...cards('card_number', '422 P0102 card_number', '', '42424242424', '4'.repeat(20)),
  ...cards('card_number', '500 P0198', ' '.repeat(16)),
  ...cards('card_number', '422 P0102', '4242 4242 4242 42'),
  ...cards('cvc', '422 P0102 cvc', '12', '12345'),
  ...cards('cvc', '500 P0198', '   '),
  ...cards('cvc', '422 P0102', '12a'),
  ...cards('expiry_date', '422 P0102 expiry_date', '1/30', '01/2030'),
  ...cards('expiry_date', '500 P0198', '     '),
  ...cards('expiry_date', '422 P0102', '13/30', '00/30', '01-30', '08/26'),
  ...cards('expiry_date', '204', '09/26'),
  ...cards('cardholder_name', '400 P0920', 'a<b'),
  [{ cvc: '12a', card_number: '4242424242424241' }, '422 P0102'],
  ...cards('card_number', '402 P0010', '4242424242424241', '6759649826438453', '4000000000000127'),
  ...cards('card_number', '500 P0050', '4000000000000119', '5555555555554444'),
  ...cards('card_number', '204', '36148900647913'),
]

onOneDatabase(
  'The mistakes of requests under the behaviour govuk-pay',
  { control: true, env: { FARTHING_BEHAVIOUR: 'govuk-pay' } },
  service => {
    /** One account for each row: it may create 15 payments in the second at which the clock stands. */
    const account = () => service().newAccount('govuk-pay')

    async function check(rows: readonly Row[], post: (api: Client, parts: Parts) => Promise<Body>) {
      for (const [parts, expected] of rows)
        assert.equal(briefOf(await post(await account(), parts)), expected, bodyText(parts))
    }
    const posting = (given: Parts) => (api: Client, parts: Parts) =>
      postPayment(api, { ...given, ...parts })
    const send = (api: Client, path: string, text: string) =>
      api.request('POST', path, {
        headers: { 'Content-Type': 'application/json' },
        body: new TextEncoder().encode(text),
      })

    test('a web payment', () => check(webRows, posting(webParts)))

    test('a moto_api payment', () => check(motoRows, posting(motoParts)))

    test('a payment in agreement mode', () =>
      check(agreementRows, async (api, parts) =>
        postPayment(api, { ...agreementParts(await activeAgreement(api)), ...parts }),
      ))

    test('the agreement of a payment must be active', async () => {
      const api = await account()
      const { agreement_id } = await createAgreement(api)
      const answer = await postPayment(api, agreementParts(agreement_id))
      assert.equal(briefOf(answer), '400 P0102 agreement_id')
      assert.match(
        answer.body.description,
        /^Invalid attribute value: agreement_id\. Agreement must/,
      )
    })

    test('a body that is not one JSON object', async () => {
      for (const [text, ...expected] of bodies)
        for (const [i, path] of ['payments', 'payments/x/refunds', 'agreements'].entries())
          assert.equal(briefOf(await send(await account(), `/v1/${path}`, text)), expected[i], text)
    })

    test('a refund', () =>
      check(refundRows, async (api, parts) => {
        const { payment_id } = await paidPayment(api)
        await api.advance(5_000)
        return send(api, `/v1/payments/${payment_id}/refunds`, bodyText({ amount: '1', ...parts }))
      }))

    test('an agreement', async () => {
      const api = await account()
      const create = async (reference: string, user_identifier?: string) =>
        briefOf(await api.post('/v1/agreements', { reference, description: 'D', user_identifier }))
      assert.equal(await create('a | b'), '400 P2102 reference')
      assert.equal(await create('a', 'a<b'), '400 P0920')
    })

    test('a card', async () => {
      for (const [fields, expected] of cardRows) {
        const api = await account()
        const payment = await api.createPayment({ authorisation_mode: 'moto_api' })
        const answer = await authorise(api, payment, fields)
        assert.equal(briefOf(answer), expected, JSON.stringify(fields))
      }
    })

    test('a one_time_token', async () => {
      const api = await account()
      const moto = { authorisation_mode: 'moto_api' }
      const paid = await api.createPayment(moto)
      const cancelled = await api.createPayment(moto)
      await api.post(`/v1/payments/${cancelled.payment_id}/cancel`)
      const wrong = { card_number: '4242424242424241' }
      const seen: string[] = []
      for (const [payment, fields] of [
        [paid, { cvc: '12' }],
        [paid, {}],
        [paid, {}],
        [cancelled, wrong],
        [cancelled, {}],
        [paid, { one_time_token: 'x' }],
        [paid, { one_time_token: ' ' }],
      ])
        seen.push(briefOf(await authorise(api, payment, fields)))
      const before = ['422 P0102 cvc', '204', '400 P1212', '500 500', '400 P1212']
      assert.deepEqual(seen, [...before, '400 P1211', '422 P0101 one_time_token'])
    })

    test('a card as no JSON object, of no payment, is answered as the service behaves', async () => {
      const anonymous = createClient(service().baseUrls, undefined, 'govuk-pay')
      const seen: string[] = []
      for (const text of ['[]', '{', 'abc', ''])
        seen.push(briefOf(await send(anonymous, '/v1/auth', text)))
      assert.deepEqual(seen, ['500 500', '500 500', '500 500', '400 P0920'])
    })

    test('a chunked body without any bytes is no body', async () => {
      for (const path of ['/v1/payments', '/v1/auth']) {
        const head = [
          `POST ${path} HTTP/1.1`,
          `Authorization: Bearer ${(await account()).key}`,
          'Content-Type: application/json',
          'Transfer-Encoding: chunked',
        ]
        const answer = await sendRaw(service().baseUrl, head, '0\r\n\r\n')
        assert.equal(briefOf(answer), '400 P0920', path)
      }
    })

    test('a search by any state but capturable is taken', async () => {
      const api = await account()
      const states = 'created started submitted success failed cancelled error'
      for (const state of states.split(' '))
        assert.equal((await api.get(`/v1/payments?state=${state}`)).status, 200, state)
    })
  },
)
