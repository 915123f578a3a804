import assert from 'node:assert/strict'
import { before, test } from 'node:test'
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
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const url = (length: number) =>
  ofLength(length - 'https://a.org/'.length).replace('"', '"https://a.org/')
const ADDRESS = `${DETAILS}.billing_address`

/** The path of a field, its largest valid value, the smallest value above the limit, and the field that the error names. */
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

/** Metadata with `count` keys, as JSON. */
const pairs = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, i])))

onOneDatabase('Payments: limits of POST /v1/payments', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })
  const expectAnswer = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...webParts, ...parts }, expected)

  test('each field is accepted at its limit and refused one beyond it', async () => {
    for (const [path, most, tooMuch, field] of lengths) {
      await expectAnswer({ [path]: most }, '201')
      await expectAnswer({ [path]: tooMuch }, `422 P0102 ${field}`)
    }
  })

  test('amount may be 0 and not negative', async () => {
    await expectAnswer({ amount: '0' }, '201')
    await expectAnswer({ amount: '-1' }, '422 P0102 amount')
  })

  test('an amount out of range returns 422 P0102 however large it is', async () => {
    for (const amount of ['9007199254740993', `1${'0'.repeat(400)}`, `-1${'0'.repeat(400)}`])
      await expectAnswer({ amount }, '422 P0102 amount')
  })

  test('lengths of texts are counted in UTF-16 code units', async () => {
    await expectAnswer({ reference: ofLength(127, '😀') }, '201')
    await expectAnswer({ reference: ofLength(128, '😀') }, '422 P0102 reference')
    await expectAnswer({ reference: ofLength(255, 'é') }, '201')
  })

  test('blank text of any length counts as absent', async () => {
    const blank = ofLength(3000, ' ')
    await expectAnswer({ email: blank, [`${DETAILS}.cardholder_name`]: blank }, '201')
    await expectAnswer({ [`${ADDRESS}.postcode`]: blank, [`${ADDRESS}.line1`]: blank }, '201')
    await expectAnswer({ return_url: blank }, '400 P0101 return_url')
    await assertAnswer(api, { ...motoParts, return_url: blank }, '201')
  })

  test('set_up_agreement and agreement_id must have exactly 26 characters', async () => {
    for (const length of [25, 27]) {
      await expectAnswer({ set_up_agreement: ofLength(length) }, '422 P0102 set_up_agreement')
      const parts = { ...agreementParts(''), agreement_id: ofLength(length) }
      await assertAnswer(api, parts, '422 P0102 agreement_id')
    }
    await expectAnswer({ set_up_agreement: ofLength(26) }, '400 P0103 set_up_agreement')
    await assertAnswer(api, agreementParts('x'.repeat(26)), '400 P0102 agreement_id')
  })

  test('a country of two letters is kept and any other country is dropped without an error', async () => {
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
      const { body } = await expectAnswer(parts, '201')
      const address = { city: 'A', ...(kept && { country }) }
      assert.deepEqual(body.card_details.billing_address, address)
    }
  })

  const refused: [sentence: string, value: string][] = [
    ['16 keys', pairs(16)],
    ['an empty key', '{"":1}'],
    ['a key of 31 characters', `{${ofLength(31)}:1}`],
    ['keys that differ only in case', '{"Plan":1,"plan":2}'],
    ['keys that differ only in the form of a sigma', '{"ΑΣ":1,"ασ":2}'],
    ['null as a value', '{"a":null}'],
    ['an object as a value', '{"a":{}}'],
    ['an array as a value', '{"a":["b"]}'],
    ['a value of 101 characters', `{"a":${ofLength(101)}}`],
    ['a number that is infinite in JavaScript', '{"a":1e400}'],
    ['U+0000 in a key', '{"a\\u0000":1}'],
    ['U+0000 in a value', '{"a":"\\u0000"}'],
    ['an unpaired surrogate in a key', '{"\\ud800":1}'],
    ['an unpaired surrogate in a value', '{"a":"\\udc00\\ud800"}'],
  ]
  for (const [sentence, metadata] of refused)
    test(`metadata with ${sentence} returns 422 P0102`, async () => {
      await expectAnswer({ metadata }, '422 P0102 metadata')
    })

  // contract/described-requests.test.ts tries every field.
  test('a text must not contain U+0000 or an unpaired surrogate', async () => {
    for (const text of ['"a\\u0000b"', '"\\ud800"', '"a\\udc00"']) {
      await expectAnswer({ reference: text }, '422 P0102 reference')
      await expectAnswer({ [`${ADDRESS}.country`]: text }, `422 P0102 ${DETAILS}`)
    }
  })

  test('set_up_agreement and agreement_id must not contain U+0000', async () => {
    const text = `"${'a'.repeat(25)}\\u0000"`
    await expectAnswer({ set_up_agreement: text }, '422 P0102 set_up_agreement')
    const parts = { ...agreementParts(''), agreement_id: text }
    await assertAnswer(api, parts, '422 P0102 agreement_id')
  })

  test('unknown fields may contain any character', async () => {
    const parts = { note: '"\\u0000"', [`${DETAILS}.note`]: '"\\ud800"' }
    await expectAnswer(parts, '201')
  })

  test('an idempotency key of 1 to 255 letters, digits and hyphens is accepted', async () => {
    for (const key of ['a', '-', '0', 'x'.repeat(255), crypto.randomUUID(), 'Ab-9'])
      await expectAnswer({ [HEADER]: key }, '201')
  })

  test('any other idempotency key returns 422 P0102 with the header and no field', async () => {
    for (const key of ['', 'x'.repeat(256), 'a b', 'a_b', 'a.b', 'a,b', 'é', '"a"'])
      await expectAnswer({ [HEADER]: key }, `422 P0102 ${HEADER}`)
  })
  test('the length of agreement_id is checked before the agreement is looked up', async () => {
    const agreement_id = await activeAgreement(api)
    await assertAnswer(api, agreementParts(agreement_id), '201')
    await assertAnswer(api, agreementParts(`${agreement_id}0`), '422 P0102 agreement_id')
    await assertAnswer(api, agreementParts(agreement_id.toUpperCase()), '400 P0102 agreement_id')
  })
})

