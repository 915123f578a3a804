import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  DETAILS,
  HEADER,
  motoParts,
  ofLength,
  type Parts,
  webParts,
} from '../../support/new-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'

const url = (length: number) =>
  ofLength(length - 'https://a.org/'.length).replace('"', '"https://a.org/')
const ADDRESS = `${DETAILS}.billing_address`

/** Field, the largest value it takes, the smallest that is too large, and which field is at fault. */
const lengths: [path: string, most: string, tooMuch: string, field: string][] = [
  ['amount', '10000000', '10000001', 'amount'],
  ['reference', ofLength(255), ofLength(256), 'reference'],
  ['description', ofLength(255), ofLength(256), 'description'],
  ['email', ofLength(254), ofLength(255), 'email'],
  ['return_url', url(2000), url(2001), 'return_url'],
  [`${DETAILS}.cardholder_name`, ofLength(255), ofLength(256), 'cardholder_name'],
  [`${ADDRESS}.line1`, ofLength(255), ofLength(256), 'line1'],
  [`${ADDRESS}.line2`, ofLength(255), ofLength(256), 'line2'],
  [`${ADDRESS}.city`, ofLength(255), ofLength(256), 'city'],
  [`${ADDRESS}.postcode`, ofLength(25), ofLength(26), 'postcode'],
]

/** A map of so many pairs, as JSON. */
const pairs = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, i])))

