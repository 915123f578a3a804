import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  fieldCodes,
  notRefundable,
  paymentNotFound,
  refundAmountMismatch,
  refundNotFound,
} from '../errors.ts'
import type { Farthing } from '../farthing.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { type Json, readFields } from '../http/fields.ts'
import { filters } from '../http/filters.ts'
import { createdBetween, findPage, settledBetween, where } from '../http/find-page.ts'
import { pageOf, readSearch, type SearchKind } from '../http/page.ts'
import { pathParam, resource } from '../http/resource.ts'
import { type Payment, refund as refundPayment, refundSummary } from '../payments/payment.ts'
import { findPayment } from '../payments/store.ts'
import { transition } from '../payments/transition.ts'
import { oldestKept } from '../retention.ts'
import { present, presentAll } from './present.ts'
import { newRefund } from './schema.ts'
import { findRefund, insertRefund, refundRows, refundsOf } from './store.ts'

export const refundSearch: SearchKind = {
  path: '/v1/refunds',
  codes: { invalid: 'P1101', pastEnd: 'P1100' },
  filters,
}

/** SPEC *Refund*. */
export function refundRoutes(app: FastifyInstance, farthing: Farthing): void {
  const { database, clock, newId, config } = farthing

  const find = (request: FastifyRequest): Promise<Payment | undefined> =>
    findPayment(database, request.account, pathParam(request, 'payment_id'), clock())

  resource(app, '/v1/payments/:payment_id/refunds', {
    POST: {
      operation: 'refundPayment',
      accepts: requireJson,
      handler: async (request, reply) => {
        const asked = readNewRefund(jsonBody(request, 'P0697'))
        const payment_id = pathParam(request, 'payment_id')
        const now = clock()
        const refund = {
          refund_id: newId(now),
          payment_id,
          account: request.account,
          amount: asked.amount,
        }
        const addresses = addressesOf(request, config)
        const outcome = await transition(
          farthing,
          addresses,
          () => find(request),
          payment => {
            checkRefundable(payment, asked)
            return refundPayment(payment, asked.amount, now)
          },
          [insertRefund(refund)],
        )
        if (!outcome) throw paymentNotFound('P0600')
        void reply.code(202)
        return present(refund, clock(), addresses)
      },
    },
    GET: {
      operation: 'listRefunds',
      handler: async request => {
        const payment = await find(request)
        if (!payment) throw paymentNotFound('P0800')
        const refunds = await refundsOf(database, payment.payment_id)
        return presentAll(payment.payment_id, refunds, clock(), addressesOf(request, config))
      },
    },
  })

  resource(app, '/v1/payments/:payment_id/refunds/:refund_id', {
    GET: {
      operation: 'readRefund',
      handler: async request => {
        const payment = await find(request)
        if (!payment) throw paymentNotFound('P0700')
        const refund_id = pathParam(request, 'refund_id')
        const refund = await findRefund(database, payment.payment_id, refund_id)
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
        const { total, results } = await findPage(database, refundRows, conditions, search)
        const addresses = addressesOf(request, config)
        const items = results.map(refund => present(refund, now, addresses))
        return pageOf(search, { total, results: items }, addresses.api)
      },
    },
  })
}

type Asked = { amount: number; available: number | undefined }

function readNewRefund(body: Json): Asked {
  const fields = readFields(body, newRefund, fieldCodes.refund)
  const amount = fields.pence('amount')
  fields.checkLimits(['amount'])
  return { amount, available: fields.optionalPence('refund_amount_available') }
}

/** SPEC: refunds require success, and together they never exceed the amount. */
function checkRefundable(payment: Payment, { amount, available }: Asked): void {
  const summary = refundSummary(payment)
  if (summary.status !== 'available')
    throw notRefundable(summary.status, 'its refund_summary.status must be available')
  if (available !== undefined && available !== summary.amount_available)
    throw refundAmountMismatch(summary.amount_available)
  if (amount > summary.amount_available)
    throw notRefundable('amount_not_available', `only ${summary.amount_available} pence are left`)
}
