/** The endpoints of refunds in /openapi.json. */
import {
  fieldCodes,
  invalid,
  missing,
  notAnObject,
  notRefundable,
  outsideLimit,
  paymentNotFound,
  refundAmountMismatch,
  refundNotFound,
  wrongMediaType,
} from '../errors.ts'
import { exampleAddresses } from '../http/addresses.ts'
import {
  behindKey,
  describeBody,
  json,
  type Operations,
  pathParameter,
  searchParts,
} from '../http/describe.ts'
import { PENCE_RULE } from '../http/fields.ts'
import { timeOf } from '../ids.ts'
import { paymentId } from '../payments/describe.ts'
import { payments } from '../payments/examples.ts'
import { type Refund, SUBMITTED_MS } from './refund.ts'
import { refundSearch } from './routes.ts'
import { newRefund, present, presentAll, refund, refundsOfPayment } from './wire.ts'

const codes = fieldCodes.refund

const example: Refund = {
  refund_id: '06gqo5e2ohiahek1mnnudttjr1',
  payment_id: payments.paid.payment_id,
  account: 'example',
  amount: 1500,
}
const made = timeOf(example.refund_id)
const submitted = present(example, made, exampleAddresses)
const succeeded = present(example, made + SUBMITTED_MS, exampleAddresses)

const refundPayment = behindKey({
  summary: 'Refund a payment',
  description:
    'All of it or a part, as often as something is left. The payment stays success, and its refund_summary changes at once. The answer waits for the webhooks.',
  parameters: [paymentId],
  requestBody: describeBody(newRefund, {
    'A part': { amount: 1500 },
    'A part, if nobody else refunded meanwhile': { amount: 1500, refund_amount_available: 8500 },
  }),
  answers: { 202: json('The refund', refund, { 'A refund': submitted }) },
  errors: [
    missing(codes, 'amount'),
    invalid(codes, 'amount', PENCE_RULE),
    notRefundable('pending', 'its refund_summary.status must be available'),
    notAnObject('P0697'),
    paymentNotFound('P0600'),
    refundAmountMismatch(7000),
    wrongMediaType('application/json'),
    outsideLimit(codes, 'amount', 'must be at least 1'),
  ],
})

const listRefunds = behindKey({
  summary: 'List the refunds of a payment',
  parameters: [paymentId],
  answers: {
    200: json('All of them, oldest first', refundsOfPayment, {
      'One refund': presentAll(example.payment_id, [example], made, exampleAddresses),
    }),
  },
  errors: [paymentNotFound('P0800')],
})

const readRefund = behindKey({
  summary: 'Read a refund',
  parameters: [
    paymentId,
    pathParameter('refund_id', 'A refund of this payment', example.refund_id),
  ],
  answers: { 200: json('The refund', refund, { 'After 5 seconds': succeeded }) },
  errors: [refundNotFound()],
})

const searchRefunds = behindKey({
  summary: 'Search refunds',
  description:
    'Those of your payments of the last 7 days, newest first. Nothing is ever settled, so a filter on the settled date finds nothing.',
  ...searchParts(refundSearch, refund, succeeded, ['to_date']),
})

export const operations: Operations = { refundPayment, listRefunds, readRefund, searchRefunds }
