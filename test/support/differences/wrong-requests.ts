/** Requests with one mistake, and the answers of GOV.UK Pay to them, by its source and its own tests. */
import { card } from '../journeys.ts'
import { DETAILS, HEADER, ofLength, type Parts, type Row, rowsOf } from '../new-payment.ts'

/** Wrong values of a required text. */
const wrongText = (name: string, code = 'P010'): Row[] => [
  ...rowsOf(name, `400 ${code}1 ${name}`, undefined, 'null', '""', '"  "'),
  ...rowsOf(name, `400 ${code}2 ${name}`, '1', 'true', '{"a":1}', '[]'),
  ...rowsOf(name, `400 ${code}2 ${name}`, '"a < b"', '"a > b"', '"a | b"'),
  ...rowsOf(name, `422 P0102 ${name}`, ofLength(256)),
  ...rowsOf(name, '201', ofLength(255)),
]

const NOBODY = JSON.stringify('0'.repeat(26))
const ADDRESS = `${DETAILS}.billing_address`
const longUrl = (length: number) => JSON.stringify('https://example.org/'.padEnd(length, 'a'))

export const webRows: Row[] = [
  ...rowsOf('amount', '400 P0101 amount', undefined, 'null'),
  ...rowsOf('amount', '400 P0102 amount', '""', '"100"', '1.5', '1.0', '1e2', 'true', '{}'),
  ...rowsOf('amount', '400 P0102 amount', '2147483648', '-2147483649', '1e400'),
  ...rowsOf('amount', '422 P0102 amount', '-1', '10000001', '2147483647', '0', '-0'),
  ...rowsOf('amount', '201', '1', '10000000'),
  ...wrongText('reference'),
  ...wrongText('description'),
  ...rowsOf('return_url', '400 P0102 return_url', '1', 'true', '{}', '[]'),
  ...rowsOf('return_url', '400 P0101', undefined, 'null', '""'),
  ...rowsOf('return_url', '422 P0102 return_url', longUrl(2001)),
  ...rowsOf('return_url', '201', longUrl(2000)),
  ...rowsOf('return_url', '422 P0102', '" "', '"x"', '"https://a.test"', '"https://a.com/../x"'),
  ...rowsOf('return_url', '201', '"http://a.com"', '"http://localhost:3000/back"'),
  ...rowsOf('moto', '400 P0102 moto', 'null', '"true"', '1'),
  ...rowsOf('moto', '201', 'true', 'false'),
  ...rowsOf('set_up_agreement', '201', 'null', '1', '{}', '[]'),
  ...rowsOf('set_up_agreement', '422 P0102 set_up_agreement', '""', '"abc"', ofLength(27)),
  ...rowsOf('set_up_agreement', '400 P0102 agreement_id', NOBODY),
  ...rowsOf('authorisation_mode', '400 P0102 authorisation_mode', 'null', '""', '" "', '1'),
  ...rowsOf('authorisation_mode', '422 P0102 authorisation_mode', '"external"', '"WEB"', '"x"'),
  ...rowsOf('agreement_id', '400 P0104', NOBODY, 'null', '1'),
  ...rowsOf('agreement_payment_type', '400 P0102 agreement_payment_type', 'null', '""', '1'),
  ...rowsOf('agreement_payment_type', '400 P0104', '"recurring"', '"x"'),
  [{ agreement_payment_type: '"x"', set_up_agreement: NOBODY }, '422 P0102 agreement_payment_type'],
  [{ agreement_payment_type: '"unscheduled"', set_up_agreement: 'null' }, '400 P0104'],
  [{ agreement_payment_type: '"x"', set_up_agreement: '1' }, '422 P0102 agreement_payment_type'],
  ...rowsOf('language', '400 P0102 language', 'null', '""', '1'),
  ...rowsOf('language', '422 P0102 language', '"fr"', '"EN"'),
  ...rowsOf('delayed_capture', '400 P0102 delayed_capture', 'null', '"true"', '1'),
  ...rowsOf('email', '400 P0102 email', '1', '{}'),
  ...rowsOf('email', '422 P0102 email', ofLength(255)),
  ...rowsOf('email', '201', 'null', '""', '"not an address"'),
  ...rowsOf(`${DETAILS}.cardholder_name`, '400 P0102 cardholder_name', '1', '{}'),
  ...rowsOf(`${DETAILS}.cardholder_name`, '422 P0102 cardholder_name', ofLength(256)),
  ...['line1', 'line2', 'city', 'postcode', 'country'].flatMap(name =>
    rowsOf(`${ADDRESS}.${name}`, `400 P0102 ${name}`, '1'),
  ),
  ...rowsOf(`${ADDRESS}.line1`, '422 P0102 line1', ofLength(256)),
  ...rowsOf(`${ADDRESS}.postcode`, '422 P0102 postcode', ofLength(26)),
  ...rowsOf(`${ADDRESS}.country`, '201', '"Atlantis"'),
  ...rowsOf(DETAILS, '201', '1', '"x"', '{}'),
  ...rowsOf('metadata', '422 P0102 metadata', 'null', '1', '"x"', '[]', '{"":"x"}', '{"a":null}'),
  ...rowsOf('metadata', '422 P0102 metadata', '{"a":{}}', '{"a":[]}', '{"a":"1","A":"2"}'),
  ...rowsOf('metadata', '422 P0102 metadata', `{"a":${ofLength(101)}}`, `{${ofLength(31)}:"x"}`),
  ...rowsOf('metadata', '201', '{}', '{"a":1,"b":true,"c":"x"}'),
  ...rowsOf('metadata', '201', `{${ofLength(30)}:${ofLength(100)}}`),
  ...rowsOf('metadata', '400 P0920', '{"a":"<"}', '{">":"a"}', '{"a":"\\u007c"}'),
  ...rowsOf('email', '400 P0920', '"a|b"'),
  // Of two mistakes the first counts: types before lengths, then fields in the order in which they are read.
  [{ amount: '"1"', reference: undefined }, '400 P0102 amount'],
  [{ reference: ofLength(256), email: '1' }, '400 P0102 email'],
  [{ return_url: undefined, amount: '0' }, '400 P0101'],
  [{ amount: '0', set_up_agreement: NOBODY }, '422 P0102 amount'],
  [{ return_url: '"https://a.test"', metadata: 'null' }, '422 P0102 metadata'],
]

