import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { notRefundable, paymentNotFound, refundAmountMismatch, refundNotFound } from '../errors.ts'
import { type Addresses, addressesOf } from '../http/addresses.ts'
import { jsonBody, requireJson } from '../http/body.ts'
import { pathParam, resource } from '../http/endpoint.ts'
import { createdBetween, findPage, settledBetween, where } from '../http/find-page.ts'
import { pageOf, readSearch, type SearchKind } from '../http/page.ts'
import { filters } from '../http/search.ts'
import { changePayment } from '../payments/commands.ts'
import { type Payment, refund as refundPayment, refundSummary } from '../payments/payment.ts'
import { paymentInPath } from '../payments/routes.ts'
import { findPayment } from '../payments/store.ts'
import { oldestKept } from '../retention.ts'
import { type NewRefund, type Refund, refundProblem } from './refund.ts'
import { findRefund, insertRefund, refundRows, refundsOf } from './store.ts'
import { present, presentAll, readNewRefund } from './wire.ts'

export const refundSearch: SearchKind = {
  path: '/v1/refunds',
  codes: { invalid: 'P1101', pastEnd: 'P1100' },
  filters,
}

/** Specification, *Other resources*: refunds. */
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

/** Resolves once the webhook messages were delivered. Throws an ApiError when the payment does not allow it. */
async function createRefund(
  farthing: Farthing,
  addresses: Addresses,
  account: string,
  payment_id: string,
  asked: NewRefund,
): Promise<Refund> {
  const { database, clock, newId } = farthing
  const now = clock()
  const refund = { refund_id: newId(now), payment_id, account, amount: asked.amount }
  const result = await changePayment(
    farthing,
    addresses,
    () => findPayment(database, account, payment_id, clock()),
    payment => {
      checkRefundable(payment, asked)
      return refundPayment(payment, asked.amount, now)
    },
    [insertRefund(refund)],
  )
  if (!result) throw paymentNotFound('P0600')
  return refund
}

function checkRefundable(payment: Payment, asked: NewRefund): void {
  const { status, amount_available } = refundSummary(payment)
  const problem = refundProblem(payment, asked)
  if (problem === 'wrong_status')
    throw notRefundable(status, 'its refund_summary.status must be available')
  if (problem === 'wrong_available') throw refundAmountMismatch(amount_available)
  if (problem === 'exceeds_available')
    throw notRefundable('amount_not_available', `only ${amount_available} pence are left`)
}
