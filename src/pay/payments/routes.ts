import type { FastifyRequest } from 'fastify'
import type { Behaviour } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import type { Database } from '../../core/ports.ts'
import { findPage } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { JSON_TYPE } from '../../platform/http/body.ts'
import { api, type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import { PENCE_RULE } from '../../platform/http/fields.ts'
import { longJson } from '../../platform/http/long-json.ts'
import {
  header,
  json,
  noContent,
  pathParameter,
  requestBody,
  searchDocs,
} from '../../platform/http/openapi.ts'
import { recordEffectsOf } from '../../platform/http/request-state.ts'
import { pageOf, readSearch } from '../../platform/http/search.ts'
import { type Context, contextOf } from '../context.ts'
import { oldestWithKey, unknownSetUp, usedKey } from '../differences/creating.ts'
import { wordsOf } from '../differences/difference.ts'
import { otherBody, wordedError } from '../differences/errors.ts'
import { pageLinks } from '../differences/reading.ts'
import { chargeDelay, eventsOfRefunds, secondCapture } from '../differences/states.ts'
import { bodyOf, type Refusals } from '../refusals.ts'
import { resultPage } from '../result-page.ts'
import { daysKept, paymentNotFound } from '../retention.ts'
import { authorise } from './authorise.ts'
import { capturePayment, createPayment, movePayment, type ScenariosOf } from './commands.ts'
import { currentPayment } from './due-steps.ts'
import { checkLeastAmount, checkMode, checkReturnUrl } from './mode.ts'
import { beforeCharge, behaviourOf, type Payment } from './payment.ts'
import { paymentAt, type Refund } from './refund.ts'
import { askedIn, findRepeated } from './repeat.ts'
import { idempotencyKey, newPayment, readIdempotencyKey, readNewPayment } from './request.ts'
import {
  foundPaymentIn,
  paymentAddress,
  paymentIn,
  presentFound,
  presentPayment,
} from './response.ts'
import { eventsWith, paymentEvents, presentEvents } from './response-events.ts'
import { paymentSearches, quickTotal, searchConditions } from './search-store.ts'
import { paymentRows } from './store.ts'

/** Specification, *Endpoints*: payments, the targets of their links, and POST /v1/auth. */
export const paymentEndpoints = (
  context: Context,
  scenariosOf: ScenariosOf,
  refundsOf: RefundsOf,
  refusals: Refusals,
): Endpoint[] => [
  create(context, scenariosOf),
  search(context),
  read(context),
  listEvents(context, refundsOf),
  cancel(context),
  capture(context, scenariosOf),
  authorise(context, refusals),
]

export const paymentId = (behaviour: Behaviour) =>
  pathParameter('payment_id', `A payment of the account from the last ${daysKept(behaviour)} days`)

const codes = errors.fieldCodes.payment

const keyParameter = (behaviour: Behaviour) => ({
  name: 'Idempotency-Key',
  in: 'header' as const,
  description: `Ensures that a payment is created only once. The second use: ${wordsOf(usedKey, behaviour)} The key is kept: ${wordsOf(oldestWithKey, behaviour)} A request that is refused with 4xx uses no key up, unless a plan refuses it after it was done. After a 5xx, or without a response, the payment may exist: send the request again, and the answer says whether it does`,
  schema: { ...idempotencyKey, examples: ['boat-1187-try-1'] },
})

const ORDER_OF_CHECKS =
  'Checks run in this order: the type of every field, and whether agreement_id and agreement_payment_type belong to the mode; every limit; the format of the Idempotency-Key; what the authorisation_mode requires and forbids; whether the key was used. The response reports the first problem found.'

const create = (context: Context, scenariosOf: ScenariosOf): Endpoint => ({
  ...api('POST', '/v1/payments', 'createPayment', 'Create a payment'),
  accepts: 'json',
  docs: behaviour => ({
    description: `In web mode, send the user's browser to \`next_url\`, and read the payment when the browser is back at \`return_url\`. In moto_api mode, post the card to \`/v1/auth\` with the one_time_token of \`auth_url_post\`. A payment in agreement mode: ${wordsOf(chargeDelay, behaviour)}\n\n${ORDER_OF_CHECKS}`,
    parameters: [keyParameter(behaviour)],
    requestBody: requestBody(newPayment),
    responses: {
      ...(usedKey[behaviour]('agreement') === 'repeats' && {
        200: json('The payment that the same request has created', paymentIn[behaviour]),
      }),
      201: json('The payment', paymentIn[behaviour], {
        Location: header('The address of the payment', { format: 'uri' }),
      }),
    },
    errors: [
      errors.missing(codes, 'amount'),
      errors.invalid(codes, 'amount', PENCE_RULE),
      errors.unknownAgreement(),
      unknownSetUp[behaviour](),
      wordedError[behaviour](
        errors.notAllowed('return_url', 'when authorisation_mode is moto_api'),
      ),
      ...otherBody[behaviour].errors('P0197'),
      wordedError[behaviour](errors.idempotencyKeyUsed()),
      errors.wrongMediaType(400, JSON_TYPE),
      errors.outsideLimit(
        codes,
        'amount',
        `must be at most ${newPayment.properties.amount.maximum}`,
      ),
      errors.badIdempotencyKey(),
    ],
  }),
  handler: async (request, reply) => {
    const { account } = request
    const rules = { ...context.config, behaviour: account.behaviour }
    const body = bodyOf(request, 'P0197', ['amount'])
    const given = readNewPayment(body, account.behaviour)
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    checkReturnUrl(given, rules)
    const addresses = addressesOf(request, context.config)
    const own = contextOf(request, context)
    const asked = key && askedIn(given, body, account.behaviour)
    const first = asked && (await findRepeated(own, { account, key, asked }))
    if (first) return presentPayment(first, addresses)
    checkMode(given, rules)
    checkLeastAmount(given, account.behaviour)
    const created = await createPayment(own, {
      account,
      address: addresses.api,
      given,
      idempotencyKey: key,
      asked,
      scenarios: scenariosOf(request),
    })
    void reply.code(201).header('location', paymentAddress(created.payment_id, addresses))
    return presentPayment(beforeCharge(created), addresses)
  },
})

const search = ({ database, time, config }: Context): Endpoint => ({
  ...api('GET', '/v1/payments', 'searchPayments', 'Search payments'),
  search: paymentSearches.specification,
  docs: behaviour => ({
    description: `The account's payments of the last ${daysKept(behaviour)} days, newest first. Blank parameters count as absent; of a repeated one the first counts. Payments are never settled, so a filter on the settled date finds nothing.`,
    ...searchDocs(paymentSearches.specification, resultPage(foundPaymentIn[behaviour], behaviour), [
      'state',
      'from_date',
    ]),
  }),
  handler: async request => {
    const { account } = request
    const query = readSearch(request.query, paymentSearches[account.behaviour])
    const now = time.now(account)
    const conditions = searchConditions(query, account, now)
    const total = quickTotal(query, account, now)
    const result = await findPage(database, paymentRows, conditions, { ...query, total })
    const page = pageOf(query, result, addressesOf(request, config), (payment, addresses) =>
      presentFound(paymentAt(payment, now), addresses),
    )
    return pageLinks[account.behaviour].print(page)
  },
})

const read = (context: Context): Endpoint => ({
  ...api('GET', '/v1/payments/{payment_id}', 'readPayment', 'Read a payment'),
  docs: behaviour => ({
    parameters: [paymentId(behaviour)],
    responses: { 200: json('The payment', paymentIn[behaviour]) },
    errors: [paymentNotFound('P0200', behaviour)],
  }),
  handler: async request => {
    const found = await paymentInPath(request, context, 'P0200')
    return presentPayment(found, addressesOf(request, context.config))
  },
})

/** All refunds of a payment, oldest first. */
type RefundsOf = (database: Database, payment_id: string) => AsyncIterable<Refund>

const listEvents = (context: Context, refundsOf: RefundsOf): Endpoint => ({
  ...api(
    'GET',
    '/v1/payments/{payment_id}/events',
    'listPaymentEvents',
    'Read the history of a payment',
  ),
  docs: behaviour => ({
    description: `Refunds: ${wordsOf(eventsOfRefunds, behaviour)}`,
    parameters: [paymentId(behaviour)],
    responses: { 200: json('Every state that it has had', paymentEvents) },
    errors: [paymentNotFound('P0300', behaviour)],
  }),
  handler: async (request, reply) => {
    const found = await paymentInPath(request, context, 'P0300')
    const addresses = addressesOf(request, context.config)
    const { payment_id } = found
    if (eventsOfRefunds[behaviourOf(found)] === 'absent') return presentEvents(found, addresses)
    const refunds = refundsOf(context.database, payment_id)
    const now = context.time.now(request.account)
    const events = presentEvents(found, addresses, eventsWith(refunds, behaviourOf(found), now))
    return longJson(events, request, reply)
  },
})

const cancel = (context: Context): Endpoint => ({
  ...api('POST', '/v1/payments/{payment_id}/cancel', 'cancelPayment', 'Cancel a payment'),
  docs: behaviour => ({
    description:
      'Allowed until it has ended, but not while a payment with an agreement waits for its charge. It becomes cancelled, with the code P0040. A body is ignored.',
    parameters: [paymentId(behaviour)],
    responses: { 204: noContent('It is cancelled') },
    errors: [errors.cannotCancelPayment('success'), paymentNotFound('P0500', behaviour)],
  }),
  handler: async (request, reply) => {
    const read = reading(request, context, 'P0500')
    await movePayment(contextOf(request, context), read, 'cancel', errors.cannotCancelPayment)
    return reply.code(204).send()
  },
})

const capture = (context: Context, scenariosOf: ScenariosOf): Endpoint => ({
  ...api('POST', '/v1/payments/{payment_id}/capture', 'capturePayment', 'Capture a payment'),
  docs: behaviour => ({
    description: `Allowed while its status is capturable, which a payment with \`delayed_capture\` reaches when it is authorised. It becomes success. A second capture: ${wordsOf(secondCapture, behaviour)} A body is ignored.`,
    parameters: [paymentId(behaviour)],
    responses: { 204: noContent('It is captured') },
    errors: [paymentNotFound('P1000', behaviour), errors.cannotCapture('success')],
  }),
  handler: async (request, reply) => {
    const read = reading(request, context, 'P1000')
    await capturePayment(contextOf(request, context), read, scenariosOf(request))
    return reply.code(204).send()
  },
})

const reading =
  (request: FastifyRequest, context: Context, unknown: 'P0500' | 'P1000') => async () => ({
    account: request.account,
    payment: await paymentInPath(request, context, unknown),
  })

/** The payment in the path. Throws the endpoint's error when the account has no such payment. */
export async function paymentInPath(
  request: FastifyRequest,
  context: Context,
  code: Parameters<typeof paymentNotFound>[0],
): Promise<Payment> {
  const { account } = request
  const payment_id = pathParam(request, 'payment_id')
  const found = await currentPayment(context, account, payment_id)
  if (!found) throw paymentNotFound(code, account.behaviour)
  recordEffectsOf(request)?.({ account, payment: found })
  return found
}
