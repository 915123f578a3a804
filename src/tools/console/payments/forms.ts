/** What can be done to a payment now, as forms of buttons: those of the table of actions. */
import { inPounds, plainPounds } from '../../../core/money.ts'
import {
  isPayable,
  type Payment,
  refundSummary,
  statusOf,
  tokenOf,
} from '../../../pay/payments/payment.ts'
import { button, buttonGroup } from '../../../platform/web/components.ts'
import { input } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type AccountVisit, textsIn } from '../frame/page.ts'
import { link, paragraph, postForm } from '../frame/parts.ts'
import { AMOUNT, type PaymentAction, paymentActions, type RefundFault } from './actions.ts'

export function whatYouCanDo(
  visit: AccountVisit,
  payment: Payment,
  fault: RefundFault | undefined,
): Html {
  const possible = paymentActions.filter(({ when }) => when(payment))
  if (possible.length === 0)
    return paragraph(
      refundSummary(payment).status === 'full'
        ? 'Nothing: it is refunded in full.'
        : 'Nothing: the payment has ended.',
    )
  const forms = [...Map.groupBy(possible, ({ path }) => path)].map(([path, actions]) =>
    postForm(
      visit.account,
      `${visit.root}payments/${payment.payment_id}/${path}`,
      path === 'refund' ? refundFields(visit, payment, actions, fault) : buttonsOf(actions),
      path === 'refund' ? 'farthing-filter' : undefined,
    ),
  )
  const hasPage = isPayable(statusOf(payment)) && payment.given.authorisation_mode !== 'moto_api'
  const page = `${visit.addresses.pages}/secure/${tokenOf(payment)}`
  return html`${hasPage && paragraph(link(page, 'Open the payment page'))}
<div class="farthing-actions">
${forms}
</div>`
}

const buttonsOf = (actions: readonly PaymentAction[]): Html =>
  buttonGroup(
    actions.map(({ id, button: text, scenario }) =>
      button({
        id,
        text,
        secondary: true,
        ...(scenario && { field: { name: 'scenario', value: scenario } }),
      }),
    ),
  )

/** After a sign-in the address has the amount that was typed before. */
function refundFields(
  visit: AccountVisit,
  payment: Payment,
  actions: readonly PaymentAction[],
  fault: RefundFault | undefined,
): Html {
  const { amount_available } = refundSummary(payment)
  const { [AMOUNT]: kept } = textsIn(visit, [AMOUNT])
  return html`${input({
    name: AMOUNT,
    label: 'Refund in pounds',
    hint: `Of ${inPounds(amount_available)}`,
    value: fault?.given ?? (kept || plainPounds(amount_available)),
    inputmode: 'decimal',
    width: 10,
    error: fault?.message,
  })}
${actions.map(({ id, button: text }) => button({ id, text, secondary: true }))}`
}
