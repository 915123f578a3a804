import { BODY_BYTES, FORM_FIELDS } from './budgets.ts'
import type { Code, ControlCode } from './codes.ts'

/** An error of the API, which http/errors.ts sends: Specification, *Errors*; where it is silent docs/spec-gaps.md. */
export class ApiError extends Error {
  readonly status: number
  readonly code: Code | ControlCode
  readonly at: { field?: string; header?: string }

  constructor(status: number, code: ApiError['code'], text: string, at: ApiError['at'] = {}) {
    super(text)
    this.status = status
    this.code = code
    this.at = at
  }
}

/** An error without a code for the client, as GOV.UK Pay's framework sends it. Its `code` is for log and record. */
export class PlainError extends ApiError {}

export type SearchCode = 'P0401' | 'P1101' | 'P2401' | 'P2701'
export type PageCode = 'P0402' | 'P1100' | 'P2402' | 'P2702'

/** The status and code of an endpoint for a field that is missing, invalid or outside its limits. */
export type FieldCodes = Record<'missing' | 'invalid' | 'limit', [status: number, code: Code]>

export const fieldCodes = {
  payment: { missing: [400, 'P0101'], invalid: [400, 'P0102'], limit: [422, 'P0102'] },
  refund: { missing: [400, 'P0601'], invalid: [400, 'P0602'], limit: [422, 'P0602'] },
  agreement: { missing: [400, 'P2101'], invalid: [400, 'P2102'], limit: [422, 'P0102'] },
  authorisation: { missing: [422, 'P0101'], invalid: [422, 'P0102'], limit: [422, 'P0102'] },
  webhook: { missing: [422, 'P0101'], invalid: [422, 'P0102'], limit: [422, 'P0102'] },
} satisfies Record<string, FieldCodes>

const inField = ([status, code]: [number, Code], field: string, text: string) =>
  new ApiError(status, code, text, { field })

export const missing = (codes: FieldCodes, field: string) =>
  inField(codes.missing, field, `${field} is required`)

/** `rule` completes the sentence that begins with the field's name: "must be a string". */
export const invalid = (codes: FieldCodes, field: string, rule: string) =>
  inField(codes.invalid, field, `${field} ${rule}`)

export const outsideLimit = (codes: FieldCodes, field: string, rule: string) =>
  inField(codes.limit, field, `${field} ${rule}`)

/** `reason` completes the sentence: "when authorisation_mode is agreement". */
export const notAllowed = (field: string, reason: string) =>
  new ApiError(400, 'P0104', `${field} is not allowed ${reason}`, { field })

const badSetUpAgreement = (rule: string) =>
  new ApiError(400, 'P0103', `set_up_agreement ${rule}`, { field: 'set_up_agreement' })

export const unknownSetUpAgreement = () =>
  badSetUpAgreement('must be the agreement_id of an agreement of this account')

export const cancelledSetUpAgreement = () =>
  badSetUpAgreement(
    'must be that of an agreement that is not cancelled: GOV.UK Pay would set it up again',
  )

/** Clients of GOV.UK Pay compare these two descriptions. */
const badAgreement = (text: string) =>
  inField(
    fieldCodes.payment.invalid,
    'agreement_id',
    `Invalid attribute value: agreement_id. ${text}`,
  )

export const unknownAgreement = () => badAgreement('Agreement does not exist')

export const inactiveAgreement = () => badAgreement('Agreement must be active')

const header = 'Idempotency-Key'

export const badIdempotencyKey = () =>
  new ApiError(
    422,
    'P0102',
    `${header} must be sent once and be 1 to 255 letters, digits or hyphens`,
    { header },
  )

export const idempotencyKeyUsed = () =>
  new ApiError(409, 'P0191', `this ${header} has already created a payment`, { header })

export type BodyCode = 'P0197' | 'P0697' | 'P2197' | 'C0197'

export const notJson = (code: BodyCode) =>
  new ApiError(400, code, 'the request body is not valid JSON in UTF-8')

export const notAnObject = (code: BodyCode) =>
  new ApiError(400, code, 'the request body must be one JSON object')

const notFound = (code: Code, what: string) => new ApiError(404, code, `this ${what} in the path`)

type PaymentCode = 'P0200' | 'P0300' | 'P0500' | 'P0600' | 'P0700' | 'P0800' | 'P1000'
/** `days`: the number of days for which the account's payments are kept. */
export const paymentNotFound = (code: PaymentCode, days = 7) =>
  notFound(code, `account has no payment of the last ${days} days with the payment_id`)

export const refundNotFound = () => notFound('P0700', 'payment has no refund with the refund_id')

export const agreementNotFound = (code: 'P2200' | 'P2500') =>
  notFound(code, 'account has no agreement with the agreement_id')

export const tooManyWebhooks = (most: number) =>
  new ApiError(
    422,
    'P0102',
    `an account has at most ${most} active webhooks: delete one before you register another`,
  )

export const webhookNotFound = () =>
  notFound('P2700', 'account has no webhook with the external_id')

export const cannotCancelPayment = (status: string) =>
  new ApiError(
    400,
    'P0501',
    `only a created, started or capturable payment can be cancelled, and this one is ${status}`,
  )

