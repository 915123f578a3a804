import { before, describe, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  DETAILS,
  motoParts,
  type Parts,
  webParts,
} from '../../support/new-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'

const ABSENT = undefined
const ID = '"06g5petm8gpatdosqb0u8c1mv7"'
const blanks = ['""', '" "', '"\\t\\r\\n\\u00a0\\u2003"']
const noString = ['5', 'true', '[]', '{}', '["a"]']
const noBoolean = ['"true"', '0', '1', '""', '[]', '{}']
const noObject = ['"a"', '5', 'true', '[]', '[{}]', '""']

type Row = [sentence: string, path: string, values: (string | undefined)[], expected: string]

/** Each field in web mode, in the order in which they are checked. */
const webRows: Row[] = [
  ['amount is required', 'amount', [ABSENT, 'null'], '400 P0101 amount'],
  [
    'amount is a whole number, not a text of one',
    'amount',
    ['10.5', '0.1', '-0.5', '"10"', '""', '" "', 'true', 'false', '[]', '[10]', '{}'],
    '400 P0102 amount',
  ],
  ['amount may be written in any way', 'amount', ['1.0', '1e2', '100E-2', '-0', '0.0'], '201'],
  ['reference is required', 'reference', [ABSENT, 'null', ...blanks], '400 P0101 reference'],
  ['reference is a string', 'reference', noString, '400 P0102 reference'],
  [
    'reference has none of < > |',
    'reference',
    ['"<"', '"a>b"', '"|"', '"\\u003c"', JSON.stringify('|'.repeat(256))],
    '400 P0102 reference',
  ],
  ['description is required', 'description', [ABSENT, 'null', ...blanks], '400 P0101 description'],
  ['description is a string', 'description', noString, '400 P0102 description'],
  ['description has none of < > |', 'description', ['"<b>"', '"a|b"'], '400 P0102 description'],
  ['return_url is a string', 'return_url', noString, '400 P0102 return_url'],
  ['moto is optional', 'moto', [ABSENT, 'true', 'false'], '201'],
  ['moto is a boolean', 'moto', ['null', ...noBoolean], '400 P0102 moto'],
  ['set_up_agreement is optional', 'set_up_agreement', [ABSENT, 'null'], '201'],
  ['set_up_agreement is a string', 'set_up_agreement', noString, '400 P0102 set_up_agreement'],
  [
    'a blank set_up_agreement is too short',
    'set_up_agreement',
    blanks,
    '422 P0102 set_up_agreement',
  ],
  ['authorisation_mode is web if not given', 'authorisation_mode', [ABSENT, '"web"'], '201'],
  [
    'authorisation_mode is a string with something in it',
    'authorisation_mode',
    ['null', ...blanks, ...noString],
    '400 P0102 authorisation_mode',
  ],
  [
    'authorisation_mode is one of the three',
    'authorisation_mode',
    ['"external"', '"Web"', '"web "', '"moto"', '"constructor"'],
    '422 P0102 authorisation_mode',
  ],
  [
    'agreement_id is not allowed, whatever it is',
    'agreement_id',
    [ID, 'null', '""', '5', '{}', '"short"'],
    '400 P0104 agreement_id',
  ],
  [
    'agreement_payment_type is a string with something in it',
    'agreement_payment_type',
    ['null', ...blanks, ...noString],
    '400 P0102 agreement_payment_type',
  ],
  [
    'agreement_payment_type is not allowed without set_up_agreement',
    'agreement_payment_type',
    ['"recurring"', '"monthly"'],
    '400 P0104 agreement_payment_type',
  ],
  ['language is en or cy, en if not given', 'language', [ABSENT, '"en"', '"cy"'], '201'],
  [
    'language is a string with something in it',
    'language',
    ['null', ...blanks, ...noString],
    '400 P0102 language',
  ],
  [
    'language is exactly en or cy',
    'language',
    ['"EN"', '"fr"', '"en-GB"', '" en"', '"cy\\u0000"'],
    '422 P0102 language',
  ],
  ['delayed_capture is optional', 'delayed_capture', [ABSENT, 'true', 'false'], '201'],
  [
    'delayed_capture is a boolean',
    'delayed_capture',
    ['null', ...noBoolean],
    '400 P0102 delayed_capture',
  ],
  [
    'email is optional, blank is absent, and its format is not checked',
    'email',
    [ABSENT, 'null', ...blanks, '"trader@example.org"', '"no address"', '"<>|"'],
    '201',
  ],
  ['email is a string', 'email', noString, '400 P0102 email'],
  [`${DETAILS} is optional`, DETAILS, [ABSENT, 'null', '{}'], '201'],
  [`${DETAILS} is an object`, DETAILS, noObject, `400 P0102 ${DETAILS}`],
  ['metadata is optional', 'metadata', [ABSENT, '{}', '{"a":1}'], '201'],
  ['metadata is an object', 'metadata', ['null', ...noObject], '422 P0102 metadata'],
]

