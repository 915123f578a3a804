/** A made-up refund for /openapi.json. */
import { exampleAddresses } from '../http/addresses.ts'
import { pathParameter } from '../http/openapi.ts'
import { timeOf } from '../ids.ts'
import { payments } from '../payments/examples.ts'
import { type Refund, SUBMITTED_MS } from './refund.ts'
import { present, presentAll } from './wire.ts'

const refund: Refund = {
  refund_id: '06gqo5e2ohiahek1mnnudttjr1',
  payment_id: payments.paid.payment_id,
  account: 'example',
  amount: 1500,
}
const created = timeOf(refund.refund_id)

export const submitted = present(refund, created, exampleAddresses)
export const succeeded = present(refund, created + SUBMITTED_MS, exampleAddresses)
export const list = presentAll(refund.payment_id, [refund], created, exampleAddresses)

export const refundId = pathParameter('refund_id', 'A refund of this payment', refund.refund_id)
