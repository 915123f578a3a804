import type { FastifyRequest } from 'fastify'
import type { Behaviour } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import { findPage, where } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { JSON_TYPE } from '../../platform/http/body.ts'
import { api, type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import { PENCE_RULE } from '../../platform/http/fields.ts'
import { json, pathParameter, requestBody, searchDocs } from '../../platform/http/openapi.ts'
import {
  createdBetween,
  filters,
  pageOf,
  readSearch,
  type SearchKind,
  settledBetween,
} from '../../platform/http/search.ts'
import { type Context, contextOf } from '../context.ts'
import { otherBody, unknownRefunded } from '../differences/errors.ts'
import { findsFromDate } from '../differences/searching.ts'
import type { ScenariosOf } from '../payments/commands.ts'
import { behaviourOf } from '../payments/payment.ts'
import { paymentId, paymentInPath } from '../payments/routes.ts'
import { bodyOf } from '../refusals.ts'
import { resultPage, shownPage } from '../result-page.ts'
import { daysKept, oldestKept, paymentNotFound } from '../retention.ts'
import { createRefund } from './commands.ts'
import { allRefundsOf, findRefund, refundRows } from './store.ts'
import {
  createdRefund,
  newRefund,
  presentAll,
  presentCreated,
  presentFound,
  presentRefund,
  readNewRefund,
  refundIn,
  refundsOfPayment,
} from './wire.ts'

const refundSearch: SearchKind = {
  path: '/v1/refunds',
  codes: { invalid: 'P1101', pastEnd: 'P1100' },
  filters,
}

/** Specification, *Other resources*: refunds. */
export const refundEndpoints = (context: Context, scenariosOf: ScenariosOf): Endpoint[] => [
  create(context, scenariosOf),
  list(context),
  read(context),
  search(context),
]

const codes = errors.fieldCodes.refund

const create = (context: Context, scenariosOf: ScenariosOf): Endpoint => ({
  ...api('POST', '/v1/payments/{payment_id}/refunds', 'refundPayment', 'Refund a payment'),
  accepts: 'json',
  docs: behaviour => ({
    description:
      'Refunds all of it or a part, as often as something is left. The payment stays success, and its refund_summary changes at once.',
    parameters: [paymentId(behaviour)],
    requestBody: requestBody(newRefund),
    responses: { 202: json('The refund', createdRefund) },
    errors: [
      errors.missing(codes, 'amount'),
      errors.invalid(codes, 'amount', PENCE_RULE),
      errors.notRefundable('pending', 'its refund_summary.status must be available'),
      ...otherBody[behaviour].errors('P0697'),
      ...[true, false].map(isExpected =>
        paymentNotFound(unknownRefunded[behaviour](isExpected), behaviour),
      ),
      errors.refundAmountMismatch(7000),
      errors.wrongMediaType(400, JSON_TYPE),
      errors.outsideLimit(codes, 'amount', 'must be at least 1'),
    ],
  }),
  handler: async (request, reply) => {
    const { account } = request
    const body = bodyOf(request, 'P0697', ['amount'])
    const refund = readNewRefund(body, account.behaviour)
    const payment_id = pathParam(request, 'payment_id')
    const scenarios = scenariosOf(request)
    const own = contextOf(request, context)
    const created = await createRefund(own, { account, payment_id, refund, scenarios })
    void reply.code(202)
    return presentCreated(created, shownTo(request, context, created.behaviour))
  },
})

const shownTo = (request: FastifyRequest, { time, config }: Context, behaviour: Behaviour) => ({
  behaviour,
  now: time.now(request.account),
  addresses: addressesOf(request, config),
})

const list = (context: Context): Endpoint => ({
  ...api(
    'GET',
    '/v1/payments/{payment_id}/refunds',
    'listRefunds',
    'List the refunds of a payment',
  ),
  isLong: true,
  docs: behaviour => ({
    parameters: [paymentId(behaviour)],
    responses: { 200: json('All of them, oldest first', refundsOfPayment(behaviour)) },
    errors: [paymentNotFound('P0800', behaviour)],
  }),
  handler: async request => {
    const payment = await paymentInPath(request, context, 'P0800')
    const { payment_id } = payment
    const shown = shownTo(request, context, behaviourOf(payment))
    async function* refunds() {
      for await (const refund of allRefundsOf(context.database, payment_id))
        yield presentRefund(refund, shown)
    }
    return presentAll(payment_id, refunds(), shown.addresses)
  },
})

const read = (context: Context): Endpoint => ({
  ...api('GET', '/v1/payments/{payment_id}/refunds/{refund_id}', 'readRefund', 'Read a refund'),
  docs: behaviour => ({
    parameters: [paymentId(behaviour), pathParameter('refund_id', 'A refund of this payment')],
    responses: { 200: json('The refund', refundIn[behaviour]) },
    errors: [errors.refundNotFound()],
  }),
  handler: async request => {
    const payment = await paymentInPath(request, context, 'P0700')
    const refund_id = pathParam(request, 'refund_id')
    const found = await findRefund(context.database, payment.payment_id, refund_id)
    if (!found) throw errors.refundNotFound()
    return presentRefund(found, shownTo(request, context, behaviourOf(payment)))
  },
})

const search = (context: Context): Endpoint => ({
  ...api('GET', '/v1/refunds', 'searchRefunds', 'Search refunds'),
  search: refundSearch,
  docs: behaviour => ({
    description: `The refunds of the account's payments of the last ${daysKept(behaviour)} days, newest first. Payments are never settled, so a filter on the settled date finds nothing.`,
    ...searchDocs(refundSearch, resultPage(refundIn[behaviour], behaviour), ['to_date']),
  }),
  handler: async request => {
    const query = readSearch(request.query, refundSearch)
    const { behaviour, room } = request.account
    const shown = shownTo(request, context, behaviour)
    const conditions = [
      where('account = ?', room),
      where('payment_id >= ?', oldestKept(shown.now, behaviour)),
      ...createdBetween(query, 'refund_id', findsFromDate[behaviour]),
      ...settledBetween(query),
    ]
    const result = await findPage(context.database, refundRows, conditions, query)
    const page = pageOf(query, result, shown.addresses, (refund, addresses) =>
      presentFound(refund, { ...shown, addresses }),
    )
    return shownPage(page, behaviour)
  },
})
