import { before, test } from 'node:test'
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
import { onOneDatabase } from '../../support/service.ts'

const ABSENT = undefined
const ID = '"06g5petm8gpatdosqb0u8c1mv7"'
const blanks = ['""', '" "', '"\\t\\r\\n\\u00a0\\u2003"']
const noString = ['5', 'true', '["a"]', '{}']
const noBoolean = ['"true"', '0', '[]']
const noObject = ['"a"', '5', '[{}]', '""']

type Row = [sentence: string, path: string, values: (string | undefined)[], expected: string]

/** The fields in web mode, in the order in which they are checked. Other wrong types are in order.test.ts. */
const webRows: Row[] = [
  ['amount is required', 'amount', [ABSENT, 'null'], '400 P0101 amount'],
  [
    'amount must be a whole number, not text',
    'amount',
    ['10.5', '-0.5', '"10"', '""', 'true', '[10]', '{}'],
    '400 P0102 amount',
  ],
  [
    'amount must be written as an integer',
    'amount',
    ['1.0', '1e2', '100E-2', '-0.0', '0e5', '1e400'],
    '400 P0102 amount',
  ],
  ['reference is required', 'reference', [ABSENT, 'null', ...blanks], '400 P0101 reference'],
  ['reference must be a string', 'reference', noString, '400 P0102 reference'],
  [
    'reference must not contain < > |',
    'reference',
    ['"<"', '"a>b"', '"|"', '"\\u003c"', JSON.stringify('|'.repeat(256))],
    '400 P0102 reference',
  ],
  ['description is required', 'description', [ABSENT, 'null', ...blanks], '400 P0101 description'],
  ['description must be a string', 'description', noString, '400 P0102 description'],
  [
    'description must not contain < > |',
    'description',
    ['"<b>"', '"a|b"'],
    '400 P0102 description',
  ],
  ['moto is optional', 'moto', [ABSENT, 'true', 'false'], '201'],
  ['moto must be a boolean', 'moto', ['null', ...noBoolean], '400 P0102 moto'],
  ['set_up_agreement is optional', 'set_up_agreement', [ABSENT, 'null'], '201'],
  [
    'a blank set_up_agreement is too short',
    'set_up_agreement',
    blanks,
    '422 P0102 set_up_agreement',
  ],
  ['authorisation_mode defaults to web', 'authorisation_mode', [ABSENT, '"web"'], '201'],
  [
    'authorisation_mode must be a string that is not blank',
    'authorisation_mode',
    ['null', ...blanks, ...noString],
    '400 P0102 authorisation_mode',
  ],
  [
    'authorisation_mode must be one of three values',
    'authorisation_mode',
    ['"external"', '"Web"', '"web "', '"moto"', '"constructor"'],
    '422 P0102 authorisation_mode',
  ],
  [
    'agreement_id is not allowed, whatever its value',
    'agreement_id',
    [ID, 'null', '""', '5', '{}', '"short"'],
    '400 P0104 agreement_id',
  ],
  [
    'agreement_payment_type must be a string that is not blank',
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
  ['language is optional and may be en or cy', 'language', [ABSENT, '"en"', '"cy"'], '201'],
  [
    'language must be a string that is not blank',
    'language',
    ['null', ...blanks, ...noString],
    '400 P0102 language',
  ],
  [
    'language must be exactly en or cy',
    'language',
    ['"EN"', '"fr"', '"en-GB"', '" en"', '"cy\\u0000"'],
    '422 P0102 language',
  ],
  ['delayed_capture is optional', 'delayed_capture', [ABSENT, 'true', 'false'], '201'],
  [
    'delayed_capture must be a boolean',
    'delayed_capture',
    ['null', ...noBoolean],
    '400 P0102 delayed_capture',
  ],
  [
    'email is optional, a blank email counts as absent, and its format is not checked',
    'email',
    [ABSENT, 'null', ...blanks, '"trader@example.org"', '"no address"', '"<>|"'],
    '201',
  ],
  [
    `${DETAILS} is optional, and what is no object counts as absent`,
    DETAILS,
    [ABSENT, 'null', '{}', ...noObject],
    '201',
  ],
  ['metadata is optional', 'metadata', [ABSENT, '{}', '{"a":1}'], '201'],
  ['metadata must be an object', 'metadata', ['null', ...noObject], '422 P0102 metadata'],
]

const detailRows: Row[] = [
  ...['cardholder_name', 'billing_address.line1', 'billing_address.line2', 'billing_address.city']
    .concat('billing_address.postcode', 'billing_address.country')
    .flatMap((path): Row[] => {
      const name = path.split('.').at(-1) ?? path
      return [
        [
          `${name} is optional and a blank one counts as absent`,
          path,
          [ABSENT, 'null', ...blanks, '"a"'],
          '201',
        ],
      ]
    }),
  [
    'billing_address is optional, and what is no object counts as absent',
    'billing_address',
    [ABSENT, 'null', ...blanks, '{}', ...noObject],
    '201',
  ],
]

onOneDatabase('Payments: fields of POST /v1/payments', service => {
  let api: Client
  let agreement: Parts
  let setUp: Parts
  before(async () => {
    api = await service().newAccount()
    const agreement_id = await activeAgreement(api)
    agreement = agreementParts(agreement_id)
    setUp = { ...webParts, set_up_agreement: JSON.stringify(agreement_id) }
  })

  function walk(where: string, rows: Row[], base: () => Parts, prefix = ''): void {
    for (const [sentence, path, values, expected] of rows)
      test(`${where}, ${sentence} (${expected})`, async () => {
        for (const value of values)
          await assertAnswer(api, { ...base(), [prefix + path]: value }, expected)
      })
  }

  walk('in web mode', webRows, () => webParts)
  walk('in prefilled_cardholder_details', detailRows, () => webParts, `${DETAILS}.`)

  walk(
    'in moto_api mode',
    [
      ['moto may be true or false', 'moto', ['true', 'false'], '201'],
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
  )

  const types: Row[] = [
    [
      'agreement_payment_type is optional and may have three values',
      'agreement_payment_type',
      [ABSENT, '"instalment"', '"recurring"', '"unscheduled"'],
      '201',
    ],
    [
      'agreement_payment_type must be one of three values',
      'agreement_payment_type',
      ['"monthly"', '"Recurring"', '"recurring "'],
      '422 P0102 agreement_payment_type',
    ],
    [
      'agreement_payment_type must be a string that is not blank',
      'agreement_payment_type',
      ['null', ...blanks, '5'],
      '400 P0102 agreement_payment_type',
    ],
  ]
  walk('with set_up_agreement', types, () => setUp)

  walk(
    'in agreement mode',
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
        'a blank or empty return_url counts as absent',
        'return_url',
        [ABSENT, 'null', ...blanks],
        '201',
      ],
      ['email may be blank', 'email', ['null', ...blanks], '201'],
      [
        `${DETAILS} may be empty`,
        DETAILS,
        ['null', '{}', '{"cardholder_name":"","billing_address":{}}'],
        '201',
      ],
      ['moto may be false', 'moto', ['false'], '201'],
    ],
    () => agreement,
  )
})
