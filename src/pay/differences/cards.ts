/** Differences in POST /v1/auth. */

import type { Code } from '../../core/codes.ts'
import { ApiError, fieldCodes, outsideLimit, unprocessed } from '../../core/errors.ts'
import { brandOf, DECLINED_CARD } from '../card.ts'
import { CARDS, difference } from './difference.ts'
import { wordedError } from './errors.ts'
import { documented, inCode } from './source.ts'
import { hasCheckDigit, isExpired } from './values.ts'

const FIELDS = ['one_time_token', 'card_number', 'cardholder_name', 'cvc', 'expiry_date'] as const

/** The fields of POST /v1/auth. */
export type CardAuthorisation = Record<(typeof FIELDS)[number], string>

/** An error in the fields for which the specification does not look. `now` in milliseconds. */
export const cardMistake = difference<
  (card: CardAuthorisation, now: number) => ApiError | undefined
>({
  subject: 'Expiry dates',
  specification: 'A card whose expiry date is over is accepted',
  govukPay: 'One whose expiry date has been over for 12 hours is refused with 422 P0102',
  source: inCode('connector', 'paymentprocessor/model/MotoApiAuthoriseRequest.java', '63-89'),
  rule: {
    id: 'P9',
    level: 'fail',
    advice: 'Use an expiry date in the future.',
    among: CARDS,
    answer: (mistake, asked) => mistake(cardIn(asked.body), asked.began)?.code,
  },
  decides: {
    specification: () => undefined,
    'govuk-pay': (card, now) =>
      lengthMistake(card) ??
      blankMistake(card) ??
      (isExpired(card.expiry_date, now)
        ? wordedError['govuk-pay'](outsideLimit(codes, 'expiry_date', 'must not be over'))
        : undefined),
  },
})

const LENGTHS = {
  card_number: [12, 19],
  cvc: [3, 4],
  expiry_date: [5, 5],
  cardholder_name: [1, 255],
} as const
const NAMES = ['card_number', 'cvc', 'expiry_date'] as const
const codes = fieldCodes.authorisation

function lengthMistake(card: CardAuthorisation): ApiError | undefined {
  for (const [name, [least, most]] of Object.entries(LENGTHS)) {
    const { length } = card[name as keyof typeof LENGTHS]
    if (length < least || length > most)
      return outsideLimit(codes, name, `must have ${least} to ${most} characters`)
  }
  return undefined
}

function blankMistake(card: CardAuthorisation): ApiError | undefined {
  const name = NAMES.find(name => card[name].trim() === '')
  return name && new ApiError(500, 'P0198', `${name} is blank`)
}

const cardIn = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(FIELDS.map(name => [name, String(body[name] ?? '')])) as CardAuthorisation

/** Whether the number is refused before it reaches the payment provider: the payment fails without a card. */
export const refusedNumber = difference<(number: string) => boolean>({
  subject: 'Card numbers',
  specification: 'A wrong check digit and an unknown type of card are accepted',
  govukPay:
    'With a wrong check digit or an unknown type of card it is 402 P0010, and the payment fails',
  source: inCode(
    'connector',
    'charge/service/motoapi/MotoApiCardNumberValidationService.java',
    '41-59',
  ),
  rule: {
    id: 'P9',
    level: 'fail',
    advice: 'Use a card number from the documentation of GOV.UK Pay.',
    among: CARDS,
    answer: (isRefused, { body }) => isRefused(String(body.card_number)),
  },
  decides: {
    specification: () => false,
    'govuk-pay': number => !hasCheckDigit(number) || brandOf(number) === undefined,
  },
})

export type CardOutcome = 'success' | 'declined' | 'error'

const GOOD = [
  '4444333322221111',
  '4917610000000000003',
  '4000056655665556',
  '371449635398431',
  '3566002020360505',
  '6011000990139424',
  '36148900647913',
  '4242424242424242',
  '5105105105105100',
  '222100000000000',
  '4000000000000010',
  '4000160000000004',
  '4000020000000000',
  '4988080000000000',
  '4111111111111111',
  '4293189100000008',
  '5101180000000007',
  '4131840000000003',
  '4000180000000002',
  '5200828282828210',
]
const DECLINED = [DECLINED_CARD, '4000000000000069', '4000000000000127']

/** The payment provider's answer to a card. */
export const cardOutcome = difference<(number: string) => CardOutcome>({
  subject: 'Test cards that fail',
  specification: 'Only 4000000000000002 is declined',
  govukPay:
    'Those that end in 0069 and 0127 are declined too, 402 P0010. With that in 0119, and with every number that is not on its list, the payment is an error, 500 P0050',
  source: inCode('connector', 'gateway/sandbox/SandboxCardNumbers.java', '16-54'),
  rule: {
    id: 'P9',
    level: 'warn',
    advice: 'Use a card number that the documentation of GOV.UK Pay lists as successful.',
    among: CARDS,
    answer: (outcome, { body }) => {
      const number = String(body.card_number)
      return !refusedNumber['govuk-pay'](number) && outcome(number)
    },
  },
  decides: {
    specification: number => (number === DECLINED_CARD ? 'declined' : 'success'),
    'govuk-pay': number =>
      GOOD.includes(number) ? 'success' : DECLINED.includes(number) ? 'declined' : 'error',
  },
})

/** The code of a fault before the card reaches the payment provider. Only a plan makes such a fault. */
export const cardFault = difference<Code>({
  subject: 'A fault of `POST /v1/auth` before the card is processed',
  specification: '500 P0050, as of a card that cannot be processed',
  govukPay: '500 P0198',
  source: inCode('publicapi', 'exception/mapper/AuthorisationRequestExceptionMapper.java', '58-61'),
  noRule: 'only a plan makes one',
  decides: { specification: 'P0050', 'govuk-pay': 'P0198' },
})

/** The error for a payment that no longer waits for a card; undefined if its token counts as unknown. */
export const endedPayment = difference<((isRefused: boolean) => ApiError) | undefined>({
  subject: 'The token of a payment that was cancelled or has expired',
  specification: '400 P1211, as often as it is used',
  govukPay: '500 P0198, and the token is used then',
  source: inCode('publicapi', 'exception/mapper/AuthorisationRequestExceptionMapper.java', '58-61'),
  noRule: 'both refuse it',
  decides: {
    specification: undefined,
    'govuk-pay': isRefused =>
      isRefused
        ? unprocessed()
        : new ApiError(500, 'P0198', 'the payment does not wait for a card'),
  },
})

/** Whether this is the number of a test card that may be a debit or a credit card. */
export const cardTypeUnknown = difference<(number: string) => boolean>({
  subject: 'The `card_type` of test cards that are debit or credit cards',
  specification: 'credit',
  govukPay: 'null',
  source: documented('testing_govuk_pay/#use-mock-card-numbers'),
  decides: {
    specification: () => false,
    'govuk-pay': number => DEBIT_OR_CREDIT.includes(number),
  },
})

const DEBIT_OR_CREDIT = ['4000000000000010', ...DECLINED, '4000000000000119']