onSharedDatabases('Payments: metadata', service => {
  const accepted: Record<string, string> = {
    'no keys': '{}',
    '15 keys': pairs(15),
    'a key of 30 characters': `{${ofLength(30)}:1}`,
    'a value of 100 characters': `{"a":${ofLength(100)}}`,
    'an empty value, a blank value and a blank key': '{"a":"","b":" "," ":1}',
    'strings, numbers and booleans': '{"a":"b","c":1.5,"d":-3,"e":true,"f":false,"g":1e21}',
    'keys that every JavaScript object inherits':
      '{"constructor":1,"toString":"b","hasOwnProperty":true}',
    'equal keys, of which the last is used': '{"a":null,"a":1}',
    'any characters': '{"<a|b>":"<script>","é":"\\ud83d\\ude00\\n"}',
  }
  test('metadata within its limits is accepted and returned as sent', async () => {
    const api = await service().newAccount()
    for (const [sentence, metadata] of Object.entries(accepted)) {
      const { body } = await assertAnswer(api, { ...webParts, metadata }, '201')
      assert.deepEqual(body.metadata, JSON.parse(metadata), sentence)
      const read = await api.get(`/v1/payments/${body.payment_id}`)
      assert.deepEqual(read.body.metadata, JSON.parse(metadata), sentence)
    }
  })

  test('values at their limits and beyond ASCII are kept', async () => {
    const api = await service().newAccount()
    for (const parts of [
      Object.fromEntries(lengths.map(([path, most]) => [path, most])),
      { reference: ofLength(255, 'é'), return_url: '"https://é.example.org/tâl?ŵ=😀"' },
    ]) {
      const { body } = await assertAnswer(api, { ...webParts, ...parts }, '201')
      const read = await api.get(`/v1/payments/${body.payment_id}`)
      assert.deepEqual(read.body, body)
      const { cardholder_name, billing_address } = read.body.card_details ?? {}
      const found = { ...read.body, ...billing_address, cardholder_name }
      for (const [path, value] of Object.entries(parts)) {
        const name = path.split('.').at(-1) ?? path
        assert.equal(found[name], JSON.parse(value), path)
      }
    }
  })
})
