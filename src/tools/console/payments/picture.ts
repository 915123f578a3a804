/** The picture of a payment: its states in a line, the buttons for what can come next, and each webhook's messages. */

import { timeOf } from '../../../core/ids.ts'
import { inPounds, plainPounds } from '../../../core/money.ts'
import {
  isPayable,
  type Payment,
  type Status,
  statusOf,
  tokenOf,
} from '../../../pay/payments/payment.ts'
import { refundSummary } from '../../../pay/payments/refund.ts'
import { statusAt } from '../../../pay/webhooks/message-store.ts'
import { button, buttonLink } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { MOST_OF_PAYMENT } from '../../lists/webhooks-store.ts'
import { actionForm } from '../frame/define-page.ts'
import { fieldParts, POUNDS, type Typed } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import { deliveryOf } from '../frame/message-attempts.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'
import { AMOUNT, type PaymentAction, paymentActions } from './actions.ts'
import { scenarioField } from './new.ts'
import type { ShownMessage, ShownRefund } from './rows.ts'
import type { MissingMessage, Step } from './timeline.ts'
import { reasonFor } from './timeline-view.ts'

/** The states on the way to success. No payment stays in submitted, unless a plan holds it. */
const wayToSuccess = ({ given }: Payment): Status[] => [
  'created',
  'started',
  'submitted',
  ...(given.delayed_capture ? (['capturable'] as const) : []),
  'success',
]

/** `refunds` are oldest first. */
export function statesPart(
  visit: PageVisit,
  payment: Payment,
  refunds: readonly ShownRefund[],
  refused: Typed | undefined,
): Html {
  const { events } = payment
  const refunded = refundedText(payment, refunds)
  const newest = refunds.findLast(({ status }) => status !== 'error')
  const now = events.at(-1)
  const isHeld = refunds.some(({ scenario }) => scenario === 'held')
  const possible = visit.hasEnded ? [] : paymentActions.filter(({ when }) => when(payment, isHeld))
  const ends = new Set(possible.map(({ to }) => to(payment)))
  const path = wayToSuccess(payment)
  const after = path.slice(path.indexOf(now?.status ?? 'created') + 1)
  const next = after.some(status => ends.has(status)) ? after : []
  const others = [...ends].filter(status => !path.includes(status) && status !== now?.status)
  return html`${paymentPageLink(visit, payment)}
<ol class="farthing-states" aria-label="States of the payment">
${events.map(event => {
  const reason = reasonFor(event)
  const text = html`${ui.statusTag(event.status)}<br>${ui.timeWithAge(event.at)}${reason && html`<br>${reason}`}`
  return stateView(event === now ? 'now' : 'past', text)
})}${refunded && newest && stateView('past', html`${refunded}<br>${ui.timeWithAge(timeOf(newest.refund_id))}`)}${next.map(status => stateView('next', html`${status}<br><span class="farthing-step__facts">not yet</span>`))}</ol>
${others.length > 0 && ui.paragraph(`It can also end as ${others.join(', ').replace(/, (\w+)$/, ' or $1')}.`)}
<div class="farthing-actions">
${[...Map.groupBy(possible, ({ path }) => path)].map(([path, alike]) => actionForm(visit, path, path === 'refund' ? html`${refundFields(visit, payment, refused)}${alike.map(actionButton)}` : alike.map(actionButton), 'farthing-filter'))}
</div>
${!visit.hasEnded && possible.length === 0 && ui.paragraph(refunds.some(({ status }) => status === 'submitted') ? 'Nothing can be done now: a refund is submitted.' : `Nothing more can happen: ${refundSummary(payment).status === 'full' ? 'it is refunded in full' : 'the payment has ended'}.`)}`
}

/** Such as `£5.50 of £14.50 refunded`. A refund that is submitted may still fail. */
export function refundedText(payment: Payment, refunds: readonly ShownRefund[]): string | false {
  const isAny = (wanted: ShownRefund['status']) => refunds.some(({ status }) => status === wanted)
  const waiting = isAny('success') ? 'refunded or submitted' : 'submitted as a refund'
  return ui.refundedText(payment, isAny('submitted') ? waiting : 'refunded')
}

