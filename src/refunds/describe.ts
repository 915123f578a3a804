import { endpoint, json } from '../http/describe.ts'
import { pageOf } from '../http/schema.ts'
import { newRefund, refund, refundsOfPayment } from './schema.ts'

const tag = 'Refunds'

export const create = endpoint(tag, 'Refund a payment', {
  body: newRefund,
  response: { 202: json('The refund, submitted', refund) },
  errors: {
    400: 'The amount is missing or invalid, or the payment is not refundable: P0601, P0602, P0603, P0697',
    404: 'No such payment: P0600',
    412: 'refund_amount_available does not match: P0604',
    415: 'The body is not JSON: P0920',
    422: 'The amount is out of range: P0602',
  },
})

export const list = endpoint(tag, 'List the refunds of a payment', {
  response: { 200: json('The refunds, oldest first', refundsOfPayment) },
  errors: { 404: 'No such payment: P0800' },
})

export const read = endpoint(tag, 'Read a refund', {
  response: { 200: json('The refund', refund) },
  errors: { 404: 'No such payment or refund: P0700' },
})

export const search = endpoint(tag, 'Search refunds', {
  response: { 200: json('One page, newest first', pageOf(refund)) },
  errors: { 404: 'Past the last page: P1100', 422: 'A parameter is not valid: P1101' },
})
