import type { FastifyRequest } from 'fastify'
import type { Behaviour } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import {
  FORM_TYPE,
  formBody,
  isForm,
  JSON_TYPE,
  jsonBody,
  type ReadOther,
} from '../../platform/http/body.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { FieldReader, type Json } from '../../platform/http/fields.ts'
import { noContent, requestBody } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import { type CardDetails, submittedCard } from '../card.ts'
import { type Context, contextOf } from '../context.ts'
import { blockedText, takesCardForms } from '../differences/arriving.ts'
import {
  type CardAuthorisation,
  cardMistake,
  cardOutcome,
  cardTypeUnknown,
  endedPayment,
  refusedNumber,
} from '../differences/cards.ts'
import { keptText } from '../differences/creating.ts'
import { wordsOf } from '../differences/difference.ts'
import { otherBody, wordedError } from '../differences/errors.ts'
import { FORBIDDEN, type Refusals } from '../refusals.ts'
import { changePayment } from './commands.ts'
import { currentByToken } from './due-steps.ts'
import { behaviourOf, type Change, statusOf } from './payment.ts'
import { planOf, pursue } from './scenario.ts'

const codes = errors.fieldCodes.authorisation

/** The test card of the documentation that makes the payment provider fail. */
const FAILING_CARD = '4000000000000119'

const typesOf = (behaviour: Behaviour) =>
  takesCardForms[behaviour] ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE]

/** Specification, *POST /v1/auth*: completes a moto_api payment. The one-time token is the authorisation. */
export const authorise = (context: Context, refusals: Refusals): Endpoint => ({
  method: 'POST',
  path: '/v1/auth',
  area: 'token',
  operationId: 'authorisePayment',
  summary: 'Complete a moto_api payment with a card',
  accepts: 'json or form',
  secretBody: true,
  docs: behaviour => ({
    description: `The one_time_token is the authorisation: no API key is needed, and an Authorization header is ignored. ${wordsOf(refusedNumber, behaviour)} ${wordsOf(cardOutcome, behaviour)} Read the payment to see its state.`,
    requestBody: requestBody(cardAuthorisation, typesOf(behaviour)),
    responses: {
      204: noContent('The payment is success or, with delayed_capture, capturable'),
    },
    errors: [
      ...otherBody[behaviour].errorsOfCard,
      errors.unknownOneTimeToken(),
      errors.usedOneTimeToken(),
      errors.cardDeclined(),
      errors.wrongMediaType(400, ...typesOf(behaviour)),
      errors.missing(codes, 'cvc'),
      errors.tooManyFields(),
      errors.outsideLimit(codes, 'card_number', 'must be 12 to 19 digits'),
      ...(cardOutcome[behaviour](FAILING_CARD) === 'error' ? [errors.cardFailed()] : []),
      ...[endedPayment[behaviour]?.(false) ?? []].flat(),
    ],
  }),
  handler: async (request, reply) => {
    const own = contextOf(request, context)
    const { body, found, behaviour } = await readPosted(own, request, refusals)
    const now = found ? context.time.now(found.account) : context.time.wall()
    const details = readCardAuthorisation(body, behaviour, now)
    const status = statusOf(await submitCard(own, details, found))
    if (status === 'failed') throw errors.cardDeclined()
    if (status === 'error') throw errors.cardFailed()
    return reply.code(204).send()
  },
})

type Found = Awaited<ReturnType<typeof currentByToken>>

/**
 * The fields of the body, the payment of its token and the payment's behaviour; without a payment that of the service.
 * The record names the payment even if the body is refused.
 */
async function readPosted(context: Context, request: FastifyRequest, refusals: Refusals) {
  let other: Parameters<ReadOther> | undefined
  const keepOther: ReadOther = (...args) => {
    other = args
    return {}
  }
  const body: Json = isForm(request)
    ? Object.fromEntries(formBody(request))
    : jsonBody(request, 'P0197', [], keepOther)
  const { one_time_token: token } = body
  const found: Found = typeof token === 'string' ? await currentByToken(context, token) : undefined
  if (found) context.recordEffects?.(found)
  const behaviour = found ? behaviourOf(found.payment) : context.config.behaviour
  const accepts = takesCardForms[behaviour] ? 'json or form' : 'json'
  const refused = refusals[behaviour]?.({ request, accepts, account: found?.account })
  if (refused) throw refused
  if (other) return { body: otherBody[behaviour].ofCard(...other), found, behaviour }
  if (blockedText[behaviour](body)) throw errors.blocked(FORBIDDEN)
  return { body, found, behaviour }
}

/**
 * Submits a card with the token of a moto_api payment. A plan decides how the payment ends, or else the card number.
 * Throws an ApiError if the token cannot be used.
 */
async function submitCard(context: Context, details: CardAuthorisation, known: Found) {
  let first = known
  async function read() {
    const found = first ?? (await currentByToken(context, details.one_time_token))
    first = undefined
    return found
  }
  let refusal: errors.ApiError | undefined
  const result = await changePayment(context, read, (found, now) => {
    if (found.given.authorisation_mode !== 'moto_api') throw errors.unknownOneTimeToken()
    if (found.card || found.token_used) throw errors.usedOneTimeToken()
    refusal = undefined
    const behaviour = behaviourOf(found)
    const isRefused = refusedNumber[behaviour](details.card_number)
    const { scenario = cardOutcome[behaviour](details.card_number) } = planOf(context, found)
    const change = isRefused
      ? pursue(found, { scenario: 'declined' }, now)
      : pursue(found, { scenario }, now, cardOf(details, behaviour))
    if (change) return isRefused ? withUsedToken(change) : change
    refusal = endedPayment[behaviour]?.(isRefused)
    if (!refusal) throw errors.unknownOneTimeToken()
    const after = { ...found, version: found.version + 1 }
    return withUsedToken({ before: found, after, at: now, sends: [] })
  })
  if (refusal) throw refusal
  if (!result) throw errors.unknownOneTimeToken()
  return result.payment
}

const withUsedToken = (change: Change): Change => ({
  ...change,
  after: { ...change.after, token_used: true },
})

function cardOf(
  { card_number, cardholder_name, expiry_date }: CardAuthorisation,
  behaviour: Behaviour,
): CardDetails {
  const card = submittedCard(card_number, keptText[behaviour](cardholder_name), expiry_date)
  return cardTypeUnknown[behaviour](card_number) ? { ...card, card_type: null } : card
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

/** Checks that all fields are texts, that none is missing, then limits. Throws the first error. `now`: milliseconds. */
function readCardAuthorisation(body: Json, behaviour: Behaviour, now: number): CardAuthorisation {
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
  const card = body as CardAuthorisation // every field has been checked to be text
  const mistake = cardMistake[behaviour](card, now)
  if (mistake) throw mistake
  try {
    new FieldReader(body, cardAuthorisation, codes).checkLimits()
  } catch (error) {
    throw error instanceof errors.ApiError ? wordedError[behaviour](error) : error
  }
  return card
}
