import type { Addresses } from '../http/addresses.ts'
import { getLink } from '../http/addresses.ts'
import { paymentAddress } from '../payments/response.ts'
import type { Dispute } from './dispute.ts'
import type { DisputeBody } from './schema.ts'

/** A dispute as every account sees it. */
export function present({ settled_date, ...dispute }: Dispute, addresses: Addresses): DisputeBody {
  return {
    ...dispute,
    ...(settled_date && { settlement_summary: { settled_date } }),
    _links: { payment: getLink(paymentAddress(dispute.payment_id, addresses)) },
  }
}