const detailRows: Row[] = [
  ...['cardholder_name', 'billing_address.line1', 'billing_address.line2', 'billing_address.city']
    .concat('billing_address.postcode', 'billing_address.country')
    .flatMap((path): Row[] => {
      const name = path.split('.').at(-1) ?? path
      return [
        [`${name} is optional, blank is absent`, path, [ABSENT, 'null', ...blanks, '"a"'], '201'],
        [`${name} is a string`, path, noString, `400 P0102 ${name}`],
      ]
    }),
  [
    'billing_address is optional, blank is absent',
    'billing_address',
    [ABSENT, 'null', ...blanks, '{}'],
    '201',
  ],
  [
    'billing_address is an object',
    'billing_address',
    noObject.filter(value => value !== '""'),
    '400 P0102 billing_address',
  ],
]

onEveryDatabase('A field of POST /v1/payments', service => {
  let api: Client
  let agreement: Parts
  let setUp: Parts
  before(async () => {
    api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    agreement = agreementParts(agreement_id)
    setUp = { ...webParts, set_up_agreement: JSON.stringify(agreement_id) }
  })

  function walk(rows: Row[], base: () => Parts, prefix = ''): void {
    for (const [sentence, path, values, expected] of rows)
      test(`${sentence}: ${expected}`, async () => {
        for (const value of values)
          await assertAnswer(api, { ...base(), [prefix + path]: value }, expected)
      })
  }

  describe('in web mode', () => walk(webRows, () => webParts))
  describe('in prefilled_cardholder_details', () => walk(detailRows, () => webParts, `${DETAILS}.`))

  describe('in moto_api mode', () =>
    walk(
      [
        ['moto may be given', 'moto', ['true', 'false'], '201'],
        ['return_url may be blank', 'return_url', [ABSENT, 'null', ...blanks], '201'],
        ['agreement_id is not allowed', 'agreement_id', [ID, 'null'], '400 P0104 agreement_id'],
        [
          'agreement_payment_type is not allowed',
          'agreement_payment_type',
          ['"recurring"'],
          '400 P0104 agreement_payment_type',
        ],
      ],
      () => motoParts,
    ))

  const types: Row[] = [
    [
      'agreement_payment_type is optional',
      'agreement_payment_type',
      [ABSENT, '"instalment"', '"recurring"', '"unscheduled"'],
      '201',
    ],
    [
      'agreement_payment_type is one of the three',
      'agreement_payment_type',
      ['"monthly"', '"Recurring"', '"recurring "'],
      '422 P0102 agreement_payment_type',
    ],
    [
      'agreement_payment_type is a string with something in it',
      'agreement_payment_type',
      ['null', ...blanks, '5'],
      '400 P0102 agreement_payment_type',
    ],
  ]
  describe('of a payment that sets up an agreement', () => walk(types, () => setUp))

  describe('in agreement mode', () =>
    walk(
      [
        ...types,
        [
          'agreement_id is required',
          'agreement_id',
          [ABSENT, 'null', ...blanks],
          '400 P0101 agreement_id',
        ],
        ['agreement_id is a string', 'agreement_id', noString, '400 P0102 agreement_id'],
        [
          'what is blank or empty counts as not given',
          'return_url',
          [ABSENT, 'null', ...blanks],
          '201',
        ],
        ['email may be blank', 'email', ['null', ...blanks], '201'],
        [`${DETAILS} may be empty`, DETAILS, ['null', '{}'], '201'],
        ['moto may be false', 'moto', ['false'], '201'],
      ],
      () => agreement,
    ))
})
