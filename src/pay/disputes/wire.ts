import type { FromSchema } from 'json-schema-to-ts'
import { type Addresses, getLink } from '../../platform/http/addresses.ts'
import { date, id, link, object, pageSchema, pence, timestamp } from '../../platform/http/schema.ts'
import { paymentAddress } from '../payments/response.ts'
import { type Dispute, disputeStatuses } from './dispute.ts'

/** Specification, *Other resources*. */
export const dispute = object(
  'Dispute',
  {
    dispute_id: id,
    payment_id: { ...id, description: 'A payment that does not exist here' },
    amount: pence,
    status: { type: 'string', enum: disputeStatuses },
    reason: { type: 'string' },
    created_date: timestamp,
    evidence_due_date: timestamp,
    _links: object('DisputeLinks', {
      payment: { ...link, description: 'Returns 404 P0200: that payment does not exist' },
    }),
  },
  {
    fee: { ...pence, description: 'In pence. Present if the dispute was lost' },
    net_amount: {
      type: 'integer',
      description: 'Minus amount and fee, in pence. Present with fee',
    },
    settlement_summary: {
      ...object('DisputeSettlementSummary', {}, { settled_date: date }),
      description: 'Present if the dispute was lost',
    },
  },
)

const page = pageSchema(dispute)

export const disputesPage = {
  ...page,
  required: [...page.required, 'links'],
  properties: {
    ...page.properties,
    links: { ...page.properties._links, description: 'The same as _links' },
  },
}

export function presentDispute({ settled_date, ...record }: Dispute, addresses: Addresses) {
  return {
    ...record,
    ...(settled_date && { settlement_summary: { settled_date } }),
    _links: { payment: getLink(paymentAddress(record.payment_id, addresses)) },
  } satisfies FromSchema<typeof dispute>
}
