import { paymentNotFound } from '../../core/errors.ts'
import { oneOf } from '../../core/values.ts'
import { choices, type Payment, statuses, statusOf } from '../../pay/payments/payment.ts'
import { presentPayment } from '../../pay/payments/response.ts'
import { paymentInPath } from '../../pay/payments/routes.ts'
import type { Range } from '../../platform/database/select.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { parameter } from '../../platform/http/query.ts'
import { object } from '../../platform/http/schema.ts'
import { findPayments as findListed, findWanted } from '../lists/find-payments-store.ts'
import { completePayment as complete } from '../steer/complete.ts'
import { badField, conflict } from '../steer/errors.ts'
import { body } from '../steer/fields.ts'
import { completionFields } from '../steer/scenario-wire.ts'
import { shownPayment } from '../steer/schemas.ts'
import { defineEndpoint } from './endpoint.ts'
import { anyText, ID, wait } from './query.ts'
import { tooManyWaits } from './wait.ts'

/** The most payments that one request examines, and the most that it returns. */
const MOST_LOOKED_AT = 1_000
const MOST_RETURNED = 100

const foundPayments = object('FoundPayments', {
  results: { type: 'array', maxItems: MOST_RETURNED, items: shownPayment },
})

/** `status` also matches a payment that was in that status before, so that a test which polls misses nothing. */
export const findPayments = defineEndpoint({
  route: 'GET /control/payments',
  operationId: 'findPayments',
  summary: 'Find payments, or wait for one',
  query: {
    payment_id: anyText('This payment', ID),
    reference: anyText('Only payments with this reference, in any case', 'PITCH-41'),
    status: parameter(
      oneOf([...statuses, 'refunded']),
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
    const passed = statuses.find(known => known === status)
    const filter = { ...given, passed, refunded: status === 'refunded' }
    const part = { limit: MOST_RETURNED, order: 'newest' } as const
    const addresses = addressesOf(request, config)
    return waitFor(request, reply, { ms, nothing: { results: [] } }, async account => {
      const search = { account, now: time.now(account), filter }
      const find = (range: Range) => findListed(database, search, range, part)
      const payments = await findWanted(find, isWanted, part, MOST_LOOKED_AT)
      const results = payments.values().map(payment => presentPayment(payment, addresses))
      return { found: payments.length > 0 ? { results } : undefined }
    })
  },
})

const hasBeen = ({ events, refunded_amount }: Payment, status: string): boolean =>
  status === 'refunded' ? refunded_amount > 0 : events.some(event => event.status === status)

export const completePayment = defineEndpoint({
  route: 'POST /control/payments/{payment_id}/complete',
  operationId: 'completePayment',
  summary: 'Take a payment to its end',
  body: body('Completion', completionFields),
  description:
    'Does what a user does on the hosted pages; a moto_api payment is completed by a test card, one with an agreement by its card. Of a payment that was paid it can end the capture and the refunds that a plan holds. The response waits for the webhooks, and is that of GET /v1/payments/{payment_id}.',
  inPath: 'A payment of the account',
  response: [200, 'The payment', shownPayment],
  errors: () => [
    paymentNotFound('P0200'),
    badField('scenario', `must be one of ${choices.join(', ')}`),
    badField('capture', 'must be given alone'),
    notPossible('success'),
  ],
  async handler(context, { account, request, body }) {
    const [first, ...others] = (['scenario', 'capture', 'refund'] as const).filter(
      name => name in body,
    )
    if (others.length > 0) throw badField(first ?? '', 'must be given alone')
    const payment = await paymentInPath(request, context, 'P0200')
    const done = await complete(context, account, payment, { by: 'control', ...body })
    const ended = await paymentInPath(request, context, 'P0200')
    if (!done) throw notPossible(statusOf(ended))
    return presentPayment(ended, addressesOf(request, context.config))
  },
})

const notPossible = (status: string) => conflict(`the payment is ${status} and cannot end so`)
