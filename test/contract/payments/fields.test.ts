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
  newAgreement,
  ofLength,
  type Parts,
  webParts,
} from '../../support/new-payment.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const ABSENT = undefined
const UNKNOWN = '06g5petm8gpatdosqb0u8c1mv7'
const ADDRESS = `${DETAILS}.billing_address`
const BLANKS = ['""', '" "', '"\\t\\r\\n\\u00a0\\u2003"', ofLength(3000, ' ')]
const NO_STRING = ['5', 'true', '["a"]', '{}']
const SPACES = ['a b', '\t', '\r\nSet-Cookie:a', '\n', '\u00a0', '\u2028', '\u0001', '\u007f']
const NO_OBJECT = ['"a"', '5', '[{}]', '""']

const texts = (...values: string[]) => values.map(value => JSON.stringify(value))

const pairs = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, i])))

/** Each of these fields with each value, as JSON, gets "201", or a status and a code, with the name of the field. */
type Rule = [paths: string, answer: string, ...values: (string | undefined)[]]

/** The rules of a web payment. order.test.ts has the other wrong types. */
const web: Record<string, Rule[]> = {
  'amount, reference, description and return_url are required, and blank text counts as absent': [
    ['amount', '400 P0101', ABSENT, 'null'],
    ['reference description return_url', '400 P0101', ABSENT, 'null', ...BLANKS],
  ],
  'amount is an integer that is written as one, from 0 to 10,000,000': [
    ['amount', '400 P0102', '10.5', '-0.5', '"10"', '""', 'true', '[10]', '{}'],
    ['amount', '400 P0102', '1.0', '1e2', '100E-2', '-0.0', '0e5', '1e400'],
    ['amount', '201', '0', '10000000'],
    ['amount', '422 P0102', '-1', '10000001', '9007199254740993'],
    ['amount', '422 P0102', `1${'0'.repeat(400)}`, `-1${'0'.repeat(400)}`],
  ],
  'reference and description are strings without < > |': [
    ['reference description', '400 P0102', ...NO_STRING, '"<"', '"a>b"', '"|"', '"\\u003c"'],
    ['reference', '400 P0102', ofLength(256, '|')],
  ],
  'the optional fields may be absent': [
    ['moto delayed_capture', '201', ABSENT, 'true', 'false'],
    ['set_up_agreement', '201', ABSENT, 'null'],
    ['authorisation_mode', '201', ABSENT, '"web"'],
    ['language', '201', ABSENT, '"en"', '"cy"'],
    ['metadata', '201', ABSENT, '{}', '{"a":1}'],
  ],
  'email is not checked for its format, and a blank one counts as absent': [
    ['email', '201', ABSENT, 'null', ...BLANKS, '"a@example.org"', '"no address"', '"<>|"'],
  ],
  'prefilled details and their address count as absent if they are no objects, and their texts if they are blank':
    [
      [`${DETAILS} ${ADDRESS}`, '201', ABSENT, 'null', '{}', ...NO_OBJECT],
      [`${DETAILS}.cardholder_name`, '201', ABSENT, 'null', ...BLANKS, '"a"'],
      [`${ADDRESS}.line1 ${ADDRESS}.line2`, '201', ABSENT, 'null', ...BLANKS, '"a"'],
      [`${ADDRESS}.city ${ADDRESS}.postcode`, '201', ABSENT, 'null', ...BLANKS, '"a"'],
      [`${ADDRESS}.country`, '201', ABSENT, 'null', ...BLANKS, '"a"'],
    ],
  'moto and delayed_capture are booleans': [
    ['moto delayed_capture', '400 P0102', 'null', '"true"', '0', '[]'],
  ],
  'authorisation_mode, language and agreement_payment_type are strings that are not blank': [
    ['authorisation_mode language', '400 P0102', 'null', ...BLANKS, ...NO_STRING],
    ['agreement_payment_type', '400 P0102', 'null', ...BLANKS, ...NO_STRING],
  ],
  'authorisation_mode is one of three values, and language exactly en or cy': [
    ['authorisation_mode', '422 P0102', '"external"', '"Web"', '"web "', '"moto"', '"constructor"'],
    ['language', '422 P0102', '"EN"', '"fr"', '"en-GB"', '" en"', '"cy\\u0000"'],
  ],
  'set_up_agreement has exactly 26 characters': [
    ['set_up_agreement', '422 P0102', ...BLANKS, ofLength(25), ofLength(27)],
    ['set_up_agreement', '422 P0102', `"${'a'.repeat(25)}\\u0000"`],
    ['set_up_agreement', '400 P0103', ofLength(26)],
  ],
  'agreement_id is not allowed, whatever its value, and agreement_payment_type not without set_up_agreement':
    [
      ['agreement_id', '400 P0104', `"${UNKNOWN}"`, 'null', '""', '5', '{}'],
      ['agreement_payment_type', '400 P0104', '"recurring"', '"x"'],
    ],
  'return_url is an absolute https address with two slashes, a possible host and a possible port': [
    ['return_url', '422 P0102', ...texts('http://example.org/', 'HTTP://localhost/')],
    ['return_url', '422 P0102', ...texts('/paid', 'example.org', '//example.org/', 'https:')],
    ['return_url', '422 P0102', ...texts('https://', 'https:///path', 'https://?a')],
    ['return_url', '422 P0102', ...texts('https:example.org', 'https:/example.org')],
    ['return_url', '422 P0102', ...texts('https://a b/', 'https://[::1', 'https://ex%00ample/')],
    ['return_url', '422 P0102', ...texts('javascript:alert(1)')],
    ['return_url', '422 P0102', ...texts('https://example.org:65536/', 'https://example.org:a/')],
  ],
  'return_url has no white space, line break or control character': [
    ['return_url', '422 P0102', ...texts(' https://example.org/')],
    ['return_url', '422 P0102', ...texts(...SPACES.map(space => `https://example.org/${space}`))],
  ],
  'lengths of texts are counted in UTF-16 code units': [
    ['reference', '201', ofLength(127, '😀'), ofLength(255, 'é')],
    ['reference', '422 P0102', ofLength(128, '😀')],
  ],
  // contract/described-requests.test.ts tries every field.
  'a text has neither U+0000 nor an unpaired surrogate, which unknown fields may have': [
    ['reference', '422 P0102', '"a\\u0000b"', '"\\ud800"', '"a\\udc00"'],
    [`${ADDRESS}.country`, `422 P0102 ${DETAILS}`, '"a\\u0000b"', '"\\ud800"'],
    [`note ${DETAILS}.note`, '201', '"\\u0000"', '"\\ud800"'],
  ],
  'an idempotency key has 1 to 255 letters, digits and hyphens': [
    [HEADER, '201', 'a', '-', '0', 'x'.repeat(255), crypto.randomUUID(), 'Ab-9'],
    [HEADER, '422 P0102', '', 'x'.repeat(256), 'a b', 'a_b', 'a.b', 'a,b', 'é', '"a"'],
  ],
  'metadata is an object of up to 15 keys, which have 1 to 30 characters and differ in more than case and the form of a sigma':
    [
      ['metadata', '422 P0102', 'null', ...NO_OBJECT, pairs(16), '{"":1}', `{${ofLength(31)}:1}`],
      ['metadata', '422 P0102', '{"Plan":1,"plan":2}', '{"ΑΣ":1,"ασ":2}'],
    ],
  'metadata has no null, objects, arrays, texts of 101 characters or numbers that are infinite in JavaScript':
    [
      ['metadata', '422 P0102', '{"a":null}', '{"a":{}}', '{"a":["b"]}', '{"a":1e400}'],
      ['metadata', '422 P0102', `{"a":${ofLength(101)}}`],
    ],
  'metadata has neither U+0000 nor an unpaired surrogate': [
    ['metadata', '422 P0102', '{"a\\u0000":1}', '{"a":"\\u0000"}'],
    ['metadata', '422 P0102', '{"\\ud800":1}', '{"a":"\\udc00\\ud800"}'],
  ],
}

