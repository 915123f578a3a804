/** The actions on the page of a payment: one row each, with its button, when it is there, and what it does. */

import { ApiError } from '../../../core/errors.ts'
import { inPounds, penceIn } from '../../../core/money.ts'
import { allows } from '../../../pay/payments/advance.ts'
import { carryOut, moveOf } from '../../../pay/payments/complete.ts'
import {
  type AuthorisationMode,
  type Choice,
  isPayable,
  type Payment,
  type Status,
  statusOf,
} from '../../../pay/payments/payment.ts'
import { refundSummary } from '../../../pay/payments/refund.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import { formBody } from '../../../platform/http/body.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import type { ToolContext } from '../../context.ts'
import { type ActionName, recordAction } from '../../record/action.ts'
import type { Typed } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Code, Done, Next } from '../frame/page.ts'
import { type AccountVisit, pageAddress } from '../frame/visit.ts'

/** The last parts of the addresses of the forms. */
export const paths = ['complete', 'capture', 'cancel', 'refund'] as const
type Path = (typeof paths)[number]

/** The field of the refund form: pounds. */
export const AMOUNT = 'amount'

/** undefined where the state of the payment did not allow it any more. */
type Outcome = Done | Typed | undefined

export type PaymentAction = {
  path: Path
  button: string
  /** Which of the actions of its path it is. */
  scenario?: Choice
  when: (payment: Payment) => boolean
  /** The state that it leads to. */
  to: (payment: Payment) => Status
  run: (visit: AccountVisit, payment: Payment) => Promise<Outcome>
}

const isOpen = (payment: Payment): boolean => isPayable(statusOf(payment))
const isOpenIn = (mode: AuthorisationMode) => (payment: Payment) =>
  isOpen(payment) && payment.given.authorisation_mode === mode
const isOpenWeb = isOpenIn('web')
const isOpenApi = isOpenIn('moto_api')
/** Its charge is due soon, or a plan holds it. */
const isCharged = isOpenIn('agreement')
const isSubmitted = (payment: Payment): boolean => statusOf(payment) === 'submitted'
const isCapturable = (payment: Payment): boolean => statusOf(payment) === 'capturable'

type End = [status: Status, code: Code]

const ends: Record<Choice, End> = {
  success: ['success', 'succeeded'],
  declined: ['failed', 'declined'],
  error: ['error', 'error'],
  cancel: ['failed', 'cancelled'],
}

/** Where a scenario leads, and the banner that says so. */
export const endOf = ({ given }: Payment, scenario: Choice): End =>
  scenario === 'success' && given.delayed_capture ? ['capturable', 'authorised'] : ends[scenario]

const ending = (scenario: Choice, when: PaymentAction['when'], button: string): PaymentAction => ({
  path: 'complete',
  button,
  scenario,
  when,
  to: payment => endOf(payment, scenario)[0],
  run: (visit, payment) => complete(visit, payment, scenario),
})

export const paymentActions: readonly PaymentAction[] = [
  ending('success', isOpenWeb, 'The user pays'),
  ending('declined', isOpenWeb, 'The card is declined'),
  ending('error', isOpenWeb, 'The provider has an error'),
  ending('cancel', isOpenWeb, 'The user cancels'),
  ending('success', isOpenApi, 'The card is accepted'),
  ending('declined', isOpenApi, 'The card is declined'),
  ending('error', isOpenApi, 'The provider has an error'),
  ending('success', isCharged, 'The provider accepts it'),
  ending('declined', isCharged, 'The provider declines it'),
  ending('error', isCharged, 'The provider has an error'),
  ending('success', isSubmitted, 'The user confirms'),
  ending('cancel', isSubmitted, 'The user cancels'),
  {
    path: 'capture',
    button: 'Capture the payment',
    when: isCapturable,
    to: () => 'success',
    run: (visit, payment) => move(visit, payment, 'capture'),
  },
  {
    path: 'cancel',
    button: 'Cancel by the API',
    when: payment => allows(payment, 'cancel'),
    to: () => 'cancelled',
    run: (visit, payment) => move(visit, payment, 'cancel'),
  },
  {
    path: 'refund',
    button: 'Refund',
    when: payment => refundSummary(payment).status === 'available',
    to: () => 'success',
    run: refund,
  },
]

/** Leads back to the page of the payment, with a banner that says what happened. */
export async function perform(
  visit: PageVisit,
  path: Path,
  payment: Payment,
): Promise<Next | Typed> {
  const scenario = formBody(visit.request).get('scenario')
  const alike = paymentActions.filter(
    each => each.path === path && (each.scenario === undefined || each.scenario === scenario),
  )
  // The page has a button for each.
  if (alike.length === 0) throw pageFault(400)
  const action = alike.find(({ when }) => when(payment))
  const outcome = await action?.run(visit, payment)
  if (outcome && 'errors' in outcome) return outcome
  const to = pageAddress(`payments/${payment.payment_id}`, { back: visit.back })
  return { to, done: outcome ?? { code: 'overtaken' } }
}

/** Runs and records what a person does here. `detail` is what it was, as a query. */
export const act = <Result>(
  context: ToolContext,
  operation: ActionName,
  run: (context: ToolContext) => Promise<Result>,
  detail: (result: Result) => string = () => '',
): Promise<Result> => recordAction(context, { by: 'console', operation, detail }, run)

/** A refusal means that the state did not allow it any more. */
export const unlessRefused = <Result, Refused>(
  run: Promise<Result>,
  refused: Refused,
): Promise<Result | Refused> =>
  run.catch(error => {
    if (error instanceof ApiError && error.status < 500) return refused
    throw error
  })

/** The endings of an open payment, as its pages would bring them about. */
async function complete(
  { context, account }: AccountVisit,
  payment: Payment,
  scenario: Choice,
): Promise<Outcome> {
  const done = act(
    context,
    'completePayment',
    context => carryOut(context, account, payment, { scenario }),
    () => `scenario=${scenario}`,
  )
  const result = await done
  return result?.moved ? { code: endOf(payment, scenario)[1] } : undefined
}

async function move(
  { context, account }: AccountVisit,
  { payment_id }: Payment,
  trigger: 'capture' | 'cancel',
): Promise<Outcome> {
  const result = await act(
    context,
    trigger === 'capture' ? 'capturePayment' : 'cancelPayment',
    context => moveOf(context, account, payment_id, trigger),
  )
  if (!result?.moved) return undefined
  return { code: trigger === 'capture' ? 'captured' : 'cancelled-by-api' }
}

async function refund(
  { context, account, request }: AccountVisit,
  payment: Payment,
): Promise<Outcome> {
  const { amount_available: available } = refundSummary(payment)
  const form = formBody(request)
  const amount = penceIn((form.get(AMOUNT) ?? '').trim())
  if (amount === undefined || amount < 1 || amount > available) {
    const range = `from ${inPounds(1)} to ${inPounds(available)}`
    return { form, errors: { [AMOUNT]: `Enter an amount in pounds ${range}` } }
  }
  const { payment_id } = payment
  const done = act(
    context,
    'refundPayment',
    context => createRefund(context, { account, payment_id, refund: { amount } }),
    ({ refund_id }) => `refund_id=${refund_id}&amount=${amount}`,
  )
  const result = await unlessRefused(done, undefined)
  return result && { code: 'refunded', pence: amount }
}