const stateView = (when: 'past' | 'now' | 'next', content: Part): Html =>
  html`<li class="farthing-state farthing-state--${when}"${when === 'now' && html` aria-current="step"`}>${content}</li>
`

/** The link to the hosted page where the user pays an open payment, or confirms it. */
const paymentPageLink = ({ addresses, hasEnded }: AccountVisit, payment: Payment): Html | false =>
  !hasEnded &&
  (isPayable(statusOf(payment)) || statusOf(payment) === 'submitted') &&
  payment.given.authorisation_mode === 'web' &&
  buttonLink(
    'open-payment-page',
    'Open the payment page',
    `${addresses.pages}/secure/${tokenOf(payment)}`,
  )

const actionButton = ({ path, button: text, end }: PaymentAction): Html =>
  button({
    id: end ? `choose-${end}` : path,
    text,
    secondary: true,
    ...(end && { field: { name: 'scenario', value: end } }),
  })

function refundFields(visit: PageVisit, payment: Payment, refused: Typed | undefined): Html[] {
  const { amount_available } = refundSummary(payment)
  const hint = `Of ${inPounds(amount_available)}`
  const amount = { ...POUNDS, label: 'Refund in pounds', hint, right: {} }
  const fields = { [AMOUNT]: amount, ...scenarioField(visit, 'Refund', 'succeeds') }
  return fieldParts(refused, fields, { [AMOUNT]: plainPounds(amount_available) })
}

const MOST_SHOWN = 10

/** The most messages to one webhook that have a mark: the newest. */
const MOST_MARKS = 20

export function webhooksPart(
  visit: AccountVisit,
  shown: readonly ShownMessage[],
  steps: readonly Step[],
): Html | false {
  const messages = Map.groupBy(shown, ({ message }) => message.webhook_id)
  const missing = Map.groupBy(
    steps.flatMap(step => step.missing),
    ({ webhook_id }) => webhook_id,
  )
  const ids = [...new Set([...messages.keys(), ...missing.keys()])]
  const rest = ids.length - MOST_SHOWN
  const least = shown.length < MOST_OF_PAYMENT ? '' : 'at least '
  return (
    ids.length > 0 &&
    html`<h2 class="govuk-heading-m">Webhooks</h2>
<ul class="farthing-told" role="list">
${ids.slice(0, MOST_SHOWN).map(id => rowView(visit, id, { messages: messages.get(id) ?? [], missing: missing.get(id) ?? [], least }))}</ul>
${rest > 0 && ui.paragraph(`And ${least}${ui.counted(rest, 'more webhook')}.`)}`
  )
}

type Told = {
  messages: readonly ShownMessage[]
  missing: readonly MissingMessage[]
  /** Before a number, if there may be more messages than were read. */
  least: string
}

function rowView(
  visit: AccountVisit,
  webhook_id: string,
  { messages, missing, least }: Told,
): Html {
  const earlier = Math.max(0, messages.length - MOST_MARKS)
  const marks = messages.slice(earlier).map((shown): ui.Mark => {
    const { message, again } = shown
    return {
      status: deliveryOf(message, visit, again),
      text: `${message.event_type}, ${statusAt(message, visit)}`,
      detail: textOf(shown),
      href: `${visit.root}messages/${message.message_id}`,
    }
  })
  const { webhook = '' } = messages[0] ?? missing[0] ?? {}
  const reasons = missing.map(({ why }) => (marks.length > 0 ? `no other message: ${why}` : why))
  const unshown = earlier > 0 ? [`${least}${ui.counted(earlier, 'earlier message')} not shown`] : []
  const texts = [...new Set([...messages.map(textOf), ...reasons]), ...unshown].join('; ')
  return html`<li>${ui.link(`${visit.root}webhooks/${webhook_id}`, ui.untrusted(webhook))}
${marks.length > 0 && ui.marksRow('Messages', marks)}
<span>${ui.untrusted(texts)}</span></li>
`
}

/** Such as `2 attempts, 401 Unauthorized`. */
function textOf({ attempts, again }: ShownMessage): string {
  const result = attempts.at(-1)?.ending.result
  if (result === undefined) return 'no attempt yet'
  return `${ui.counted(attempts.length, 'attempt')}, ${result}${again ? ', sent again and accepted' : ''}`
}
