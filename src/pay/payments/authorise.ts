import type { FastifyRequest } from 'fastify'
import {
  cardDeclined,
  fieldCodes,
  missing,
  notAnObject,
  outsideLimit,
  unknownOneTimeToken,
  usedOneTimeToken,
  wrongMediaType,
} from '../../core/errors.ts'
import type { AccountTime } from '../../core/ports.ts'
import { FORM_TYPE, formBody, isForm, JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { isStorable, type Json } from '../../platform/http/fields.ts'
import { noContent, requestBody } from '../../platform/http/openapi.ts'
import { type RecordEffects, recordEffectsOf } from '../../platform/http/request-state.ts'
import { DECLINED_CARD, submittedCard } from '../card.ts'
import type { Context } from '../context.ts'
import { type CardAuthorisation, cardAuthorisation, readCardAuthorisation } from './card-request.ts'
import { changePayment } from './commands.ts'
import { advance, type Payment, statusOf } from './payment.ts'
import { cardTriggers } from './scenario.ts'
import { findByToken } from './store.ts'

/** How a moto_api payment can end by its card. */
type CardScenario = 'success' | 'declined'

/** Specification, *POST /v1/auth*: completes a moto_api payment. The one-time token is the authorisation. */
export const authorise = (context: Context): Endpoint => ({
  method: 'POST',
  path: '/v1/auth',
  area: 'token',
  operationId: 'authorisePayment',
  summary: 'Complete a moto_api payment with a card',
  accepts: 'json or form',
  secretBody: true,
  docs: () => {
    const codes = fieldCodes.authorisation
    return {
      description:
        'The one_time_token is the authorisation: no API key is needed, and an Authorization header is ignored. Card 4000000000000002 is declined. Every other number of 12 to 19 digits is accepted. The response waits for the webhooks. Read the payment to see its state.',
      requestBody: requestBody(cardAuthorisation, [JSON_TYPE, FORM_TYPE]),
      responses: {
        204: noContent('The payment is success or, with delayed_capture, capturable'),
      },
      errors: [
        notAnObject('P0197'),
        unknownOneTimeToken(),
        usedOneTimeToken(),
        cardDeclined(),
        wrongMediaType(400, JSON_TYPE, FORM_TYPE),
        missing(codes, 'cvc'),
        outsideLimit(codes, 'card_number', 'must be 12 to 19 digits'),
      ],
    }
  },
  handler: async (request, reply) => {
    const body = isForm(request)
      ? Object.fromEntries(formBody(request))
      : jsonBody(request, 'P0197')
    const details = await readRecorded(context, request, body)
    const payment = await submitCard(context, details, {
      recordEffects: recordEffectsOf(request),
    })
    if (statusOf(payment) === 'failed') throw cardDeclined()
    return reply.code(204).send()
  },
})

/** A refused card is recorded with the payment of its token too. */
async function readRecorded(context: Context, request: FastifyRequest, body: Json) {
  try {
    return readCardAuthorisation(body)
  } catch (error) {
    const { one_time_token: token } = body
    const found =
      typeof token === 'string' && isStorable(token) && (await findByToken(context, token))
    if (found) recordEffectsOf(request)?.(found.account, found.payment)
    throw error
  }
}

/**
 * Submits a card with the token of a moto_api payment. The payment ends with `scenario`. Otherwise a plan may hold it or
 * set its scenario, or the card number says how it ends. Throws an ApiError if the token cannot be used.
 */
export async function submitCard(
  context: Context,
  details: CardAuthorisation,
  {
    scenario,
    recordEffects,
  }: { scenario?: CardScenario | undefined; recordEffects: RecordEffects | undefined },
): Promise<Payment> {
  const result = await changePayment(
    context,
    () => findByToken(context, details.one_time_token),
    (found, now) => {
      const isHeld = found.hold === true && context.config.control && !scenario
      return authorisation(found, details, now, { scenario, isHeld })
    },
    { recordEffects },
  )
  if (!result) throw unknownOneTimeToken()
  return result.payment
}

function authorisation(
  found: Payment,
  details: CardAuthorisation,
  now: AccountTime,
  { scenario, isHeld }: { scenario: CardScenario | undefined; isHeld: boolean },
) {
  if (found.given.authorisation_mode !== 'moto_api') throw unknownOneTimeToken()
  if (found.card) throw usedOneTimeToken()
  const card = submittedCard(details.card_number, details.cardholder_name, details.expiry_date)
  const ofNumber = details.card_number === DECLINED_CARD ? 'declined' : 'success'
  const planned =
    found.scenario === 'declined' || found.scenario === 'success' ? found.scenario : ofNumber
  const trigger = isHeld ? 'authorise_held' : cardTriggers[scenario ?? planned]
  const change = advance(found, trigger, now, card)
  if (!change) throw unknownOneTimeToken()
  return change
}
