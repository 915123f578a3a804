import * as errors from '../../core/errors.ts'
import { FORM_TYPE, formBody, isForm, JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { type Json, readFields } from '../../platform/http/fields.ts'
import { noContent, requestBody } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import { DECLINED_CARD, submittedCard } from '../card.ts'
import { type Context, contextOf } from '../context.ts'
import { changePayment } from './commands.ts'
import { currentByToken } from './due-steps.ts'
import { type Payment, statusOf } from './payment.ts'
import { planOf, pursue } from './scenario.ts'
import { findByToken } from './store.ts'

const codes = errors.fieldCodes.authorisation

/** Specification, *POST /v1/auth*: completes a moto_api payment. The one-time token is the authorisation. */
export const authorise = (context: Context): Endpoint => ({
  method: 'POST',
  path: '/v1/auth',
  area: 'token',
  operationId: 'authorisePayment',
  summary: 'Complete a moto_api payment with a card',
  accepts: 'json or form',
  secretBody: true,
  docs: () => ({
    description:
      'The one_time_token is the authorisation: no API key is needed, and an Authorization header is ignored. Card 4000000000000002 is declined. Every other number of 12 to 19 digits is accepted. The response waits for the webhooks. Read the payment to see its state.',
    requestBody: requestBody(cardAuthorisation, [JSON_TYPE, FORM_TYPE]),
    responses: {
      204: noContent('The payment is success or, with delayed_capture, capturable'),
    },
    errors: [
      errors.notAnObject('P0197'),
      errors.unknownOneTimeToken(),
      errors.usedOneTimeToken(),
      errors.cardDeclined(),
      errors.providerFault(),
      errors.wrongMediaType(400, JSON_TYPE, FORM_TYPE),
      errors.missing(codes, 'cvc'),
      errors.tooManyFields(),
      errors.outsideLimit(codes, 'card_number', 'must be 12 to 19 digits'),
    ],
  }),
  handler: async (request, reply) => {
    const body = isForm(request)
      ? Object.fromEntries(formBody(request))
      : jsonBody(request, 'P0197')
    const own = contextOf(request, context)
    const payment = await submitCard(own, await readRecorded(own, body))
    const status = statusOf(payment)
    if (status === 'failed') throw errors.cardDeclined()
    if (status === 'error') throw errors.providerFault()
    return reply.code(204).send()
  },
})

/** Reads the body. If it is refused, the record of the request names the payment of its token all the same. */
async function readRecorded(context: Context, body: Json) {
  try {
    return readCardAuthorisation(body)
  } catch (error) {
    const { one_time_token: token } = body
    const found = typeof token === 'string' && (await findByToken(context, token))
    if (found) context.recordEffects?.(found.account, found.payment)
    throw error
  }
}

/**
 * Submits a card with the token of a moto_api payment. It ends as a plan says, or otherwise as the card number says.
 * Throws an ApiError if the token cannot be used.
 */
async function submitCard(context: Context, details: CardAuthorisation): Promise<Payment> {
  const { one_time_token, card_number, cardholder_name, expiry_date } = details
  const card = submittedCard(card_number, cardholder_name, expiry_date)
  const ofNumber = card_number === DECLINED_CARD ? 'declined' : 'success'
  const result = await changePayment(
    context,
    () => currentByToken(context, one_time_token),
    (found, now) => {
      if (found.given.authorisation_mode !== 'moto_api') throw errors.unknownOneTimeToken()
      if (found.card) throw errors.usedOneTimeToken()
      const { scenario = ofNumber } = planOf(context, found)
      const change = pursue(found, { scenario }, now, card)
      if (!change) throw errors.unknownOneTimeToken()
      return change
    },
  )
  if (!result) throw errors.unknownOneTimeToken()
  return result.payment
}

/** Specification, *POST /v1/auth*: the body, as JSON or as a form. */
const cardAuthorisation = object('CardAuthorisation', {
  one_time_token: {
    type: 'string',
    description: 'From auth_url_post of the payment. It works once',
  },
  card_number: { type: 'string', pattern: '^[0-9]{12,19}$', description: '12 to 19 digits' },
  cardholder_name: { type: 'string', maxLength: 255, description: 'Not blank' },
  cvc: { type: 'string', pattern: '^[0-9]{3,4}$', description: '3 or 4 digits' },
  expiry_date: {
    type: 'string',
    pattern: '^(0[1-9]|1[0-2])/[0-9]{2}$',
    description: 'a month and a year as MM/YY',
  },
})

type CardAuthorisation = Record<(typeof cardAuthorisation.required)[number], string>

/** Checks that each field is text, then that each is given, then its limits. Throws the first error. */
function readCardAuthorisation(body: Json): CardAuthorisation {
  const { required: names } = cardAuthorisation
  for (const name of names)
    if (body[name] !== undefined && body[name] !== null && typeof body[name] !== 'string')
      throw errors.invalid(codes, name, 'must be a string')
  for (const name of names) {
    const value = body[name]
    const blankIsMissing = name === 'one_time_token' || name === 'cardholder_name'
    if (typeof value !== 'string' || (blankIsMissing && !value.trim()))
      throw errors.missing(codes, name)
  }
  readFields(body, cardAuthorisation, codes).checkLimits()
  return body as CardAuthorisation // every field has been checked to be text
}
