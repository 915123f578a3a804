/** The codes of errors that happen here, and the meaning of each, which is the same at every endpoint. */
const happening = {
  P0010: 'The card was declined. Also the state.code of that payment',
  P0020: 'Only a state.code: the payment expired, as only under the behaviour govuk-pay',
  P0030: 'Only a state.code: the user cancelled the payment on a hosted page',
  P0040: 'Only a state.code: the payment was cancelled through the API',
  P0050:
    'The payment provider reported an error. Only a state.code; with a plan also a response of POST /v1/auth',
  P0101: 'A required attribute is missing, null or blank',
  P0102: 'A value is not valid; the description says what is allowed',
  P0103:
    'The account has no agreement with the agreement_id in set_up_agreement, or it is cancelled',
  P0104: 'The attribute is not allowed with this authorisation_mode',
  P0191: 'The Idempotency-Key has already created a payment',
  P0197: 'The body is not one JSON object',
  P0200: 'The account has no payment with this payment_id',
  P0300: 'The account has no payment with this payment_id',
  P0401: 'Query parameters are not valid; the description lists them',
  P0402: 'The page is after the last one',
  P0500: 'The account has no payment with this payment_id',
  P0501: 'The state of the payment does not allow cancelling',
  P0600: 'The account has no payment with this payment_id',
  P0601: 'The amount of the refund is missing',
  P0602: 'A value is not valid; the description says what is allowed',
  P0603:
    'The payment cannot be refunded: it is pending, unavailable or full, or the amount is more than is left (amount_not_available)',
  P0604: 'refund_amount_available is not the amount that is available',
  P0697: 'The body is not one JSON object',
  P0700: 'The account has no payment with this payment_id, or the payment no such refund',
  P0800: 'The account has no payment with this payment_id',
  P0900: 'Too many requests: only under the behaviour govuk-pay, or by a plan of a test',
  P0910: 'The API key is missing or not valid',
  P0911: 'There is no endpoint with this path',
  P0912: 'The path does not allow this method. The Allow header lists those it does',
  P0913: 'The body is over 65,536 bytes',
  P0920: 'The endpoint does not take this media type, or the body has a Content-Encoding',
  P0999:
    'A fault of the service. With 500 the request may have taken effect. With 503 it has not: too many came at once',
  P1000: 'The account has no payment with this payment_id',
  P1003: 'The state of the payment does not allow capturing',
  P1100: 'The page is after the last one',
  P1101: 'Query parameters are not valid; the description lists them',
  P1211: 'No payment that waits for a card has this one_time_token',
  P1212: 'The one_time_token has been used',
  P2101: 'A required attribute is missing, null or blank',
  P2102: 'A value is not valid; the description says what is allowed',
  P2197: 'The body is not one JSON object',
  P2200: 'The account has no agreement with this agreement_id',
  P2401: 'Query parameters are not valid; the description lists them',
  P2402: 'The page is after the last one',
  P2500: 'The account has no agreement with this agreement_id',
  P2501: 'The status of the agreement does not allow cancelling',
  P2700: 'The account has no webhook with this external_id',
  P2701: 'Query parameters are not valid; the description lists them',
  P2702: 'The page is after the last one',
}

/** The error of a code: its status, the operations of GOV.UK Pay that return it, and its text. */
type PlannedError = { status: number; of: readonly string[]; text: string }

const CREATIONS = ['createPayment']
const fault = (...of: string[]): PlannedError => ({
  status: 500,
  of,
  text: 'a system behind the API has a fault',
})

/** Codes that occur here only through a plan. The statuses are those of GOV.UK Pay's source. */
export const onlyByPlan = {
  P0195: { status: 422, of: CREATIONS, text: 'the account may not take moto_api payments' },
  P0196: {
    status: 422,
    of: CREATIONS,
    text: 'the account may not take payments of this kind, by telephone or with an agreement',
  },
  P0198: fault('createPayment'),
  P0199: { status: 500, of: CREATIONS, text: 'there is a problem with the account' },
  P0298: fault('readPayment'),
  P0398: fault('listPaymentEvents'),
  P0498: fault('searchPayments', 'searchDisputes'),
  P0502: { status: 409, of: ['cancelPayment'], text: 'the payment cannot be cancelled now' },
  P0598: fault('cancelPayment'),
  P0698: fault('refundPayment'),
  P0798: fault('readRefund'),
  P0898: fault('listRefunds'),
  P0930: { status: 403, of: [], text: 'the account may not use this' },
  P0940: {
    status: 403,
    of: CREATIONS,
    text: 'the account of the payment service provider is not set up completely',
  },
  P0941: {
    status: 403,
    of: ['createPayment', 'refundPayment'],
    text: 'payments and refunds are switched off for the account',
  },
  P0942: {
    status: 422,
    of: ['createPayment', 'createAgreement'],
    text: 'recurring payments are switched off for the service',
  },
  P1001: { status: 400, of: ['capturePayment'], text: 'the payment could not be captured' },
  P1098: fault('capturePayment'),
  P1898: fault('searchRefunds'),
  P2198: fault('createAgreement'),
  P2298: fault('readAgreement'),
  P2498: fault('searchAgreements'),
  P2598: fault('cancelAgreement'),
} satisfies Record<string, PlannedError>
type PlannedCode = keyof typeof onlyByPlan

export type Code = keyof typeof happening | PlannedCode

const planned = Object.entries(onlyByPlan).map(([code, { text }]) => [
  code,
  `Never here without a plan: ${text}`,
])
/** The meaning of every code, for /openapi.json and /docs. */
export const meanings = Object.fromEntries(
  [...Object.entries(happening), ...planned].toSorted(),
) as Record<Code, string>

export const isPlanned = (code: string): code is PlannedCode => Object.hasOwn(onlyByPlan, code)

/** GOV.UK Pay's code for a fault behind this operation, with status 500; undefined if it has no such code. */
export function faultCodeOf(operation: string): Code | undefined {
  // After a fault POST /v1/auth has the code of payments that failed because of a fault.
  if (operation === 'authorisePayment') return 'P0050'
  const found = Object.entries<PlannedError>(onlyByPlan).find(
    ([code, { of, status }]) => status === 500 && code.endsWith('98') && of.includes(operation),
  )
  return found?.[0] as PlannedCode | undefined // a key of the table
}

/** Errors below /control, which is not part of the API: src/tools/steer/errors.ts makes them. */
export const controlMeanings = {
  C0101: 'A field is missing; the description says which',
  C0102: 'A value is not valid; the description says what is allowed',
  C0103: 'There is no such field or parameter; the description lists those there are',
  C0197: 'The body is not one JSON object',
  C0200: 'The account has nothing with this identifier',
  C0403: 'The key of a test account cannot do this',
  C0409: 'The state does not allow it',
  C0429: 'A limit of the control API is reached',
}
export type ControlCode = keyof typeof controlMeanings

export const meaningOf = (code: Code | ControlCode): string =>
  ({ ...meanings, ...controlMeanings })[code]