const moto: Record<string, Rule[]> = {
  'moto may be given, and the other optional fields are as in web mode': [
    ['moto', '201', 'true', 'false'],
    ['delayed_capture', '201', 'true'],
    ['email', '201', '"a@example.org"'],
    ['metadata', '201', '{}'],
    [`${ADDRESS}.city`, '201', '"A"'],
  ],
  'return_url may be blank, and is not allowed otherwise, even if it is invalid': [
    ['return_url', '201', ABSENT, 'null', ...BLANKS],
    ['return_url', '400 P0104', '"https://a.org/"', '"http://a/"', '"no"'],
  ],
  'agreement_id, agreement_payment_type and set_up_agreement are not allowed': [
    ['agreement_id', '400 P0104', `"${UNKNOWN}"`, 'null'],
    ['agreement_payment_type', '400 P0104', '"recurring"'],
    ['set_up_agreement', '400 P0104', `"${UNKNOWN}"`],
  ],
}

const types: Record<string, Rule[]> = {
  'agreement_payment_type is one of three values, and optional': [
    ['agreement_payment_type', '201', ABSENT, '"instalment"', '"recurring"', '"unscheduled"'],
    ['agreement_payment_type', '422 P0102', '"monthly"', '"Recurring"', '"recurring "'],
    ['agreement_payment_type', '400 P0102', 'null', ...BLANKS, '5'],
  ],
}

