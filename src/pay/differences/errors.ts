/** Differences in errors, and in how the bodies of requests are read. */
import {
  ApiError,
  type BodyCode,
  blocked,
  notAnObject,
  notJson,
  PlainError,
  unprocessed,
} from '../../core/errors.ts'
import { type ReadOther, refuseOther } from '../../platform/http/body.ts'
import { difference } from './difference.ts'
import { inCode } from './source.ts'
import { asInteger } from './values.ts'

/** Changes an error whose text comes from the connector of GOV.UK Pay. */
export const wordedError = difference<(error: ApiError) => ApiError>({
  subject: '`field` and `header` of errors',
  specification: 'Each error names what is wrong',
  govukPay:
    'P0104 has no `field`, nor P0101 of `return_url` and `agreement_id`, nor P0102 of an invalid `return_url` and of the digits and the date of a card. P0191 has no `header`',
  source: inCode('publicapi', 'exception/mapper/CreateChargeExceptionMapper.java', '44-121'),
  decides: {
    specification: error => error,
    'govuk-pay': ({ status, code, message }) => new ApiError(status, code, message),
  },
})

/** The largest whole number that is an amount. A larger one is of the wrong type. */
export const largestInteger = difference<number>({
  subject: 'Amounts over 2147483647',
  specification: '422 about the range',
  govukPay: '400 about the format of the number',
  source: inCode('publicapi', 'json/RequestJsonParser.java', '300-307'),
  noRule: 'both refuse them',
  decides: { specification: Number.POSITIVE_INFINITY, 'govuk-pay': 2_147_483_647 },
})

/** How the first token of JSON begins. */
const JSON_BEGINS = /^\s*(?:[{["]|-?\d|(?:true|false|null)\b)/

/** A body without any bytes, which a chunked request can have, counts as no body. */
const unreadable = (text: string): Error =>
  text === '' ? blocked('must have a body') : unprocessed()

/** Reads a body that is not one JSON object. `ofCard`: in POST /v1/auth. */
export const otherBody = difference<{
  read: ReadOther
  ofCard: ReadOther
  /** The errors that the documents list. */
  errors: (code: BodyCode) => ApiError[]
  errorsOfCard: ApiError[]
}>({
  subject: 'An array, string or number as the body, and text that is not JSON',
  specification: '400 P0197 (P0697, P2197)',
  govukPay:
    'The first is a body without any field: 400 P0101 (P0601, P2101). Text that does not begin as JSON, and each of these in `POST /v1/auth`, is 500 without a code',
  source: inCode('publicapi', 'exception/mapper/JsonProcessingExceptionMapper.java', '19-42'),
  noRule: 'both refuse it',
  decides: {
    specification: {
      read: refuseOther,
      ofCard: refuseOther,
      errors: code => [notAnObject(code)],
      errorsOfCard: [notAnObject('P0197')],
    },
    'govuk-pay': {
      read: (code, text, value) => {
        if (value !== undefined) return {}
        throw JSON_BEGINS.test(text) ? notJson(code) : unreadable(text)
      },
      ofCard: (_code, text) => {
        throw unreadable(text)
      },
      errors: code => [notJson(code), unprocessed()],
      errorsOfCard: [unprocessed()],
    },
  },
})

export const lostError = difference<(usual: Error) => Error>({
  subject: 'Unknown path, wrong method',
  specification: '404 P0911, 405 P0912',
  govukPay:
    '`{"code":404,"message":"HTTP 404 Not Found"}`, or 405 with `HTTP 405 Method Not Allowed`',
  source: inCode('publicapi', 'app/PublicApi.java', '106-117'),
  decides: {
    specification: usual => usual,
    'govuk-pay': usual =>
      usual instanceof ApiError
        ? new PlainError(usual.status, usual.code, `HTTP ${usual.status} ${PHRASES[usual.status]}`)
        : usual,
  },
})

const PHRASES: Record<number, string> = { 404: 'Not Found', 405: 'Method Not Allowed' }

/** The code for a refund of a payment that the account does not have. `isExpected`: refund_amount_available was sent. */
export const unknownRefunded = difference<(isExpected: boolean) => 'P0200' | 'P0600'>({
  subject: 'A refund of a payment that does not exist',
  specification: '404 P0600',
  govukPay: '404 P0200, unless the request has refund_amount_available',
  source: inCode('publicapi', 'service/CreateRefundService.java', '49-50'),
  noRule: 'both refuse it',
  decides: {
    specification: () => 'P0600',
    'govuk-pay': isExpected => (isExpected ? 'P0600' : 'P0200'),
  },
})

/** The pence in refund_amount_available; undefined for a value that is refused. */
export const expectedAmount = difference<(value: unknown) => number | undefined>({
  subject: 'A `refund_amount_available` that is no whole number',
  specification: '400 P0602, but for text of digits',
  govukPay: 'A fraction counts as its whole part, any other value as 0: 412 P0604',
  source: inCode('publicapi', 'json/RequestJsonParser.java', '83'),
  noRule: 'both refuse what is not the amount',
  decides: {
    specification: value =>
      (typeof value === 'string' && /^[0-9]+$/.test(value)) ||
      Number.isInteger(value) ||
      value === Infinity ||
      value === -Infinity
        ? Number(value)
        : undefined,
    'govuk-pay': asInteger,
  },
})
