import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import {
  cannotCancelPayment,
  cannotCapture,
  cardDeclined,
  paymentNotFound,
  unknownOneTimeToken,
  usedOneTimeToken,
} from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { formBody, isForm, jsonBody, requireJson, requireJsonOrForm } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { findPage } from '../http/find-page.ts'
import { pageOf, readSearch } from '../http/page.ts'
import { DECLINED_CARD, submittedCard } from './card.ts'
import { changePayment, createPayment } from './commands.ts'
import { advance, type Payment, statusOf, type Trigger } from './payment.ts'
import {
  type CardAuthorisation,
  checkMode,
  readCardAuthorisation,
  readIdempotencyKey,
  readNewPayment,
} from './request.ts'
import { paymentAddress, present, presentEvents, presentFound } from './response.ts'
import {
  findByToken,
  findPayment,
  paymentRows,
  paymentSearch,
  quickTotal,
  searchConditions,
} from './store.ts'

/** Specification, *POST /v1/payments* and *GET /v1/payments/{paymentId}*, and the search and the links of a payment. */
export function paymentRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, config } = farthing
  const addresses = (request: FastifyRequest) => addressesOf(request, config)

  resource(app, '/v1/payments', {
    POST: {
      operation: 'createPayment',
      accepts: requireJson,
      handler: async (request, reply) => {
        const given = readNewPayment(jsonBody(request, 'P0197'))
        const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key'])
        checkMode(given)
        const { account } = request
        const at = addresses(request)
        const payment = await createPayment(farthing, at, { account, given, idempotencyKey })
        void reply.code(201).header('location', paymentAddress(payment.payment_id, at))
        return present(payment, at)
      },
    },
    GET: {
      operation: 'searchPayments',
      handler: async request => {
        const search = readSearch(request.query, paymentSearch)
        const now = clock()
        const conditions = searchConditions(search, request.account, now)
        const quick = quickTotal(search, request.account, now)
        const found = await findPage(database, paymentRows, conditions, search, quick)
        return pageOf(search, found, addresses(request), presentFound)
      },
    },
  })

  resource(app, '/v1/payments/:payment_id', {
    GET: {
      operation: 'readPayment',
      handler: async request =>
        present(await paymentInPath(request, farthing, 'P0200'), addresses(request)),
    },
  })

  resource(app, '/v1/payments/:payment_id/events', {
    GET: {
      operation: 'listPaymentEvents',
      handler: async request =>
        presentEvents(await paymentInPath(request, farthing, 'P0300'), addresses(request)),
    },
  })

  resource(app, '/v1/payments/:payment_id/cancel', {
    POST: {
      operation: 'cancelPayment',
      handler: async (request, reply) => {
        await move(request, farthing, 'cancel', 'P0500', cannotCancelPayment)
        return reply.code(204).send()
      },
    },
  })

  resource(app, '/v1/payments/:payment_id/capture', {
    POST: {
      operation: 'capturePayment',
      handler: async (request, reply) => {
        await move(request, farthing, 'capture', 'P1000', cannotCapture)
        return reply.code(204).send()
      },
    },
  })
}

/** Moves the payment that the path names. `refuse` makes the error for a status that has no such transition. */
async function move(
  request: FastifyRequest,
  farthing: Farthing,
  trigger: Trigger,
  unknown: 'P0500' | 'P1000',
  refuse: (status: string) => Error,
): Promise<void> {
  await changePayment(
    farthing,
    addressesOf(request, farthing.config),
    () => paymentInPath(request, farthing, unknown),
    payment => {
      const change = advance(payment, trigger, farthing.clock())
      if (!change) throw refuse(statusOf(payment))
      return change
    },
  )
}

/** The payment that the path names. Throws a 404 with `code` when the account has no such payment. */
export async function paymentInPath(
  request: FastifyRequest,
  { database, clock }: Farthing,
  code: Parameters<typeof paymentNotFound>[0],
): Promise<Payment> {
  const payment_id = pathParam(request, 'payment_id')
  const payment = await findPayment(database, request.account, payment_id, clock())
  if (!payment) throw paymentNotFound(code)
  return payment
}

/** Specification, *POST /v1/auth*: completes a moto_api payment. The one-time token replaces the API key. */
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
        const result = await changePayment(
          farthing,
          addressesOf(request, config),
          () => findByToken(database, given.one_time_token, clock()),
          payment => authorise(payment, given, declined, clock()),
        )
        if (!result) throw unknownOneTimeToken()
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
