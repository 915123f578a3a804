/** The actions on the page of a payment: a row for each, with its button, the condition for it, and its effect. */

import { inPounds, penceIn } from '../../../core/money.ts'
import { allows } from '../../../pay/payments/advance.ts'
import { moveOf } from '../../../pay/payments/complete.ts'
import {
  type AuthorisationMode,
  isPayable,
  type Payment,
  type Status,
  scenarioIn,
  statusOf,
} from '../../../pay/payments/payment.ts'
import { refundSummary } from '../../../pay/payments/refund.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { recordAction } from '../../record/action.ts'
import { type Completion, completePayment } from '../../steer/complete.ts'
import { offersTo } from '../../steer/offers.ts'
import { type Typed, unlessRefused } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Code, Next } from '../frame/page.ts'
import { pageAddress } from '../frame/visit.ts'

export const paths = ['complete', 'capture', 'cancel', 'refund'] as const
type Path = (typeof paths)[number]

export const AMOUNT = 'amount'

/** undefined if the state of the payment no longer allowed the action. */
type Outcome = Omit<Next, 'to'> | Typed | undefined

export type PaymentAction = {
  path: Path
  button: string
  /** Distinguishes the actions with the same path. */
  end?: End
  /** `isHeld`: whether a plan holds one of the payment's refunds. */
  when: (payment: Payment, isHeld: boolean) => boolean
  /** The status to which it leads. */
  to: (payment: Payment) => Status
  run: (visit: PageVisit, payment: Payment) => Promise<Outcome>
}

const isOpenIn = (mode: AuthorisationMode) => (payment: Payment) =>
  isPayable(statusOf(payment)) && payment.given.authorisation_mode === mode
const isOpenWeb = isOpenIn('web')
const isOpenApi = isOpenIn('moto_api')
/** Whether the payment's charge is due soon, or held by a plan. */
const isCharged = isOpenIn('agreement')
const isSubmitted = (payment: Payment): boolean => statusOf(payment) === 'submitted'
/** Whether the payment's capture is due soon, or held by a plan. */
const isUncaptured = (payment: Payment): boolean => allows(payment, 'confirm_capture')

/** The endings of an open payment, of its capture, and of refunds that are held. */
const ends = {
  success: [{ scenario: 'success' }, 'success', 'succeeded'],
  declined: [{ scenario: 'declined' }, 'failed', 'declined'],
  error: [{ scenario: 'error' }, 'error', 'error'],
  cancel: [{ scenario: 'cancel' }, 'failed', 'cancelled'],
  capture: [{ capture: true }, 'success', 'captured'],
  'capture-error': [{ capture: 'error' }, 'error', 'capture-failed'],
  refund: [{ refund: true }, 'success', 'refund-succeeded'],
  'refund-error': [{ refund: 'error' }, 'success', 'refund-failed'],
} as const satisfies Record<string, [wanted: Completion, status: Status, code: Code]>
type End = keyof typeof ends

/** The status to which an end leads, and the banner that says so. */
export const endOf = ({ given }: Payment, end: End): { to: Status; code: Code } => {
  const [, to, code] = ends[end]
  const waits = end === 'success' && given.delayed_capture
  return waits ? { to: 'capturable', code: 'authorised' } : { to, code }
}

const ending = (end: End, when: PaymentAction['when'], button: string): PaymentAction => ({
  path: 'complete',
  button,
  end,
  when,
  to: payment => endOf(payment, end).to,
  run: async ({ context, account }, payment) => {
    const wanted = { by: 'console', ...ends[end][0] } as const
    const isDone = await unlessRefused(completePayment(context, account, payment, wanted))
    return isDone ? { done: endOf(payment, end).code } : undefined
  },
})

/** A capture or a cancel, as through the API. */
const moving = (path: 'capture' | 'cancel', to: Status, button: string): PaymentAction => ({
  path,
  button,
  when: payment => allows(payment, path),
  to: () => to,
  run: async ({ context, account }, { payment_id }) => {
    const operation = path === 'capture' ? 'capturePayment' : 'cancelPayment'
    const result = await recordAction(context, { by: 'console', operation }, context =>
      moveOf(context, account, payment_id, path),
    )
    if (!result?.moved) return undefined
    // Not `captured`: under govuk-pay the capture follows the success.
    return { done: path === 'capture' ? 'succeeded' : 'cancelled-by-api' }
  },
})

export const paymentActions: readonly PaymentAction[] = [
  ending('success', isOpenWeb, 'Pay as the user'),
  ending('declined', isOpenWeb, 'Decline the card'),
  ending('error', isOpenWeb, 'Fail at the provider'),
  ending('cancel', isOpenWeb, 'Cancel as the user'),
  ending('success', isOpenApi, 'Accept the card'),
  ending('declined', isOpenApi, 'Decline the card'),
  ending('error', isOpenApi, 'Fail at the provider'),
  ending('success', isCharged, 'Accept the charge'),
  ending('declined', isCharged, 'Decline the charge'),
  ending('error', isCharged, 'Fail at the provider'),
  ending('success', isSubmitted, 'Confirm as the user'),
  ending('cancel', isSubmitted, 'Cancel as the user'),
  ending('capture', isUncaptured, 'Capture it now'),
  ending('capture-error', isUncaptured, 'Let the capture fail'),
  ending('refund', (_, isHeld) => isHeld, 'Let the refund succeed'),
  ending('refund-error', (_, isHeld) => isHeld, 'Let the refund fail'),
  moving('capture', 'success', 'Capture'),
  moving('cancel', 'cancelled', 'Cancel by the API'),
  {
    path: 'refund',
    button: 'Refund',
    when: payment => refundSummary(payment).status === 'available',
    to: () => 'success',
    run: refund,
  },
]

/** Runs an action, and leads back to the page of the payment, with a banner that says what happened. */
export async function perform(
  visit: PageVisit,
  path: Path,
  payment: Payment,
): Promise<Next | Typed> {
  const end = visit.form.get('scenario')
  const alike = paymentActions.filter(
    action => action.path === path && (action.end === undefined || action.end === end),
  )
  // No button of the page sends such a form.
  if (alike.length === 0) throw pageFault(400)
  const action = alike.find(({ when }) => when(payment, true))
  const outcome = await action?.run(visit, payment)
  if (outcome && 'errors' in outcome) return outcome
  const to = pageAddress(`payments/${payment.payment_id}`, { back: visit.back })
  return { to, ...(outcome ?? { done: 'overtaken' }) }
}

async function refund(visit: PageVisit, payment: Payment): Promise<Outcome> {
  const { context, account, form, config } = visit
  const { amount_available: available } = refundSummary(payment)
  const amount = penceIn((form.get(AMOUNT) ?? '').trim())
  if (amount === undefined || amount < 1 || amount > available) {
    const range = `from ${inPounds(1)} to ${inPounds(available)}`
    return { form, errors: { [AMOUNT]: `Enter an amount in pounds ${range}` } }
  }
  const { payment_id } = payment
  const offer = offersTo(account.behaviour, 'Refund').get(form.get('scenario') ?? '')
  const applied = config.control && offer ? scenarioIn(offer.plan) : {}
  const scenarios = { apply: async () => ({ applied }) }
  const done = recordAction(
    context,
    { by: 'console', operation: 'refundPayment' },
    context => createRefund(context, { account, payment_id, refund: { amount }, scenarios }),
    ({ refund_id }) => ({ refund_id, amount }),
  )
  return (await unlessRefused(done)) && { done: 'refunded', pence: amount }
}
