import type { FromSchema } from 'json-schema-to-ts'
import { date, id, link, pence, timestamp } from '../http/schema.ts'
import { disputeStatuses } from './disputes.ts'

export const dispute = {
  type: 'object',
  required: [
    'dispute_id',
    'payment_id',
    'amount',
    'status',
    'reason',
    'created_date',
    'evidence_due_date',
    'settlement_summary',
    '_links',
  ],
  properties: {
    dispute_id: id,
    payment_id: id,
    amount: pence,
    fee: pence,
    net_amount: { type: 'integer', description: 'In pence: minus amount and fee' },
    status: { type: 'string', enum: disputeStatuses },
    reason: { type: 'string' },
    created_date: timestamp,
    evidence_due_date: timestamp,
    settlement_summary: { type: 'object', properties: { settled_date: date } },
    _links: { type: 'object', required: ['payment'], properties: { payment: link } },
  },
} as const

export type DisputeBody = FromSchema<typeof dispute>