const agreement: Record<string, Rule[]> = {
  ...types,
  'agreement_id is required, a string, and has exactly 26 characters': [
    ['agreement_id', '400 P0101', ABSENT, 'null', ...BLANKS],
    ['agreement_id', '400 P0102', ...NO_STRING, ofLength(26)],
    ['agreement_id', '422 P0102', ofLength(25), ofLength(27), `"${'a'.repeat(25)}\\u0000"`],
  ],
  'what the mode does not allow may be blank, empty or false': [
    ['return_url', '201', ABSENT, 'null', ...BLANKS],
    ['email', '201', 'null', ...BLANKS],
    [DETAILS, '201', 'null', '{}', '{"cardholder_name":"","billing_address":{}}'],
    ['moto', '201', 'false'],
  ],
  'return_url, set_up_agreement, moto, email and prefilled details are not allowed': [
    ['return_url', '400 P0104', '"https://example.org/"'],
    ['set_up_agreement', '400 P0104', `"${UNKNOWN}"`],
    ['moto', '400 P0104', 'true'],
    ['email', '400 P0104', '"a@example.org"'],
    [DETAILS, '400 P0104', '{"cardholder_name":"A"}', '{"billing_address":{"city":"A"}}'],
  ],
}

/** The service returns these as sent: with any host, a scheme in any case, and letters beyond ASCII. */
const returnUrls = texts(
  'https://example.org',
  'https://localhost:8443/back?a=1&b=2#end',
  'https://192.168.1.1/',
  'https://[::1]/',
  'HTTPS://Example.Org/',
  'https://bücher.example/zurück?q=ü',
  'https://me:secret@example.org/',
  'https://example.org/a%20b%0A',
)

/** The largest value of each field. order.test.ts has the smallest value above the limit. */
const longest = {
  reference: ofLength(255),
  description: ofLength(255),
  email: ofLength(254),
  return_url: JSON.stringify('https://a.org/'.padEnd(2000, 'x')),
  [`${DETAILS}.cardholder_name`]: ofLength(255),
  [`${ADDRESS}.line1`]: ofLength(255),
  [`${ADDRESS}.line2`]: ofLength(255),
  [`${ADDRESS}.city`]: ofLength(255),
  [`${ADDRESS}.postcode`]: ofLength(25),
}
const nameOf = (path: string) => path.split('.').at(-1) ?? path

onOneDatabase('Payments: fields of POST /v1/payments', service => {
  let api: Client
  let active = ''
  before(async () => {
    api = await service().newAccount()
    active = await activeAgreement(api)
  })
  const inWeb = (parts: Parts, expected: string) =>
    assertAnswer(api, { ...webParts, ...parts }, expected)

  for (const [mode, rules, base] of [
    ['web', web, () => webParts],
    ['moto_api', moto, () => motoParts],
    ['agreement', agreement, () => agreementParts(active)],
    ['web', types, () => ({ ...webParts, set_up_agreement: JSON.stringify(active) })],
  ] as [string, Record<string, Rule[]>, () => Parts][])
    for (const [sentence, rows] of Object.entries(rules))
      test(`in ${mode} mode, ${sentence}`, async () => {
        for (const [paths, answer, ...values] of rows)
          for (const path of paths.split(' ')) {
            const expected = /^\d+ \w+$/.test(answer) ? `${answer} ${nameOf(path)}` : answer
            for (const value of values)
              await assertAnswer(api, { ...base(), [path]: value }, expected)
          }
      })

  test('a country of two letters is kept and any other country is dropped without an error', async () => {
    for (const country of ['GB', 'gb', 'ZZ', 'GBR', 'G', 'G1', 'ÅÄ', 'x'.repeat(1000)]) {
      const parts = { [`${ADDRESS}.country`]: JSON.stringify(country), [`${ADDRESS}.city`]: '"A"' }
      const { body } = await inWeb(parts, '201')
      const address = { city: 'A', ...(/^[A-Z]{2}$/i.test(country) && { country }) }
      assert.deepEqual(body.card_details.billing_address, address)
    }
  })
})

