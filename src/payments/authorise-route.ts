import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { cardDeclined, unknownOneTimeToken, usedOneTimeToken } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { formBody, isForm, jsonBody, requireJsonOrForm } from '../http/body.ts'
import { resource } from '../http/endpoint.ts'
import { DECLINED_CARD, submittedCard } from './card.ts'
import { advance, type Payment } from './payment.ts'
import { type CardAuthorisation, readCardAuthorisation } from './request.ts'
import { findByToken } from './store.ts'
import { transition } from './transition.ts'

/** SPEC *POST /v1/auth*: completes a moto_api payment; the one-time token is the authorisation. */
export function authoriseRoute(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, config } = farthing
  resource(app, '/v1/auth', {
    POST: {
      operation: 'authorisePayment',
      accepts: requireJsonOrForm,
      handler: async (request, reply) => {
        const body = isForm(request)
          ? Object.fromEntries(formBody(request))
          : jsonBody(request, 'P0197')
        const given = readCardAuthorisation(body)
        const declined = given.card_number === DECLINED_CARD
        const outcome = await transition(
          farthing,
          addressesOf(request, config),
          () => findByToken(database, given.one_time_token, clock()),
          payment => authorise(payment, given, declined, clock()),
        )
        if (!outcome) throw unknownOneTimeToken()
        if (declined) throw cardDeclined()
        return reply.code(204).send()
      },
    },
  })
}

function authorise(payment: Payment, given: CardAuthorisation, declined: boolean, now: number) {
  if (payment.given.authorisation_mode !== 'moto_api') throw unknownOneTimeToken()
  if (payment.card) throw usedOneTimeToken()
  const card = submittedCard(given.card_number, given.cardholder_name, given.expiry_date)
  const change = advance(payment, declined ? 'authorise_declined' : 'authorise', now, card)
  if (!change) throw unknownOneTimeToken()
  return change
}
