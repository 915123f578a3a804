/** The picture of a payment: its states along a line, each with what can be done to reach it, and what each webhook was told. */

import { timeOf } from '../../../core/ids.ts'
import { inPounds, plainPounds } from '../../../core/money.ts'
import {
  isPayable,
  type Payment,
  type Status,
  statusOf,
  tokenOf,
} from '../../../pay/payments/payment.ts'
import { type Refund, refundSummary } from '../../../pay/payments/refund.ts'
import { shownStatus } from '../../../pay/webhooks/message-store.ts'
import { button, buttonGroup, buttonLink } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { actionForm } from '../frame/define-page.ts'
import { type Typed, typedInput } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { AccountVisit } from '../frame/page.ts'
import {
  counted,
  link,
  type Mark,
  marksRow,
  paragraph,
  refundedText,
  statusTag,
  timeWithAge,
  untrusted,
} from '../frame/parts.ts'
import { AMOUNT, type PaymentAction, paymentActions } from './actions.ts'
import type { ShownMessage, Step } from './timeline.ts'
import { reasonFor } from './timeline-view.ts'

/** The states on the way to success. No payment stays in submitted, unless a plan holds it. */
const wayToSuccess = ({ given }: Payment): Status[] => [
  'created',
  'started',
  'submitted',
  ...(given.delayed_capture ? (['capturable'] as const) : []),
  'success',
]

type PictureOptions = {
  /** Oldest first. */
  refunds: readonly Refund[]
  refused: Typed | undefined
  control: boolean
}

export function statesPart(
  visit: PageVisit,
  payment: Payment,
  { refunds, refused, control }: PictureOptions,
): Html {
  const { events } = payment
  const [refunded, newest] = [refundedText(payment), refunds.at(-1)]
  const now = events.at(-1)
  const possible = visit.hasEnded ? [] : paymentActions.filter(({ when }) => when(payment, control))
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
  // The states that end it otherwise, in the order of the actions that lead there.
  const ends = new Set(possible.map(({ to }) => to(payment))).difference(
    new Set([...path, now?.status]),
  )
  return html`${paymentPageLink(visit, payment)}
<ol class="farthing-states" aria-label="States of the payment">
${events.map(event => {
  const reason = reasonFor(event)
  const text = html`${statusTag(event.status)}<br>${timeWithAge(event.at)}${reason && html`<br>${reason}`}`
  return event === now
    ? stateView('now', html`${text}${forms(event.status)}`)
    : stateView('past', text)
})}${refunded && newest && stateView('past', html`${refunded}<br>${timeWithAge(timeOf(newest.refund_id))}`)}${next.map(status => stateView('next', html`${status}<br>${NOT_YET}${forms(status)}`))}</ol>
${
  ends.size > 0 &&
  html`${paragraph('Or it ends here:')}
<ul class="farthing-states" aria-label="Other ends of the payment">
${[...ends].map(status => stateView('next', html`${status}<br>${NOT_YET}${forms(status)}`))}</ul>`
}
${!visit.hasEnded && possible.length === 0 && paragraph(overText(payment))}`
}

const NOT_YET = html`<span class="farthing-step__facts">not yet</span>`

const overText = (payment: Payment): string =>
  refundSummary(payment).status === 'full'
    ? 'Nothing more can happen: it is refunded in full.'
    : 'Nothing more can happen: the payment has ended.'

const stateView = (when: 'past' | 'now' | 'next', content: Part): Html =>
  html`<li class="farthing-state farthing-state--${when}"${when === 'now' && html` aria-current="step"`}>${content}</li>
`

/** Where its user pays an open payment. */
function paymentPageLink(
  { addresses, hasEnded }: AccountVisit,
  payment: Payment,
): Html | undefined {
  const hasPage =
    !hasEnded && isPayable(statusOf(payment)) && payment.given.authorisation_mode !== 'moto_api'
  const page = `${addresses.pages}/secure/${tokenOf(payment)}`
  return hasPage ? buttonLink('open-payment-page', 'Open the payment page', page) : undefined
}

/** The forms of these actions. */
function formsOf(
  visit: PageVisit,
  payment: Payment,
  actions: readonly PaymentAction[],
  refused: Typed | undefined,
): (Html | false)[] {
  return [...Map.groupBy(actions, ({ path }) => path)].map(([path, each]) =>
    actionForm(
      visit,
      path,
      path === 'refund' ? refundFields(payment, each, refused) : buttonsOf(each),
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

function refundFields(
  payment: Payment,
  actions: readonly PaymentAction[],
  refused: Typed | undefined,
): Html {
  const { amount_available } = refundSummary(payment)
  return html`${typedInput(refused, {
    name: AMOUNT,
    label: 'Refund in pounds',
    hint: `Of ${inPounds(amount_available)}`,
    value: plainPounds(amount_available),
    inputmode: 'decimal',
    width: 10,
  })}
${actions.map(({ id, button: text }) => button({ id, text, secondary: true }))}`
}

/** The most webhooks that are shown. */
const MOST_SHOWN = 10

/** One webhook: its messages about the payment, and why it got no other. */
type Row = { name: string; messages: ShownMessage[]; reasons: string[] }

export function webhooksPart(visit: AccountVisit, steps: readonly Step[]): Html | false {
  const rows = [...messagesByWebhook(steps)]
  if (rows.length === 0) return false
  const rest = rows.length - MOST_SHOWN
  return html`<h2 class="govuk-heading-m">Webhooks</h2>
<ul class="farthing-told" role="list">
${rows.slice(0, MOST_SHOWN).map(([webhook_id, row]) => rowView(visit, webhook_id, row))}</ul>
${rest > 0 && paragraph(`And ${counted(rest, 'more webhook')}.`)}`
}

function messagesByWebhook(steps: readonly Step[]): Map<string, Row> {
  const rows = new Map<string, Row>()
  const rowOf = (webhook_id: string, name: string): Row => {
    const row = rows.get(webhook_id) ?? { name, messages: [], reasons: [] }
    rows.set(webhook_id, row)
    return row
  }
  for (const { messages, missing } of steps) {
    for (const each of messages) rowOf(each.message.webhook_id, each.webhook).messages.push(each)
    for (const { webhook_id, webhook, why } of missing) rowOf(webhook_id, webhook).reasons.push(why)
  }
  return rows
}

function rowView(
  { root, now }: AccountVisit,
  webhook_id: string,
  { name, messages, reasons }: Row,
): Html {
  const marks = messages.map((each): Mark => {
    const { message, again } = each
    const status = shownStatus(message, now)
    return {
      status: again && status === 'FAILED' ? 'sent again' : status,
      text: `${message.event_type}, ${status}`,
      detail: textOf(each),
      href: `${root}messages/${message.message_id}`,
    }
  })
  const whyNot = messages.length > 0 ? reasons.map(why => `no other message: ${why}`) : reasons
  const texts = [...new Set([...messages.map(textOf), ...whyNot])].join('; ')
  return html`<li>${link(`${root}webhooks/${webhook_id}`, untrusted(name))}
${marks.length > 0 && marksRow('Messages', marks)}
<span>${untrusted(texts)}</span></li>
`
}

/** Such as `2 attempts, 401 Unauthorized`. */
function textOf({ attempts, again }: ShownMessage): string {
  const result = attempts.at(-1)?.ending.result
  if (result === undefined) return 'no attempt yet'
  return `${counted(attempts.length, 'attempt')}, ${result}${again ? ', sent again and accepted' : ''}`
}
