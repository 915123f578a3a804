import type { FromSchema } from 'json-schema-to-ts'
import type { Behaviour } from '../../core/account.ts'
import { type Addresses, getLink } from '../../platform/http/addresses.ts'
import { date, id, link, object, pence, timestamp } from '../../platform/http/schema.ts'
import { settlementOfOpenDisputes } from '../differences/reading.ts'
import { paymentAddress } from '../payments/response.ts'
import { resultPage } from '../result-page.ts'
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

/** The schema of a page of disputes, with the links that `pageLinks` decides. */
export function disputesPage(behaviour: Behaviour) {
  const { required, ...page } = resultPage(dispute, behaviour)
  const { _links, ...others } = page.properties
  const links = { ..._links, description: 'The same as _links' }
  if (behaviour === 'specification')
    return { ...page, required: [...required, 'links'], properties: { ...page.properties, links } }
  const names = required.map(name => (name === '_links' ? 'links' : name))
  return { ...page, required: names, properties: { ...others, links: _links } }
}

export function presentDispute(
  { settled_date, ...record }: Dispute,
  addresses: Addresses,
  behaviour: Behaviour,
) {
  const settlement = settled_date
    ? { settlement_summary: { settled_date } }
    : settlementOfOpenDisputes[behaviour]
  return {
    ...record,
    ...settlement,
    _links: { payment: getLink(paymentAddress(record.payment_id, addresses)) },
  } satisfies FromSchema<typeof dispute>
}