export const cannotCapture = (status: string) =>
  new ApiError(409, 'P1003', `only a capturable payment can be captured, and this one is ${status}`)

export const cannotCancelAgreement = (status: string) =>
  new ApiError(
    400,
    'P2501',
    status === 'cancelled'
      ? 'the agreement is already cancelled'
      : `an agreement that is ${status} cannot be cancelled`,
  )

/** `status` is that of the payment's refund_summary, or amount_not_available. */
export const notRefundable = (status: string, detail: string) =>
  new ApiError(400, 'P0603', `the payment cannot be refunded (${status}): ${detail}`)

/** `available` in pence. */
export const refundAmountMismatch = (available: number) =>
  new ApiError(
    412,
    'P0604',
    `refund_amount_available does not match: ${available} pence are available`,
  )

export const cardFailed = () =>
  new ApiError(500, 'P0050', 'the payment provider could not process the card')

export const cardDeclined = () => new ApiError(402, 'P0010', 'the card was declined')

export const unknownOneTimeToken = () =>
  new ApiError(
    400,
    'P1211',
    'no payment that waits for a card has this one_time_token: it is unknown or older than 7 days, or the ' +
      'payment was cancelled',
  )

export const usedOneTimeToken = () =>
  new ApiError(400, 'P1212', 'the one_time_token has already been used')

/** `rules` of all invalid parameters, in the order of the documentation: "page must be ...". */
export const badSearch = (code: SearchCode, rules: string[]) =>
  new ApiError(422, code, `the query cannot be used: ${rules.join('; ')}`)

export const noSuchPage = (code: PageCode, page: number, last: number) =>
  new ApiError(404, code, `page ${page} is after the last page, which is ${last}`)

/** The three errors of a bearer key. None repeats the header, which may contain a key of another service. */
const unauthorised = (description: string) => new ApiError(401, 'P0910', description)

export const missingBearerKey = () =>
  unauthorised('an API key is needed: send the header "Authorization: Bearer YOUR_API_KEY"')

export const malformedBearerKey = () =>
  unauthorised(
    'the Authorization header must be the word Bearer, one space and an API key: "Authorization: Bearer YOUR_API_KEY"',
  )

export const unknownBearerKey = () =>
  unauthorised(
    'this API key is not known here. Was it made in another database, or revoked, or has its test account ended? The command ' +
      '"farthing keys list" shows the keys of this database (in a clone: "npm start -- keys list")',
  )

const PATH_MISTAKES = {
  twice:
    'it begins with /v1 twice. Take /v1 out of the base address of your client or out of its paths',
  empty:
    'it has an empty segment, that is, two slashes in a row. Does the base address of your client end with a slash?',
  missing:
    'but with /v1 before it there is one. Add /v1 to the base address of your client or to its paths',
}

/** Repeats nothing that the client sent. */
const noEndpoint = (more: string) =>
  new ApiError(404, 'P0911', `there is no endpoint with this path${more}`)

export const noSuchEndpoint = (mistake?: keyof typeof PATH_MISTAKES) =>
  noEndpoint(`: ${mistake ? PATH_MISTAKES[mistake] : 'GET /openapi.json lists them all'}`)

export const controlIsOff = () =>
  noEndpoint('. The control API is off: FARTHING_CONTROL=true switches it on')

/** `allow` is the value of the Allow header. */
export const methodNotAllowed = (method: string, allow: string) =>
  new ApiError(405, 'P0912', `this path does not allow ${method}: use ${allow}`)

export const unreadable = (status = 400) =>
  new ApiError(status, 'P0197', 'the request could not be read')

export const bodyTooLarge = (most = BODY_BYTES) =>
  new ApiError(413, 'P0913', `the request body must be at most ${most} bytes`)

export const tooManyFields = () =>
  new ApiError(422, 'P0102', `a form must have at most ${FORM_FIELDS} fields`)

/** `allowed`: media types. The API responds with 400, as GOV.UK Pay does; the hosted pages with 415. */
export const wrongMediaType = (status: 400 | 415, ...allowed: string[]) =>
  new ApiError(
    status,
    'P0920',
    `the Content-Type must be ${allowed.join(', ')} or absent, without a Content-Encoding`,
  )

/** For a request that makes GOV.UK Pay itself fail, so that only its framework answers. */
export const unprocessed = () => new PlainError(500, 'P0999', 'the request could not be processed')

/** A request that the firewall of GOV.UK Pay blocks; `rule` completes the sentence that begins with the request. */
export const blocked = (rule: string) => new ApiError(400, 'P0920', `the request ${rule}`)

/** Only under the behaviour `govuk-pay`, or by a plan of a test. The Specification, *Errors*, describes it. */
export const tooManyRequests = () => new ApiError(429, 'P0900', 'too many requests')

/** Too many requests in progress, with Retry-After. It does not limit the rate of a client. */
export const overloaded = () =>
  new ApiError(503, 'P0999', 'the service is busy: try again after the seconds in Retry-After')

export const unexpectedFault = () =>
  new ApiError(
    500,
    'P0999',
    'something went wrong in the service. The request may have taken effect: read back what you changed, or ' +
      'repeat a create with the same Idempotency-Key',
  )
