import type { FromSchema } from 'json-schema-to-ts'
import type { Behaviour } from '../../core/account.ts'
import { fieldCodes, invalid } from '../../core/errors.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { type Addresses, getLink } from '../../platform/http/addresses.ts'
import { FieldReader, type Json, PENCE_RULE } from '../../platform/http/fields.ts'
import { id, link, object, pence, type Titled, timestamp } from '../../platform/http/schema.ts'
import type { Decision } from '../differences/difference.ts'
import { expectedAmount, largestInteger } from '../differences/errors.ts'
import { paymentIdOfRefunds } from '../differences/refunds.ts'
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
  const fields = new FieldReader(body, newRefund, fieldCodes.refund)
  const amount = fields.pence('amount', largestInteger[behaviour])
  fields.checkLimits(['amount'])
  const value = body.refund_amount_available
  if (value === undefined) return { amount }
  // A payment that can be refunded never has 0 left, so null, which counts as 0, is always a mismatch.
  const available = value === null ? 0 : expectedAmount[behaviour](value)
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

const settlement_summary = {
  ...object('RefundSettlementSummary', {}),
  description: 'Empty: nothing is ever settled',
}

/** Specification, *Other resources*. */
export const refund = object('Refund', {
  ...created,
  payment_id: id,
  settlement_summary,
})

/** A refund as the response to its creation shows it, which is shorter in GOV.UK Pay too. */
export const createdRefund = object('CreatedRefund', created)

/** A refund in any other response. */
export const refundIn: Decision<Titled> = {
  specification: refund,
  'govuk-pay': object('Refund', { ...created, settlement_summary }, { payment_id: id }),
}

export const refundsOfPayment = (behaviour: Behaviour) =>
  object('RefundsOfPayment', {
    payment_id: id,
    _links: refundLinks,
    _embedded: object('EmbeddedRefunds', {
      refunds: { type: 'array', items: refundIn[behaviour], description: 'Oldest first' },
    }),
  })

type RefundBody = FromSchema<typeof refund>

/** Where a refund is shown. `behaviour` is that of its payment, and in a search that of the account. */
export type Shown = { behaviour: Behaviour; now: AccountTime; addresses: Addresses }

/** The refund as searches show it. Its status depends on `now`, in milliseconds. */
export function presentFound(refund: Refund, { behaviour, now, addresses }: Shown): RefundBody {
  const { refund_id, payment_id, amount } = refund
  const created = timeOf(refund_id)
  const payment = paymentAddress(payment_id, addresses)
  return {
    refund_id,
    payment_id,
    created_date: iso(created),
    amount,
    status: refundStatus(refund, behaviour, now),
    settlement_summary: {},
    _links: { self: getLink(`${payment}/refunds/${refund_id}`), payment: getLink(payment) },
  }
}

/** The refund as responses show it, except searches and the response to its creation. */
export function presentRefund(refund: Refund, shown: Shown): Partial<RefundBody> {
  const found = presentFound(refund, shown)
  if (paymentIdOfRefunds[shown.behaviour] === 'always') return found
  const { payment_id, ...rest } = found
  return rest
}

/** The refund as the response to its creation shows it. */
export function presentCreated(refund: Refund, shown: Shown) {
  const { payment_id, settlement_summary, ...created } = presentFound(refund, shown)
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
