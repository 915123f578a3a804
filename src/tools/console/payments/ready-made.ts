/** Payments that are made in a state, with the code of the endpoints that lead there. */

import { completeByScenario } from '../../../pay/payments/complete.ts'
import type { Payment, Scenario } from '../../../pay/payments/payment.ts'
import type { Refund } from '../../../pay/payments/refund.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import type { RecordEffects } from '../../../platform/http/request-state.ts'
import type { ToolContext } from '../../context.ts'
import type { Code } from '../frame/banners.ts'
import type { AccountVisit } from '../frame/page.ts'

export type Ready = {
  text: string
  scenario: Scenario
  delayed?: boolean
  refunded?: boolean
  /** The banner on the page of the payment. */
  done: Code
}

export const readyMade: Record<string, Ready> = {
  paid: { text: 'Paid', scenario: 'success', done: 'succeeded' },
  declined: { text: 'Declined', scenario: 'declined', done: 'declined' },
  error: { text: 'Error', scenario: 'error', done: 'error' },
  cancelled: { text: 'Cancelled by the user', scenario: 'cancel', done: 'cancelled' },
  capturable: { text: 'Capturable', scenario: 'success', delayed: true, done: 'authorised' },
  refunded: { text: 'Refunded', scenario: 'success', refunded: true, done: 'refunded' },
}

/** Another request may have been faster: then nothing more is done. Resolves to the refund, if there is one. */
export async function bringInto(
  context: ToolContext,
  { account }: AccountVisit,
  payment: Payment,
  { scenario, refunded }: Ready,
  recordEffects: RecordEffects,
): Promise<{ overtaken: boolean; refund?: Refund }> {
  const reason = await completeByScenario(context, payment, { scenario, recordEffects })
  if (reason || !refunded) return { overtaken: reason !== undefined }
  const { payment_id } = payment
  const asked = { amount: payment.given.amount, available: undefined }
  const refund = await createRefund(context, { account, payment_id, refund: asked, recordEffects })
  return { overtaken: false, refund }
}
