import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { fieldCodes, refundNotFound } from '../errors.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { type Json, readFields } from '../http/fields.ts'
import { createdBetween, findPage, settledBetween, where } from '../http/find-page.ts'
import { pageOf, readSearch, type SearchKind } from '../http/page.ts'
import { filters } from '../http/search.ts'
import { paymentInPath } from '../payments/routes.ts'
import { oldestKept } from '../retention.ts'
import { type Asked, createRefund } from './create.ts'
import { newRefund } from './schema.ts'
import { findRefund, refundRows, refundsOf } from './store.ts'
import { present, presentAll } from './wire.ts'

export const refundSearch: SearchKind = {
  path: '/v1/refunds',
  codes: { invalid: 'P1101', pastEnd: 'P1100' },
  filters,
}

/** SPEC *Refund*. */
export function refundRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, config } = farthing

  resource(app, '/v1/payments/:payment_id/refunds', {
    POST: {
      operation: 'refundPayment',
      accepts: requireJson,
      handler: async (request, reply) => {
        const asked = readNewRefund(jsonBody(request, 'P0697'))
        const addresses = addressesOf(request, config)
        const payment_id = pathParam(request, 'payment_id')
        const refund = await createRefund(farthing, addresses, request.account, payment_id, asked)
        void reply.code(202)
        return present(refund, clock(), addresses)
      },
    },
    GET: {
      operation: 'listRefunds',
      handler: async request => {
        const { payment_id } = await paymentInPath(request, farthing, 'P0800')
        const refunds = await refundsOf(database, payment_id)
        return presentAll(payment_id, refunds, clock(), addressesOf(request, config))
      },
    },
  })

  resource(app, '/v1/payments/:payment_id/refunds/:refund_id', {
    GET: {
      operation: 'readRefund',
      handler: async request => {
        const { payment_id } = await paymentInPath(request, farthing, 'P0700')
        const refund = await findRefund(database, payment_id, pathParam(request, 'refund_id'))
        if (!refund) throw refundNotFound()
        return present(refund, clock(), addressesOf(request, config))
      },
    },
  })

  resource(app, '/v1/refunds', {
    GET: {
      operation: 'searchRefunds',
      handler: async request => {
        const search = readSearch(request.query, refundSearch)
        const now = clock()
        const conditions = [
          where('account = ?', request.account),
          where('payment_id >= ?', oldestKept(now)),
          ...createdBetween(search, 'refund_id'),
          ...settledBetween(search),
        ]
        const found = await findPage(database, refundRows, conditions, search)
        return pageOf(search, found, addressesOf(request, config), (refund, addresses) =>
          present(refund, now, addresses),
        )
      },
    },
  })
}

function readNewRefund(body: Json): Asked {
  const fields = readFields(body, newRefund, fieldCodes.refund)
  const amount = fields.pence('amount')
  fields.checkLimits()
  return { amount, available: fields.optionalPence('refund_amount_available') }
}