onSharedDatabases('Payments: fields that are stored or looked up', service => {
  let api: Client
  before(async () => {
    api = await service().newAccount()
  })

  test('metadata within its limits is accepted and returned as sent', async () => {
    for (const metadata of [
      '{}',
      pairs(15),
      `{${ofLength(30)}:1}`,
      `{"a":${ofLength(100)}}`,
      '{"a":"","b":" "," ":1}',
      '{"a":"b","c":1.5,"d":-3,"e":true,"f":false,"g":1e21}',
      '{"constructor":1,"toString":"b","hasOwnProperty":true}',
      '{"a":null,"a":1}',
      '{"<a|b>":"<script>","é":"\\ud83d\\ude00\\n"}',
    ]) {
      const { body } = await assertAnswer(api, { ...webParts, metadata }, '201')
      assert.deepEqual(body.metadata, JSON.parse(metadata))
      const read = await api.get(`/v1/payments/${body.payment_id}`)
      assert.deepEqual(read.body.metadata, JSON.parse(metadata))
    }
  })

  test('values at their limits and every character are kept', async () => {
    const [text = ''] = texts(' “quoted” \u0001\u2028\u0085 "\\" / 𝄞 é e\u0301 ﬀ \ufeff\uffff ')
    for (const parts of [
      { reference: text, description: text, email: text },
      longest,
      { reference: ofLength(255, 'é'), return_url: '"https://é.example.org/tâl?ŵ=😀"' },
      ...returnUrls.map(return_url => ({ return_url })),
    ]) {
      const { body } = await assertAnswer(api, { ...webParts, ...parts }, '201')
      const read = await api.get(`/v1/payments/${body.payment_id}`)
      assert.deepEqual(read.body, body)
      const { cardholder_name, billing_address } = read.body.card_details ?? {}
      const found = { ...read.body, ...billing_address, cardholder_name }
      for (const [path, value] of Object.entries(parts))
        assert.equal(found[nameOf(path)], JSON.parse(value), path)
    }
  })

  test('a payment in moto_api mode has moto true even when the request says false, and sets no agreement up, even one that exists', async () => {
    const { body } = await assertAnswer(api, { ...motoParts, moto: 'false' }, '201')
    assert.equal(body.moto, true)
    const set_up_agreement = JSON.stringify(await newAgreement(api))
    const parts = { ...motoParts, set_up_agreement }
    await assertAnswer(api, parts, '400 P0104 set_up_agreement')
  })

  test('agreement_id returns 400 P0102 for an agreement that the account does not have or that is not active, and set_up_agreement 400 P0103 for a cancelled one', async () => {
    const other = await activeAgreement(await service().newAccount())
    for (const id of [UNKNOWN, other]) {
      const { body } = await assertAnswer(api, agreementParts(id), '400 P0102 agreement_id')
      assert.match(body.description, /Agreement does not exist/, 'clients look for these words')
    }
    const active = await activeAgreement(api)
    await assertAnswer(api, agreementParts(active), '201')
    await assertAnswer(api, agreementParts(active.toUpperCase()), '400 P0102 agreement_id')
    await api.post(`/v1/agreements/${active}/cancel`)
    const parts = { ...webParts, set_up_agreement: JSON.stringify(active) }
    const { body } = await assertAnswer(api, parts, '400 P0103 set_up_agreement')
    assert.match(body.description, /cancelled/)
    for (const id of [active, await newAgreement(api)])
      await assertAnswer(api, agreementParts(id), '400 P0102 agreement_id')
  })
})