export const keyRows: Row[] = [
  ...rowsOf(HEADER, `422 P0102 ${HEADER}`, '', 'a b', 'a_b', 'k'.repeat(256)),
  ...rowsOf(HEADER, '201', 'k'.repeat(255)),
  [{ [HEADER]: 'a b', return_url: undefined }, `422 P0102 ${HEADER}`],
  [{ [HEADER]: 'a b', amount: undefined }, '400 P0101 amount'],
]

export const motoRows: Row[] = [
  [{}, '201'],
  ...rowsOf('return_url', '400 P0104', '"https://example.org"', '" "', '"x"'),
  ...rowsOf('return_url', '201', '""', 'null'),
  ...rowsOf('set_up_agreement', '400 P0104', NOBODY),
  ...rowsOf('agreement_payment_type', '400 P0104', '"recurring"'),
  [{ amount: '0' }, '422 P0102 amount'],
  [{ amount: '0', return_url: '"x"' }, '400 P0104'],
]

export const agreementRows: Row[] = [
  [{ agreement_id: undefined }, '400 P0101'],
  ...rowsOf('agreement_id', '400 P0101 agreement_id', 'null', '""', '" "'),
  ...rowsOf('agreement_id', '400 P0102 agreement_id', '1', NOBODY),
  ...rowsOf('agreement_id', '422 P0102 agreement_id', '"abc"', ofLength(27)),
  ...rowsOf('set_up_agreement', '400 P0104', NOBODY),
  ...rowsOf('moto', '400 P0104', 'true'),
  ...rowsOf('email', '400 P0104', '"a@example.org"'),
  ...rowsOf(`${ADDRESS}.line1`, '400 P0104', '"1 Street"'),
  ...rowsOf('return_url', '400 P0104', '"https://example.org"'),
  ...rowsOf('agreement_payment_type', '422 P0102 agreement_payment_type', '"x"'),
  // The API passes set_up_agreement on as the agreement.
  [{ agreement_id: undefined, set_up_agreement: NOBODY }, '400 P0104'],
  [{ amount: '0', agreement_id: NOBODY }, '422 P0102 amount'],
  [{ amount: '0', moto: 'true' }, '400 P0104'],
  ...rowsOf('email', '201', '""', 'null'),
  ...rowsOf('agreement_payment_type', '201', '"instalment"'),
]

/** Bodies that are not one JSON object, with the answers of POST /v1/payments, a refund and POST /v1/agreements. */
export const bodies = [
  ['[]', '400 P0101 amount', '400 P0601 amount', '400 P2101 reference'],
  ['"x"', '400 P0101 amount', '400 P0601 amount', '400 P2101 reference'],
  ['1', '400 P0101 amount', '400 P0601 amount', '400 P2101 reference'],
  ['{"amount":', '400 P0197', '400 P0697', '400 P2197'],
  ['{"amount":0x1}', '400 P0197', '400 P0697', '400 P2197'],
  ['{"amount": %00}', '400 P0197', '400 P0697', '400 P2197'],
  ['abc', '500 500', '500 500', '500 500'],
  ['', '400 P0920', '400 P0920', '400 P0920'],
] as const

