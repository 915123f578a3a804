import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertError } from '../../support/assertions.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { authorise, card, DECLINED, read } from '../../support/journeys.ts'
import { onOneDatabase } from '../../support/service.ts'

const FIELDS = ['one_time_token', 'card_number', 'cardholder_name', 'cvc', 'expiry_date']
const ABSENT = undefined

type Fault = [fields: Record<string, unknown>, code: 'P0101' | 'P0102', field: string]

const wrong = (fields: string[], code: Fault[1], ...values: unknown[]): Fault[] =>
  fields.flatMap(field => values.map((value): Fault => [{ [field]: value }, code, field]))

const wrongTypes = wrong(FIELDS, 'P0102', 1, ['x'])
const missing = [
  ...wrong(FIELDS, 'P0101', ABSENT, null),
  ...wrong(['one_time_token', 'cardholder_name'], 'P0101', '', ' \t'),
]
const NUMBERS = ['', '42424242424', '4'.repeat(20), '4242 4242 4242 4242', '424242424242x']
const DATES = ['', '00/30', '13/30', '1/30', '12/2030', '12-30', '1230', '12/3 ']
const outsideLimits = [
  ...wrong(['card_number'], 'P0102', ...NUMBERS, '４242424242424242', '4242424242424242\n'),
  ...wrong(['cardholder_name'], 'P0102', 'x'.repeat(256), 'A\0B'),
  ...wrong(['one_time_token'], 'P0102', 'a\0b'),
  ...wrong(['cvc'], 'P0102', '', '12', '12345', 'abc', ' 123'),
  ...wrong(['expiry_date'], 'P0102', ...DATES),
]

/** Requests with several errors each. The named error comes first in the order of checks. */
const order: Fault[] = [
  [{ one_time_token: ABSENT, card_number: 'x', expiry_date: 5 }, 'P0102', 'expiry_date'],
  [Object.fromEntries(FIELDS.map(field => [field, 1])), 'P0102', 'one_time_token'],
  [{ card_number: 'x', expiry_date: null }, 'P0101', 'expiry_date'],
  [Object.fromEntries(FIELDS.map(field => [field, null])), 'P0101', 'one_time_token'],
  [{ one_time_token: 'unknown', expiry_date: '1/1' }, 'P0102', 'expiry_date'],
  [{ card_number: DECLINED, cvc: '1' }, 'P0102', 'cvc'],
  [
    { card_number: '1', cardholder_name: 'x'.repeat(256), cvc: '1', expiry_date: '1' },
    'P0102',
    'card_number',
  ],
]

onOneDatabase('Card authorisation: body', service => {
  let api: Client
  let payment: Body

  const asForm = (fields: Record<string, unknown>): Promise<Answer> => {
    const all = { ...payment._links.auth_url_post.params, ...card, ...fields }
    const given = Object.entries(all).filter(([, value]) => typeof value === 'string')
    return api.postForm('/v1/auth', Object.fromEntries(given) as Record<string, string>)
  }

  before(async () => {
    api = await service().newAccount()
    payment = await api.createPayment({ authorisation_mode: 'moto_api' })
  })

  test('POST /v1/auth returns 422 with the first field that has a wrong type, then that is missing, then that is outside its limits', async () => {
    for (const [fields, code, field] of [...wrongTypes, ...missing, ...outsideLimits, ...order])
      assertError(await authorise(api, payment, fields), 422, code, { field })
  })

  test('POST /v1/auth returns the same errors for a form, which cannot send null', async () => {
    const absent = missing.filter(([fields]) => !Object.values(fields).includes(null))
    for (const [fields, code, field] of [...absent, ...outsideLimits])
      assertError(await asForm(fields), 422, code, { field })
  })

  test('POST /v1/auth uses the last value of a repeated form field', async () => {
    const { one_time_token } = payment._links.auth_url_post.params
    const twice: [string, string][] = Object.entries({ one_time_token, ...card, cvc: 'last' })
    assertError(await api.postForm('/v1/auth', [['cvc', '123'], ...twice]), 422, 'P0102', {
      field: 'cvc',
    })
  })

  test('POST /v1/auth returns 400 P1211 for any text that is not a token', async () => {
    const token: string = payment._links.auth_url_post.params.one_time_token
    assert.match(token, /^[0-9a-v]{52}$/)
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    const wrong = [mistyped, token.slice(0, 26), `${token}0`, token.toUpperCase(), ` ${token}`]
    for (const one_time_token of [...wrong, 'x', '0'.repeat(52), '%00', 'é'.repeat(52)])
      assertError(await authorise(api, payment, { one_time_token }), 400, 'P1211')
  })

  test('a refused POST /v1/auth, also with the declined card number, leaves the payment unchanged and its token valid', async () => {
    assert.deepEqual(await read(api, payment), payment)
    assert.equal((await authorise(api, payment)).status, 204)
  })

  for (const [what, fields] of Object.entries({
    'the shortest number, name and code': { card_number: '1'.repeat(12), cardholder_name: 'x' },
    'the longest number, name and code': {
      card_number: '9'.repeat(19),
      cardholder_name: 'x'.repeat(255),
      cvc: '0000',
    },
    'a date in the past': { expiry_date: '01/00' },
    'unknown keys': { nonsense: { deep: [1] }, amount: 5 },
    'a name with non-ASCII characters': { cardholder_name: 'Ŵyn "O\'Neil" <b>|</b> 😀' },
    'a card that begins like the declined one': { card_number: `${DECLINED}0` },
    'a card that lacks the end of the declined one': { card_number: DECLINED.slice(0, -1) },
    'a card that ends unlike the declined one': { card_number: '4000000000000010' },
  }))
    test(`POST /v1/auth accepts ${what}, as JSON with the key of another account and as a form`, async () => {
      const other = await service().newAccount()
      for (const send of [(p: Body) => authorise(other, p, fields), () => asForm(fields)]) {
        payment = await api.createPayment({ authorisation_mode: 'moto_api' })
        const answer = await send(payment)
        assert.equal(answer.status, 204, answer.text)
        assert.equal(answer.text, '')
      }
    })
})
