import type { Context } from '../context.ts'
import { complete, type Visit } from '../hosted/journey.ts'
import { siteOf } from '../hosted/routes.ts'
import { type Addresses, addressesOf } from '../http/addresses.ts'
import { submitCard } from '../payments/authorise.ts'
import { DECLINED_CARD, MOCK_CARD } from '../payments/card.ts'
import { listPayments } from '../payments/list-store.ts'
import {
  isPayable,
  mockCardOf,
  type Payment,
  type Scenario,
  scenarios,
  statuses,
  statusOf,
  tokenOf,
} from '../payments/payment.ts'
import { present } from '../payments/response.ts'
import { paymentInPath } from '../payments/routes.ts'
import { recordAction } from '../recorder/action.ts'
import type { Note } from '../recorder/note.ts'
import { readBody } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField, conflict } from './errors.ts'
import { oneOf, readQuery, text, wait } from './query.ts'
import type { WaitFor } from './wait.ts'

/** The most payments that one request examines, and the most that it returns. */
const MOST_LOOKED_AT = 1_000
const MOST_RETURNED = 100

const known = { payment_id: text, reference: text, status: oneOf([...statuses, 'refunded']), wait }

/**
 * The newest payments that match. `status` also matches a payment that was in that status before, so that a test
 * which polls misses nothing. With `wait` the response is held until a payment matches.
 */
export const findPayments = (context: Context, waitFor: WaitFor): ControlEndpoint => ({
  method: 'GET',
  path: '/control/payments',
  operationId: 'findPayments',
  summary: 'Find payments, or wait for one',
  query: known,
  handler: async request => {
    const { database, time, config } = context
    const { wait: ms = 0, status, ...which } = readQuery(request, known)
    const found = await waitFor(request, ms, async account => {
      const newest = await listPayments(database, account.room, which, {
        now: time.now(account),
        limit: MOST_LOOKED_AT,
        order: 'newest',
      })
      return status === undefined ? newest : newest.filter(payment => hasBeen(payment, status))
    })
    const addresses = addressesOf(request, config)
    return { results: found.slice(0, MOST_RETURNED).map(payment => present(payment, addresses)) }
  },
})

const hasBeen = ({ events, refunded_amount }: Payment, status: string): boolean =>
  status === 'refunded' ? refunded_amount > 0 : events.some(event => event.status === status)

/** Takes a payment through its scenario, as its pages would. The response is that of GET /v1/payments/{payment_id}. */
export const completePayment = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/payments/{payment_id}/complete',
  operationId: 'completePayment',
  summary: 'Set the outcome of a payment',
  accepts: 'json',
  handler: async request => {
    const { scenario: asked = 'success' } = readBody(request, ['scenario'])
    const scenario = readScenario(asked)
    const payment = await paymentInPath(request, context, 'P0200')
    const status = statusOf(payment)
    if (!isPayable(status)) throw conflict(`the payment is ${status} and cannot be completed again`)
    const addresses = addressesOf(request, context.config)
    await recordAction(
      context,
      { by: 'control', operation: 'completePayment', detail: () => `scenario=${scenario}` },
      note => walk(context, addresses, payment, { scenario, note }),
    )
    return present(await paymentInPath(request, context, 'P0200'), addresses)
  },
})

/** `note` takes what it causes. */
type Walk = { scenario: Scenario; note: Note }

/** Takes a payment that has not ended through its scenario. Throws an ApiError if another request ends it first. */
export async function walk(
  context: Context,
  addresses: Addresses,
  payment: Payment,
  { scenario, note }: Walk,
): Promise<void> {
  const token = tokenOf(payment)
  if (payment.given.authorisation_mode !== 'web')
    return completeByCard(context, addresses, payment, { scenario, note })
  const visit: Visit = { ...siteOf(context.config), context, addresses, token, hidden: false, note }
  const result = await complete(visit, scenario)
  if (!result?.moved) throw conflict('another request ended the payment meanwhile: read it')
}

export function readScenario(scenario: unknown): Scenario {
  const found = scenarios.find(each => each === scenario)
  if (found === undefined) throw badField('scenario', `must be one of ${scenarios.join(', ')}`)
  return found
}

/** A moto_api payment is completed by a test card. */
async function completeByCard(
  context: Context,
  addresses: Addresses,
  payment: Payment,
  { scenario, note }: Walk,
): Promise<void> {
  if (scenario === 'error' || scenario === 'cancel')
    throw conflict(`a moto_api payment cannot end with ${scenario}: use success or declined`)
  const { cardholder_name = '', expiry_date = '' } = mockCardOf(payment)
  const card_number = scenario === 'declined' ? DECLINED_CARD : MOCK_CARD
  const card = { card_number, cvc: '123', cardholder_name, expiry_date }
  const given = { ...card, one_time_token: tokenOf(payment) }
  await submitCard(context, addresses, given, { scenario, note })
}
