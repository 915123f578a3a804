/** The endpoints of payments in /openapi.json. */
import {
  badIdempotencyKey,
  cannotCancelPayment,
  cannotCapture,
  cardDeclined,
  fieldCodes,
  idempotencyKeyUsed,
  invalid,
  missing,
  notAllowed,
  notAnObject,
  outsideLimit,
  paymentNotFound,
  unknownAgreement,
  unknownOneTimeToken,
  unknownSetUpAgreement,
  usedOneTimeToken,
  wrongMediaType,
} from '../errors.ts'
import { FORM_TYPE, JSON_TYPE } from '../http/body.ts'
import {
  behindKey,
  describeBody,
  header,
  json,
  noContent,
  type Operations,
  type Parameter,
  pathParameter,
  searchParts,
  withoutKey,
} from '../http/describe.ts'
import { PENCE_RULE } from '../http/fields.ts'
import { authorisation, events, payments, requests } from './examples.ts'
import { cardAuthorisation, idempotencyKey, newPayment } from './request.ts'
import { foundPayment, payment, paymentEvents } from './response.ts'
import { paymentSearch } from './store.ts'

export const paymentId = pathParameter(
  'payment_id',
  'A payment of yours from the last 7 days',
  payments.created.payment_id,
)

const idempotencyHeader: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes sure that a payment is created once however often it is sent. A key that has created a payment answers 409 until that payment is gone, whatever the body. Any other answer leaves the key free',
  schema: { ...idempotencyKey, examples: ['boat-1187-try-1'] },
}

const codes = fieldCodes.payment

const createPayment = behindKey({
  summary: 'Create a payment',
  description: `In web mode send the user's browser to \`next_url\`, and once it is back at \`return_url\` read the payment. In moto_api mode post the card to \`/v1/auth\` with the one_time_token of \`auth_url_post\`. In agreement mode the answer waits for the webhooks and shows how the payment ended.

Every type is checked first, and with them that agreement_id and agreement_payment_type belong to the mode; then every limit, then the Idempotency-Key's format, then what the authorisation_mode needs and does not allow, and last whether the key was used. The first fault is the answer.`,
  parameters: [idempotencyHeader],
  requestBody: describeBody(newPayment, {
    'A user pays on the hosted pages': requests.web,
    'The pages in Welsh, a name filled in, captured later': requests.delayed,
    'A card taken by telephone': requests.moto,
    'A payment that sets up an agreement': requests.setUp,
    'A payment made with an agreement': requests.agreement,
  }),
  answers: {
    201: json(
      'The payment',
      payment,
      {
        'A user pays on the hosted pages': payments.created,
        'A card taken by telephone': payments.createdMoto,
        'A payment made with an agreement': payments.byAgreement,
      },
      { Location: header('The address of the payment', { format: 'uri' }) },
    ),
  },
  errors: [
    missing(codes, 'amount'),
    invalid(codes, 'amount', PENCE_RULE),
    unknownAgreement(),
    unknownSetUpAgreement(),
    notAllowed('return_url', 'when authorisation_mode is moto_api'),
    notAnObject('P0197'),
    idempotencyKeyUsed(),
    wrongMediaType(JSON_TYPE),
    outsideLimit(codes, 'amount', `must be at most ${newPayment.properties.amount.maximum}`),
    badIdempotencyKey(),
  ],
})

const searchPayments = behindKey({
  summary: 'Search payments',
  description:
    'Your payments of the last 7 days, newest first. Blank parameters are as if they were not given; of one that is given twice the first counts. Nothing is ever settled, so a filter on the settled date finds nothing.',
  ...searchParts(paymentSearch, foundPayment, payments.found, ['state', 'from_date']),
})

const readPayment = behindKey({
  summary: 'Read a payment',
  parameters: [paymentId],
  answers: {
    200: json('The payment', payment, {
      'Paid and partly refunded': payments.partlyRefunded,
      'Waiting to be captured': payments.capturable,
      'Its card was declined': payments.declined,
    }),
  },
  errors: [paymentNotFound('P0200')],
})

const listPaymentEvents = behindKey({
  summary: 'Read the history of a payment',
  parameters: [paymentId],
  answers: { 200: json('Every state it has had', paymentEvents, { 'Paid in a browser': events }) },
  errors: [paymentNotFound('P0300')],
})

const cancelPayment = behindKey({
  summary: 'Cancel a payment',
  description:
    'Allowed while its status is created, started or capturable; it becomes cancelled, with the code P0040. The answer waits for the webhooks. A body is not read.',
  parameters: [paymentId],
  answers: { 204: noContent('It is cancelled') },
  errors: [cannotCancelPayment('success'), paymentNotFound('P0500')],
})

const capturePayment = behindKey({
  summary: 'Capture a payment',
  description:
    'Allowed while its status is capturable, which a payment with `delayed_capture` reaches when it is authorised; it becomes success. The answer waits for the webhooks. A body is not read.',
  parameters: [paymentId],
  answers: { 204: noContent('It is captured') },
  errors: [paymentNotFound('P1000'), cannotCapture('success')],
})

const authorisationCodes = fieldCodes.authorisation

const authorisePayment = withoutKey({
  summary: 'Complete a moto_api payment with a card',
  description:
    'The one_time_token is the authorisation: no API key is needed, and an Authorization header is ignored. Card 4000000000000002 is declined; every other number of 12 to 19 digits is accepted. The answer waits for the webhooks; read the payment to see it.',
  requestBody: describeBody(cardAuthorisation, { 'A card that is accepted': authorisation }, [
    JSON_TYPE,
    FORM_TYPE,
  ]),
  answers: { 204: noContent('The payment is success or, with delayed_capture, capturable') },
  errors: [
    notAnObject('P0197'),
    unknownOneTimeToken(),
    usedOneTimeToken(),
    cardDeclined(),
    wrongMediaType(JSON_TYPE, FORM_TYPE),
    missing(authorisationCodes, 'cvc'),
    outsideLimit(authorisationCodes, 'card_number', 'must be 12 to 19 digits'),
  ],
})

export const operations: Operations = {
  createPayment,
  searchPayments,
  readPayment,
  listPaymentEvents,
  cancelPayment,
  capturePayment,
  authorisePayment,
}