export const refundRows: Row[] = [
  ...rowsOf('amount', '400 P0601 amount', undefined, 'null'),
  ...rowsOf('amount', '400 P0602 amount', '"1"', '""', '1.5', '1.0', '{"a":1}', '2147483648'),
  ...rowsOf('amount', '422 P0602 amount', '0', '-1', '10000001'),
  ...rowsOf('amount', '400 P0603', '5000'),
  ...rowsOf('refund_amount_available', '412 P0604', '1', 'null', '"abc"', '{}', '"46.5"', '"5000"'),
  ...rowsOf('refund_amount_available', '202', '4650', '"4650"', '4650.9', '" 4650 "', '"4650.9"'),
  [{ refund_amount_available: '4650', amount: '5000' }, '400 P0603'],
]

export const agreementFields: Parts = { reference: '"PLAN-8"', description: '"Monthly plan"' }
export const newAgreementRows: Row[] = [
  ...wrongText('reference', 'P210'),
  ...wrongText('description', 'P210'),
  ...rowsOf('user_identifier', '400 P2102 user_identifier', '1', '{}'),
  ...rowsOf('user_identifier', '422 P0102 user_identifier', '""', ofLength(256)),
  ...rowsOf('user_identifier', '201', 'null', '"u"'),
  ...rowsOf('user_identifier', '400 P0920', '"a<b"'),
  [{ reference: undefined, description: '1' }, '400 P2101 reference'],
]

type CardRow = [fields: Record<string, unknown>, expected: string]
const cards = (name: string, expected: string, ...values: unknown[]): CardRow[] =>
  values.map(value => [{ [name]: value }, expected])

/** Fields of POST /v1/auth. */
export const cardRows: CardRow[] = [
  ...Object.keys(card).flatMap(name => [
    ...cards(name, `422 P0101 ${name}`, undefined, null),
    ...cards(name, `422 P0102 ${name}`, 1, true, {}, []),
  ]),
  ...cards('cardholder_name', '422 P0101 cardholder_name', '', ' '),
  ...cards('cardholder_name', '422 P0102 cardholder_name', 'n'.repeat(256)),
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

const paths = (expected: string, ...wanted: string[]): [path: string, expected: string][] =>
  wanted.map(path => [path, expected])
const payments = (expected: string, ...queries: string[]) =>
  paths(expected, ...queries.map(query => `payments?${query}`))
const STATES = ['created', 'started', 'submitted', 'success', 'failed', 'cancelled', 'error', '']

export const searches = [
  ...payments('422 P0401', 'state=capturable', 'state=x', 'state=SUCCESS', 'from_date=2026'),
  ...payments('422 P0401', 'to_date=x', 'from_settled_date=2026-13-01'),
  ...payments('200', ...STATES.map(state => `state=${state}`)),
  ...payments('422 P0401', `card_brand=${'b'.repeat(21)}`, `reference=${'r'.repeat(256)}`),
  ...payments('422 P0401', `email=${'e'.repeat(255)}`, 'first_digits_card_number=12345'),
  ...payments('422 P0401', 'last_digits_card_number=x', 'last_digits_card_number=04242'),
  ...payments('422 P0401', 'page=0', 'page=2147483648', 'display_size=501'),
  ...payments('400 P0920', 'reference=a%7Cb'),
  ...paths('422 P2401', 'agreements?status=x', 'agreements?page=x'),
  ...paths('200', 'agreements?unknown=x'),
  ...paths('422 P1101', 'refunds?from_date=x', 'refunds?display_size=0'),
  ...paths('422 P0401', 'disputes?status=x'),
  ...paths('404 P0200', 'payments/x'),
  ...paths('404 P0300', 'payments/x/events'),
  ...paths('404 P0800', 'payments/x/refunds'),
  ...paths('404 P0700', 'payments/x/refunds/y'),
  ...paths('404 P2200', 'agreements/x'),
  ...paths('404 404', 'nothing'),
  ...paths('405 405', 'auth', 'payments/x/cancel'),
]

export const posts = [
  ...paths('404 P0500', 'payments/x/cancel'),
  ...paths('404 P1000', 'payments/x/capture'),
  ...paths('404 P2500', 'agreements/x/cancel'),
]