onEveryDatabase('A limit of POST /v1/payments', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const answers = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...webParts, ...parts }, expected)

  for (const [path, most, tooMuch, field] of lengths)
    test(`${field} is accepted at its limit and refused beyond it`, async () => {
      await answers({ [path]: most }, '201')
      await answers({ [path]: tooMuch }, `422 P0102 ${field}`)
    })

  test('amount is at least 0', async () => {
    await answers({ amount: '0' }, '201')
    await answers({ amount: '-1' }, '422 P0102 amount')
  })

  test('amount is refused by its range however large it is', async () => {
    for (const amount of ['1e9', '9007199254740993', '1e400', '-1e400', `1${'0'.repeat(400)}`])
      await answers({ amount }, '422 P0102 amount')
  })

  test('lengths count UTF-16 code units', async () => {
    await answers({ reference: ofLength(127, '😀') }, '201')
    await answers({ reference: ofLength(128, '😀') }, '422 P0102 reference')
    await answers({ reference: ofLength(255, 'é') }, '201')
  })

  test('blank text of any length is as if it were not given', async () => {
    const blank = ofLength(3000, ' ')
    await answers({ email: blank, [`${DETAILS}.cardholder_name`]: blank }, '201')
    await answers({ [`${ADDRESS}.postcode`]: blank, [`${ADDRESS}.line1`]: blank }, '201')
    await answers({ return_url: blank }, '400 P0101 return_url')
    await assertAnswer(api, { ...motoParts, return_url: blank }, '201')
  })

  test('set_up_agreement and agreement_id have exactly 26 characters', async () => {
    for (const length of [1, 25, 27, 300]) {
      await answers({ set_up_agreement: ofLength(length) }, '422 P0102 set_up_agreement')
      const parts = { ...agreementParts(''), agreement_id: ofLength(length) }
      await assertAnswer(api, parts, '422 P0102 agreement_id')
    }
    await answers({ set_up_agreement: ofLength(26) }, '400 P0103 set_up_agreement')
    await assertAnswer(api, agreementParts('x'.repeat(26)), '400 P0102 agreement_id')
  })

  test('country is kept when it is two letters, and dropped otherwise, without an error', async () => {
    for (const [country, kept] of [
      ['GB', true],
      ['gb', true],
      ['ZZ', true],
      ['GBR', false],
      ['G', false],
      ['G1', false],
      ['ÅÄ', false],
      ['x'.repeat(1000), false],
    ] as const) {
      const parts = { [`${ADDRESS}.country`]: JSON.stringify(country), [`${ADDRESS}.city`]: '"A"' }
      const { body } = await answers(parts, '201')
      const address = { city: 'A', ...(kept && { country }) }
      assert.deepEqual(body.card_details.billing_address, address)
    }
  })

  describe('of metadata', () => {
    const accepted: [sentence: string, value: string][] = [
      ['no pair', '{}'],
      ['15 pairs', pairs(15)],
      ['a key of 30 characters', `{${ofLength(30)}:1}`],
      ['a value of 100 characters', `{"a":${ofLength(100)}}`],
      ['an empty value, a blank one and a blank key', '{"a":"","b":" "," ":1}'],
      ['strings, numbers and booleans', '{"a":"b","c":1.5,"d":-3,"e":true,"f":false,"g":1e21}'],
      ['keys that an object has anyway', '{"constructor":1,"toString":"b","hasOwnProperty":true}'],
      ['equal keys, of which the last counts', '{"a":null,"a":1}'],
      ['any characters', '{"<a|b>":"<script>","é":"\\ud83d\\ude00\\n"}'],
    ]
    for (const [sentence, metadata] of accepted)
      test(`${sentence}: accepted, and read back as sent`, async () => {
        const { body } = await answers({ metadata }, '201')
        assert.deepEqual(body.metadata, JSON.parse(metadata))
        const read = await api.get(`/v1/payments/${body.payment_id}`)
        assert.deepEqual(read.body.metadata, JSON.parse(metadata))
      })

    const refused: [sentence: string, value: string][] = [
      ['16 pairs', pairs(16)],
      ['an empty key', '{"":1}'],
      ['a key of 31 characters', `{${ofLength(31)}:1}`],
      ['keys that differ only in case', '{"Plan":1,"plan":2}'],
      ['keys that differ only in the form of a sigma', '{"ΑΣ":1,"ασ":2}'],
      ['keys that differ only in the case of letters beyond ASCII', '{"É":1,"é":2}'],
      ['null as a value', '{"a":null}'],
      ['an object as a value', '{"a":{}}'],
      ['an array as a value', '{"a":["b"]}'],
      ['a value of 101 characters', `{"a":${ofLength(101)}}`],
      ['a number that JSON cannot give back', '{"a":1e400}'],
      ['U+0000 in a key', '{"a\\u0000":1}'],
      ['U+0000 in a value', '{"a":"\\u0000"}'],
      ['half of a surrogate pair in a key', '{"\\ud800":1}'],
      ['half of a surrogate pair in a value', '{"a":"\\udc00\\ud800"}'],
    ]
    for (const [sentence, metadata] of refused)
      test(`${sentence}: 422 P0102 metadata`, async () => {
        await answers({ metadata }, '422 P0102 metadata')
      })
  })

  describe('on letters', () => {
    const fields: [path: string, field: string][] = [
      ...(['reference', 'description', 'email', 'return_url'].map(name => [name, name]) as [
        string,
        string,
      ][]),
      ...['cardholder_name', 'billing_address.line1', 'billing_address.line2']
        .concat('billing_address.city', 'billing_address.postcode', 'billing_address.country')
        .map((name): [string, string] => [`${DETAILS}.${name}`, DETAILS]),
    ]
    for (const [path, field] of fields)
      test(`${path} holds no U+0000 and no half of a surrogate pair`, async () => {
        for (const text of ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"a\\udc00"', '"\\ud83da"'])
          await answers({ [path]: text }, `422 P0102 ${field}`)
      })

    test('set_up_agreement and agreement_id hold no U+0000', async () => {
      const text = `"${'a'.repeat(25)}\\u0000"`
      await answers({ set_up_agreement: text }, '422 P0102 set_up_agreement')
      const parts = { ...agreementParts(''), agreement_id: text }
      await assertAnswer(api, parts, '422 P0102 agreement_id')
    })

    test('a whole surrogate pair is one character like any other', async () => {
      const { body } = await answers({ reference: '"\\ud83d\\ude00"' }, '201')
      assert.equal(body.reference, '😀')
    })

    test('what nobody reads may hold anything', async () => {
      const parts = { note: '"\\u0000"', [`${DETAILS}.note`]: '"\\ud800"' }
      await answers(parts, '201')
    })
  })

  describe('of the header Idempotency-Key', () => {
    test('1 to 255 letters, digits and hyphens', async () => {
      for (const key of ['a', '-', '0', 'x'.repeat(255), crypto.randomUUID(), 'Ab-9'])
        await answers({ [HEADER]: key }, '201')
    })

    test('anything else is 422 P0102 with the header and no field', async () => {
      for (const key of ['', 'x'.repeat(256), 'a b', 'a_b', 'a.b', 'a,b', 'é', '"a"'])
        await answers({ [HEADER]: key }, `422 P0102 ${HEADER}`)
    })
  })
})

onEveryDatabase('In agreement mode, POST /v1/payments', service => {
  test('looks at agreement_id for its length before it looks for the agreement', async () => {
    const api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    await assertAnswer(api, agreementParts(agreement_id), '201')
    await assertAnswer(api, agreementParts(`${agreement_id}0`), '422 P0102 agreement_id')
    await assertAnswer(api, agreementParts(agreement_id.toUpperCase()), '400 P0102 agreement_id')
  })
})
