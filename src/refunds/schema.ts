import type { FromSchema } from 'json-schema-to-ts'
import { id, link, pence, timestamp } from '../http/schema.ts'

export const newRefund = {
  title: 'NewRefund',
  type: 'object',
  required: ['amount'],
  properties: {
    amount: { ...pence, minimum: 1, maximum: 10_000_000 },
    refund_amount_available: {
      type: ['integer', 'null'],
      description:
        'What you believe can still be refunded, in pence. If it is wrong, nothing is refunded',
    },
  },
} as const

const refundLinks = {
  title: 'RefundLinks',
  type: 'object',
  required: ['self', 'payment'],
  properties: { self: link, payment: link },
} as const

/** SPEC *Refund*, as every response shows it. */
export const refund = {
  title: 'Refund',
  type: 'object',
  required: [
    'refund_id',
    'payment_id',
    'created_date',
    'amount',
    'status',
    'settlement_summary',
    '_links',
  ],
  properties: {
    refund_id: id,
    payment_id: id,
    created_date: timestamp,
    amount: pence,
    status: {
      type: 'string',
      enum: ['submitted', 'success'],
      description: 'submitted for 5 seconds, then success',
    },
    settlement_summary: {
      title: 'RefundSettlementSummary',
      type: 'object',
      properties: {},
      description: 'Empty: nothing is ever settled',
    },
    _links: refundLinks,
  },
} as const

export const refundsOfPayment = {
  title: 'RefundsOfPayment',
  type: 'object',
  required: ['payment_id', '_links', '_embedded'],
  properties: {
    payment_id: id,
    _links: refundLinks,
    _embedded: {
      title: 'EmbeddedRefunds',
      type: 'object',
      required: ['refunds'],
      properties: { refunds: { type: 'array', items: refund, description: 'Oldest first' } },
    },
  },
} as const

export type RefundBody = FromSchema<typeof refund>
export type RefundsOfPaymentBody = FromSchema<typeof refundsOfPayment>
