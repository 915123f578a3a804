/** What can be done to a payment now, as forms of buttons. */
import { inPounds } from '../../../core/money.ts'
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
import type { AccountVisit } from '../frame/page.ts'
import { link, paragraph } from '../frame/parts.ts'

/** What was wrong with the refund that was asked for. */
export type RefundFault = { given: string; message: string }

export function whatYouCanDo(
  visit: AccountVisit,
  payment: Payment,
  fault: RefundFault | undefined,
): Html {
  const { payment_id, given } = payment
  const status = statusOf(payment)
  const address = `${visit.root}payments/${payment_id}`
  if (isPayable(status)) {
    if (given.authorisation_mode === 'moto_api') return openMoto(address)
    const page = `${visit.addresses.pages}/secure/${tokenOf(payment)}`
    return html`${paragraph(link(page, 'Open the payment page'))}
${outcomes(address, webOutcomes)}`
  }
  if (status === 'capturable')
    return html`<div class="govuk-button-group">
${actionForm(`${address}/capture`, 'capture', 'Capture the payment')}
${actionForm(`${address}/cancel`, 'cancel', 'Cancel the payment')}
</div>`
  const { status: refundable, amount_available } = refundSummary(payment)
  if (refundable === 'available') return refundForm(address, amount_available, fault)
  return paragraph(
    refundable === 'full' ? 'Nothing: it is refunded in full.' : 'Nothing: the payment has ended.',
  )
}

const webOutcomes = [
  ['success', 'The user pays'],
  ['declined', 'The card is declined'],
  ['error', 'The provider has an error'],
  ['cancel', 'The user cancels'],
] as const

const cardOutcomes = [
  ['success', 'The card is accepted'],
  ['declined', 'The card is declined'],
] as const

const outcomes = (address: string, choices: typeof webOutcomes | typeof cardOutcomes): Html =>
  html`<form method="post" action="${address}/complete">
${buttonGroup(
  choices.map(([value, text]) =>
    button({ id: `choose-${value}`, text, secondary: true, field: { name: 'scenario', value } }),
  ),
)}
</form>`

const openMoto = (address: string): Html => html`${outcomes(address, cardOutcomes)}
${actionForm(`${address}/cancel`, 'cancel', 'Cancel the payment')}`

const actionForm = (action: string, id: string, text: string): Html =>
  html`<form method="post" action="${action}">${button({ id, text, secondary: true })}</form>`

function refundForm(address: string, available: number, fault: RefundFault | undefined): Html {
  return html`<form class="farthing-filter" method="post" action="${address}/refund">
${input({
  name: 'amount',
  label: 'Refund in pence',
  hint: `${inPounds(available)} can be refunded`,
  value: fault?.given ?? String(available),
  inputmode: 'numeric',
  width: 10,
  error: fault?.message,
})}
${button({ id: 'refund', text: 'Refund', secondary: true })}
</form>`
}
