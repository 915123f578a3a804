import type { FromSchema } from 'json-schema-to-ts'
import { date, id, link, pence, timestamp } from '../http/schema.ts'
import { disputeStatuses } from './dispute.ts'

/** SPEC *Dispute*. */
export const dispute = {
  title: 'Dispute',
  type: 'object',
  required: [
    'dispute_id',
    'payment_id',
    'amount',
    'status',
    'reason',
    'created_date',
    'evidence_due_date',
    '_links',
  ],
  properties: {
    dispute_id: id,
    payment_id: { ...id, description: 'A payment that does not exist here' },
    amount: pence,
    fee: { ...pence, description: 'In pence, if the dispute was lost' },
    net_amount: { type: 'integer', description: 'Minus amount and fee, in pence. Beside fee' },
    status: { type: 'string', enum: disputeStatuses },
    reason: { type: 'string' },
    created_date: timestamp,
    evidence_due_date: timestamp,
    settlement_summary: {
      title: 'DisputeSettlementSummary',
      type: 'object',
      description: 'If the dispute was lost',
      properties: { settled_date: date },
    },
    _links: {
      title: 'DisputeLinks',
      type: 'object',
      required: ['payment'],
      properties: { payment: link },
    },
  },
} as const

export type DisputeBody = FromSchema<typeof dispute>
