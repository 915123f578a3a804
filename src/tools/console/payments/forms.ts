/** What can be done to a payment, as forms of buttons: those of the table of actions. */
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
import { BACK, link, postForm } from '../frame/parts.ts'
import { pageAddress } from '../frame/query.ts'
import { AMOUNT, type PaymentAction, type RefundRefused } from './actions.ts'

/** Where its user pays an open payment. */
export function paymentPageLink(
  { addresses, hasEnded }: AccountVisit,
  payment: Payment,
): Html | undefined {
  const hasPage =
    !hasEnded && isPayable(statusOf(payment)) && payment.given.authorisation_mode !== 'moto_api'
  const page = `${addresses.pages}/secure/${tokenOf(payment)}`
  return hasPage ? link(page, 'Open the payment page') : undefined
}

/** The forms of these actions. */
export function formsOf(
  visit: AccountVisit,
  payment: Payment,
  actions: readonly PaymentAction[],
  refused: RefundRefused | undefined,
): Html[] {
  const { [BACK]: back } = textsIn(visit, [BACK])
  return [...Map.groupBy(actions, ({ path }) => path)].map(([path, each]) =>
    postForm(
      visit.account,
      pageAddress(`${visit.root}payments/${payment.payment_id}/${path}`, { [BACK]: back }),
      path === 'refund' ? refundFields(visit, payment, each, refused) : buttonsOf(each),
    ),
  )
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
  refused: RefundRefused | undefined,
): Html {
  const { amount_available } = refundSummary(payment)
  const { [AMOUNT]: kept } = textsIn(visit, [AMOUNT])
  return html`${input({
    name: AMOUNT,
    label: 'Refund in pounds',
    hint: `Of ${inPounds(amount_available)}`,
    value: refused?.typed ?? (kept || plainPounds(amount_available)),
    inputmode: 'decimal',
    width: 10,
    error: refused?.errors[AMOUNT],
  })}
${actions.map(({ id, button: text }) => button({ id, text, secondary: true }))}`
}
