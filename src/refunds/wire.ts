import type { Addresses } from '../http/addresses.ts'
import { getLink } from '../http/addresses.ts'
import { timeOf } from '../ids.ts'
import { paymentAddress } from '../payments/response.ts'
import { iso } from '../time.ts'
import { type Refund, refundStatus } from './refund.ts'
import type { RefundBody, RefundsOfPaymentBody } from './schema.ts'

/** A refund as every response shows it; its status follows the clock. */
export function present(refund: Refund, now: number, addresses: Addresses): RefundBody {
  const { refund_id, payment_id, amount } = refund
  const created = timeOf(refund_id)
  const payment = paymentAddress(payment_id, addresses)
  return {
    refund_id,
    payment_id,
    created_date: iso(created),
    amount,
    status: refundStatus(created, now),
    settlement_summary: {},
    _links: { self: getLink(`${payment}/refunds/${refund_id}`), payment: getLink(payment) },
  }
}

/** The list of a payment's refunds, in the order given. `now` in milliseconds. */
export function presentAll(
  payment_id: string,
  refunds: Refund[],
  now: number,
  addresses: Addresses,
): RefundsOfPaymentBody {
  const payment = paymentAddress(payment_id, addresses)
  return {
    payment_id,
    _links: { self: getLink(`${payment}/refunds`), payment: getLink(payment) },
    _embedded: { refunds: refunds.map(refund => present(refund, now, addresses)) },
  }
}
