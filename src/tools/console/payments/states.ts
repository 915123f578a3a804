/** The picture of a payment: its states along a line, each with what can be done to reach it. */
import { type Payment, refundSummary, type Status } from '../../../pay/payments/payment.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import type { AccountVisit } from '../frame/page.ts'
import { paragraph, statusTag, timeWithAge } from '../frame/parts.ts'
import { type PaymentAction, paymentActions, type RefundRefused } from './actions.ts'
import { formsOf, paymentPageLink } from './forms.ts'
import { reasonFor } from './timeline-view.ts'

/** The states on the way to success. No payment stays in submitted. */
const wayToSuccess = ({ given }: Payment): Status[] => [
  'created',
  'started',
  'submitted',
  ...(given.delayed_capture ? (['capturable'] as const) : []),
  'success',
]

export function statesPart(
  visit: AccountVisit,
  payment: Payment,
  refused: RefundRefused | undefined,
): Html {
  const { events } = payment
  const now = events.at(-1)
  const possible = visit.hasEnded ? [] : paymentActions.filter(({ when }) => when(payment))
  const forms = (status: Status) =>
    formsOf(
      visit,
      payment,
      possible.filter(({ to }) => to(payment) === status),
      refused,
    )
  const path = wayToSuccess(payment)
  const goesOn = (status: Status) => possible.some(({ to }) => to(payment) === status)
  const after = path.slice(path.indexOf(now?.status ?? 'created') + 1)
  const next = after.some(goesOn) ? after : []
  const ends = endsOf(payment, possible, [...path, now?.status])
  const link = now && paymentPageLink(visit, payment)
  return html`<ol class="farthing-states" aria-label="States of the payment">
${events.map(event => {
  const reason = reasonFor(event)
  const text = html`${statusTag(event.status)}<br>${timeWithAge(event.at)}${reason && html`<br>${reason}`}`
  return event === now
    ? stateView('now', html`${text}${link && html`<br>${link}`}${forms(event.status)}`)
    : stateView('past', text)
})}${next.map(status => stateView('next', html`${status}<br>${NOT_YET}${forms(status)}`))}</ol>
${
  ends.length > 0 &&
  html`${paragraph('Or it ends here:')}
<ul class="farthing-states" aria-label="Other ends of the payment">
${ends.map(status => stateView('next', html`${status}<br>${NOT_YET}${forms(status)}`))}</ul>`
}
${!visit.hasEnded && possible.length === 0 && paragraph(overText(payment))}`
}

const NOT_YET = html`<span class="farthing-step__facts">not yet</span>`

const overText = (payment: Payment): string =>
  refundSummary(payment).status === 'full'
    ? 'Nothing more can happen: it is refunded in full.'
    : 'Nothing more can happen: the payment has ended.'

/** The states that end the payment otherwise, in the order of the actions that lead there. */
const endsOf = (
  payment: Payment,
  possible: readonly PaymentAction[],
  path: readonly (Status | undefined)[],
): Status[] => {
  const ends = possible.map(({ to }) => to(payment)).filter(status => !path.includes(status))
  return [...new Set(ends)]
}

const stateView = (when: 'past' | 'now' | 'next', content: Part): Html =>
  html`<li class="farthing-state farthing-state--${when}"${when === 'now' && html` aria-current="step"`}>${content}</li>
`
