/** A made-up refund for /openapi.json. */

import { timeOf } from '../../core/ids.ts'
import { exampleAddresses } from '../../platform/http/addresses.ts'
import { pathParameter } from '../../platform/http/openapi.ts'
import { payments } from '../payments/examples.ts'
import { type Refund, SUBMITTED_MS } from './refund.ts'
import { presentAll, presentCreated, presentRefund } from './wire.ts'

const refund: Refund = {
  refund_id: '06gqo5e2ohiahek1mnnudttjr1',
  payment_id: payments.paid.payment_id,
  room: 'example',
  amount: 1500,
}
const at = timeOf(refund.refund_id)

export const created = presentCreated(refund, at, exampleAddresses)
export const succeeded = presentRefund(refund, at + SUBMITTED_MS, exampleAddresses)
export const list = presentAll(refund.payment_id, [refund], at, exampleAddresses)

export const refundId = pathParameter('refund_id', 'A refund of this payment', refund.refund_id)
