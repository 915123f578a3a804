import type { Addresses } from '../http/addresses.ts'
import { timeOf } from '../ids.ts'
import { paymentAddress } from '../payments/present.ts'
import { type Refund, refundStatus } from './refund.ts'
import type { RefundBody, RefundsOfPaymentBody } from './schema.ts'

const get = (href: string): { href: string; method: 'GET' } => ({ href, method: 'GET' })

/** A refund as every response shows it; its status follows the clock. */
export function present(refund: Refund, now: number, addresses: Addresses): RefundBody {
  const { refund_id, payment_id, amount } = refund
  const created = timeOf(refund_id)
  const payment = paymentAddress(payment_id, addresses)
  return {
    refund_id,
    payment_id,
    created_date: new Date(created).toISOString(),
    amount,
    status: refundStatus(created, now),
    settlement_summary: {},
    _links: { self: get(`${payment}/refunds/${refund_id}`), payment: get(payment) },
  }
}

export function presentAll(
  payment_id: string,
  refunds: Refund[],
  now: number,
  addresses: Addresses,
): RefundsOfPaymentBody {
  const payment = paymentAddress(payment_id, addresses)
  return {
    payment_id,
    _links: { self: get(`${payment}/refunds`), payment: get(payment) },
    _embedded: { refunds: refunds.map(refund => present(refund, now, addresses)) },
  }
}
