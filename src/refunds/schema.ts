import type { FromSchema } from 'json-schema-to-ts'
import { id, link, pence, timestamp } from '../http/schema.ts'

export const newRefund = {
  type: 'object',
  required: ['amount'],
  properties: {
    amount: { ...pence, minimum: 1, maximum: 10_000_000 },
    refund_amount_available: {
      type: 'integer',
      description:
        'What you believe can still be refunded, in pence; if it is wrong nothing happens',
    },
  },
} as const

export const refund = {
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
    status: { enum: ['submitted', 'success'], description: 'submitted for 5 seconds' },
    settlement_summary: { type: 'object', properties: {} },
    _links: {
      type: 'object',
      required: ['self', 'payment'],
      properties: { self: link, payment: link },
    },
  },
} as const

export const refundsOfPayment = {
  type: 'object',
  required: ['payment_id', '_links', '_embedded'],
  properties: {
    payment_id: id,
    _links: {
      type: 'object',
      required: ['self', 'payment'],
      properties: { self: link, payment: link },
    },
    _embedded: {
      type: 'object',
      required: ['refunds'],
      properties: { refunds: { type: 'array', items: refund } },
    },
  },
} as const

export type RefundBody = FromSchema<typeof refund>
export type RefundsOfPaymentBody = FromSchema<typeof refundsOfPayment>
