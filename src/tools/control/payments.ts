import { paymentNotFound, unknownOneTimeToken, usedOneTimeToken } from '../../core/errors.ts'
import { completeByScenario } from '../../pay/payments/complete.ts'
import {
  isFinished,
  type Payment,
  scenarios,
  statuses,
  statusOf,
} from '../../pay/payments/payment.ts'
import { payment as paymentBody, presentPayment } from '../../pay/payments/response.ts'
import { paymentInPath } from '../../pay/payments/routes.ts'
import type { Range } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { oneOf } from '../../platform/http/query.ts'
import { object } from '../../platform/http/schema.ts'
import { findPayments as findListed, findWanted } from '../lists/find-payments-store.ts'
import { recordAction } from '../record/action.ts'
import { defineEndpoint } from './endpoint.ts'
import { badField, conflict } from './errors.ts'
import { body } from './fields.ts'
import { anyText, ID, wait } from './query.ts'
import { completionFields, wantedOf } from './scenario-wire.ts'
import { tooManyWaits } from './wait.ts'

/** The most payments that one request examines, and the most that it returns. */
const MOST_LOOKED_AT = 1_000
const MOST_RETURNED = 100

const foundPayments = object('FoundPayments', {
  results: { type: 'array', maxItems: MOST_RETURNED, items: paymentBody },
})

/**
 * The newest payments that match. `status` also matches a payment that was in that status before, so that a test
 * which polls misses nothing. With `wait` the response is held until a payment matches.
 */
export const findPayments = defineEndpoint({
  method: 'GET',
  path: '/control/payments',
  operationId: 'findPayments',
  summary: 'Find payments, or wait for one',
  query: {
    payment_id: anyText('This payment', ID),
    reference: anyText('Only payments with this reference, in any case', 'PITCH-41'),
    status: oneOf(
      [...statuses, 'refunded'],
      'Only payments that are or were in this status; `refunded` once something was refunded',
    ),
    wait,
  },
  description: `At most ${MOST_RETURNED}, newest first. With \`wait\` the response is held until one matches.`,
  response: [200, 'The payments', foundPayments],
  errors: () => [badField('wait', `must be ${wait.rule}`), tooManyWaits()],
  handler({ database, time, config, waitFor }, { query, request, reply }) {
    const { wait: ms = 0, status, ...given } = query
    const isWanted = (payment: Payment) => status === undefined || hasBeen(payment, status)
    const passed = statuses.find(each => each === status)
    const filter = { ...given, passed, refunded: status === 'refunded' }
    const part = { limit: MOST_RETURNED, order: 'newest' } as const
    const addresses = addressesOf(request, config)
    return waitFor(request, reply, { ms, nothing: { results: [] } }, async account => {
      const search = { room: account.room, now: time.now(account), filter }
      const find = (range: Range) => findListed(database, search, range, part)
      const payments = await findWanted(find, {}, part, isWanted, MOST_LOOKED_AT)
      const results = payments.values().map(payment => presentPayment(payment, addresses))
      return { found: payments.length > 0 ? { results } : undefined }
    })
  },
})

const hasBeen = ({ events, refunded_amount }: Payment, status: string): boolean =>
  status === 'refunded' ? refunded_amount > 0 : events.some(event => event.status === status)

/** Takes a payment through its scenario, as its pages would. The response is that of GET /v1/payments/{payment_id}. */
export const completePayment = defineEndpoint({
  method: 'POST',
  path: '/control/payments/{payment_id}/complete',
  operationId: 'completePayment',
  summary: 'Take a payment to its end',
  body: body('Completion', {}, completionFields),
  description:
    'Does what a user does on the hosted pages; a moto_api payment is completed by a test card. It also ends a payment that a plan holds, and `expired` ends every payment that is not finished. The response waits for the webhooks, and is that of GET /v1/payments/{payment_id}.',
  inPath: 'A payment of the account',
  response: [200, 'The payment', paymentBody],
  errors: () => [
    paymentNotFound('P0200'),
    unknownOneTimeToken(),
    usedOneTimeToken(),
    badField('scenario', `must be one of ${scenarios.join(', ')}`),
    completed('success'),
  ],
  async handler(context, { request, body }) {
    const { can_retry, ...wanted } = wantedOf(body)
    const payment = await paymentInPath(request, context, 'P0200')
    const planned = payment.hold ? payment.scenario : undefined
    const scenario = wanted.scenario ?? planned ?? 'success'
    const status = statusOf(payment)
    if (isFinished(status) || (status === 'capturable' && scenario !== 'expired'))
      throw completed(status)
    const reason = await recordAction(
      context,
      { by: 'control', operation: 'completePayment', detail: () => `scenario=${scenario}` },
      context => completeByScenario(context, payment, { scenario, can_retry }),
    )
    if (reason) throw conflict(reason)
    const ended = await paymentInPath(request, context, 'P0200')
    return presentPayment(ended, addressesOf(request, context.config))
  },
})

const completed = (status: string) =>
  conflict(`the payment is ${status} and cannot be completed again`)
