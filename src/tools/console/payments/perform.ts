import { ApiError } from '../../../core/errors.ts'
import type { Context } from '../../../pay/context.ts'
import { movePayment } from '../../../pay/payments/commands.ts'
import { completeByScenario } from '../../../pay/payments/complete.ts'
import {
  isPayable,
  type Payment,
  refundSummary,
  type Scenario,
  scenarios,
  statusOf,
} from '../../../pay/payments/payment.ts'
import { createRefund } from '../../../pay/refunds/commands.ts'
import type { Refund } from '../../../pay/refunds/refund.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { pageFault } from '../../../platform/http/errors.ts'
import { recordAction } from '../../recorder/action.ts'
import type { Done } from '../frame/banners.ts'
import { type AccountVisit, actionRoute, type Next, type Page } from '../frame/page.ts'
import { type ActionName, inConsole, REFUND } from './actions.ts'
import type { RefundFault } from './forms.ts'

type PaymentPage = {
  find: (visit: AccountVisit) => Promise<Payment>
  show: (visit: AccountVisit, payment: Payment, fault: RefundFault) => Promise<Page>
}

/** What can be done on the page of a payment. Each leads back there, with a banner that says what happened. */
export const paymentActions = (context: Context, page: PaymentPage): Route[] => [
  complete(context, page),
  move(context, page, 'capture'),
  move(context, page, 'cancel'),
  refund(context, page),
]

const addressOf = ({ payment_id }: Payment): string => `payments/${payment_id}`

const overtaken = (payment: Payment): Next => ({ to: addressOf(payment), done: 'overtaken' })

/** The state of the payment did not allow it any more. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status < 500

/** The endings of an open payment, by the code of its pages. */
const complete = (context: Context, { find }: PaymentPage): Route =>
  actionRoute(context, 'payments/{payment_id}/complete', async visit => {
    const payment = await find(visit)
    const scenario = scenarioIn(formBody(visit.request))
    if (!isPayable(statusOf(payment))) return overtaken(payment)
    try {
      const reason = await recordAction(
        context,
        inConsole('completePayment', () => `scenario=${scenario}`),
        recordEffects =>
          completeByScenario(context, visit.addresses, payment, { scenario, recordEffects }),
      )
      if (reason) return overtaken(payment)
    } catch (error) {
      if (isRefusal(error)) return overtaken(payment)
      throw error
    }
    const done = {
      success: payment.given.delayed_capture ? 'authorised' : 'succeeded',
      declined: 'declined',
      error: 'error',
      cancel: 'cancelled',
    } as const
    return { to: addressOf(payment), done: done[scenario] }
  })

/** Throws a 400: the page has a button for each. */
function scenarioIn(form: URLSearchParams): Scenario {
  const scenario = scenarios.find(each => each === form.get('scenario'))
  if (scenario === undefined) throw pageFault(400)
  return scenario
}

const moves: Record<'capture' | 'cancel', { operation: ActionName; done: Done }> = {
  capture: { operation: 'capturePayment', done: 'captured' },
  cancel: { operation: 'cancelPayment', done: 'cancelled-by-api' },
}

const move = (context: Context, { find }: PaymentPage, trigger: 'capture' | 'cancel'): Route => {
  const { operation, done } = moves[trigger]
  return actionRoute(context, `payments/{payment_id}/${trigger}`, async visit => {
    const { account, addresses } = visit
    const result = await recordAction(
      context,
      inConsole(operation, () => ''),
      recordEffects =>
        movePayment(
          context,
          addresses,
          async () => ({ account, payment: await find(visit) }),
          trigger,
          { recordEffects },
        ),
    )
    const payment = result?.payment ?? (await find(visit))
    return result?.moved ? { to: addressOf(payment), done } : overtaken(payment)
  })
}

const refund = (context: Context, { find, show }: PaymentPage): Route =>
  actionRoute(context, 'payments/{payment_id}/refund', async visit => {
    const { account, addresses, request } = visit
    const payment = await find(visit)
    const { status, amount_available: available } = refundSummary(payment)
    if (status !== 'available') return overtaken(payment)
    const given = (formBody(request).get('amount') ?? '').trim()
    const amount = given === '' ? available : Number(given)
    if (!/^\d{0,9}$/.test(given) || amount < 1 || amount > available) {
      const message = `Enter a whole number of pence from 1 to ${available}`
      return show(visit, payment, { given, message })
    }
    const { payment_id } = payment
    const asked = { amount, available: undefined }
    try {
      await recordAction(
        context,
        inConsole(REFUND, ({ refund_id }: Refund) => `refund_id=${refund_id}&amount=${amount}`),
        recordEffects =>
          createRefund(context, addresses, { account, payment_id, asked, recordEffects }),
      )
    } catch (error) {
      if (isRefusal(error)) return overtaken(payment)
      throw error
    }
    return { to: addressOf(payment), done: 'refunded' }
  })
