import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Farthing } from '../context.ts'
import { cannotCancelPayment, cannotCapture } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { resource } from '../http/endpoint.ts'
import { findPage } from '../http/find-page.ts'
import { pageOf, readSearch } from '../http/page.ts'
import { createPayment } from './commands.ts'
import { paymentInPath } from './in-path.ts'
import { advance, statusOf, type Trigger } from './payment.ts'
import { checkMode, readIdempotencyKey, readNewPayment } from './request.ts'
import { paymentAddress, present, presentEvents, presentFound } from './response.ts'
import { paymentSearch, quickTotal, searchConditions } from './search.ts'
import { paymentRows } from './store.ts'
import { transition } from './transition.ts'

/** SPEC *POST /v1/payments*, *GET /v1/payments/{paymentId}* and what a payment's links lead to. */
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

/** Moves the payment in the path; the error where its state does not allow that is made by `refuse`. */
async function move(
  request: FastifyRequest,
  farthing: Farthing,
  trigger: Trigger,
  unknown: 'P0500' | 'P1000',
  refuse: (status: string) => Error,
): Promise<void> {
  await transition(
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
