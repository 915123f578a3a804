import type { FromSchema } from 'json-schema-to-ts'
import type { Behaviour } from '../../core/account.ts'
import { fieldCodes, invalid } from '../../core/errors.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { type Addresses, getLink } from '../../platform/http/addresses.ts'
import { type Json, PENCE_RULE, readFields } from '../../platform/http/fields.ts'
import { id, link, object, pence, timestamp } from '../../platform/http/schema.ts'
import { expectedAmount, largestInteger } from '../differences/errors.ts'
import { type NewRefund, type Refund, refundScenarios, refundStatus } from '../payments/refund.ts'
import { paymentAddress } from '../payments/response.ts'

export const newRefund = object(
  'NewRefund',
  { amount: { ...pence, minimum: 1, maximum: 10_000_000 } },
  {
    refund_amount_available: {
      type: ['integer', 'string', 'null'],
      pattern: '^[0-9]+$',
      description:
        'The amount that you expect to be refundable, in pence, also as text. If it is wrong, or null, nothing is refunded',
    },
  },
)

/** Reads the body of a request for a refund. Throws the first error. */
export function readNewRefund(body: Json, behaviour: Behaviour): NewRefund {
  const fields = readFields(body, newRefund, fieldCodes.refund)
  const amount = fields.pence('amount', largestInteger[behaviour])
  fields.checkLimits(['amount'])
  const given = body.refund_amount_available
  if (given === undefined) return { amount }
  // No payment with a refund to come has 0 left, so null is always a mismatch.
  const available = given === null ? 0 : expectedAmount[behaviour](given)
  if (available === undefined)
    throw invalid(fieldCodes.refund, 'refund_amount_available', PENCE_RULE)
  return { amount, available }
}

const refundLinks = object('RefundLinks', { self: link, payment: link })

const created = {
  refund_id: id,
  created_date: timestamp,
  amount: pence,
  status: {
    type: 'string',
    enum: ['submitted', ...refundScenarios],
    description: 'submitted for 5 seconds, then success. error: never here without a plan',
  },
  _links: refundLinks,
} as const

/** Specification, *Other resources*. */
export const refund = object('Refund', {
  ...created,
  payment_id: id,
  settlement_summary: {
    ...object('RefundSettlementSummary', {}),
    description: 'Empty: nothing is ever settled',
  },
})

/** A refund as the response to its creation shows it, which is shorter in GOV.UK Pay too. */
export const createdRefund = object('CreatedRefund', created)

export const refundsOfPayment = object('RefundsOfPayment', {
  payment_id: id,
  _links: refundLinks,
  _embedded: object('EmbeddedRefunds', {
    refunds: { type: 'array', items: refund, description: 'Oldest first' },
  }),
})

type RefundBody = FromSchema<typeof refund>

/** The refund as every response but that to its creation shows it. Its status depends on `now`, in milliseconds. */
export function presentRefund(refund: Refund, now: AccountTime, addresses: Addresses): RefundBody {
  const { refund_id, payment_id, amount, scenario } = refund
  const created = timeOf(refund_id)
  const payment = paymentAddress(payment_id, addresses)
  return {
    refund_id,
    payment_id,
    created_date: iso(created),
    amount,
    status: refundStatus(created, scenario, now),
    settlement_summary: {},
    _links: { self: getLink(`${payment}/refunds/${refund_id}`), payment: getLink(payment) },
  }
}

/** The refund as the response to its creation shows it. `now` in milliseconds. */
export function presentCreated(refund: Refund, now: AccountTime, addresses: Addresses) {
  const { payment_id, settlement_summary, ...created } = presentRefund(refund, now, addresses)
  return created satisfies FromSchema<typeof createdRefund>
}

export function presentAll<Refunds>(payment_id: string, refunds: Refunds, addresses: Addresses) {
  const payment = paymentAddress(payment_id, addresses)
  return {
    payment_id,
    _links: { self: getLink(`${payment}/refunds`), payment: getLink(payment) },
    _embedded: { refunds },
  }
}
