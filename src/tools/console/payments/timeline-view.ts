import { inDigits, inPounds } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import type { FailureCode, Payment, PaymentEvent } from '../../../pay/payments/payment.ts'
import { statusAt } from '../../../pay/webhooks/message-store.ts'
import { tag } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { causeOf } from '../../explain/causes.ts'
import { ACCEPTED_WRONG, answerToWrong } from '../../explain/wrong-signature.ts'
import { actionText } from '../../record/action.ts'
import type { Exchange } from '../../record/exchange.ts'
import { MASK } from '../../record/mask.ts'
import { inProduction } from '../check/check.ts'
import { agentOf, endings, orderNote, refusalText } from '../frame/exchange.ts'
import { againPart, nameOfAttempt, type ShownAttempt } from '../frame/message-attempts.ts'
import * as ui from '../frame/parts.ts'
import type { AccountVisit } from '../frame/visit.ts'
import type { Rows, ShownMessage } from './rows.ts'
import type { MissingMessage, Step } from './timeline.ts'

/** `above` has the sentences that the page says already: a cause or a note is said once. */
type Timeline = AccountVisit & {
  payment: Payment
  attemptsFrom: Rows['attemptsFrom']
  above: Set<string>
}

const origins: Record<NonNullable<Payment['origin']>, string> = {
  seed: 'This payment was made by farthing seed, without requests.',
  'test message':
    'This payment was made for a test message to one webhook. No other was told about it.',
  console: 'This payment was made in the console.',
  control: 'This payment was made with POST /control/payments.',
}

/** `hasWebhooks`: whether the account has, or had, a webhook. */
export const timelineNotes = (
  { root, hasEnded }: AccountVisit,
  { origin }: Payment,
  { steps, hasWebhooks }: { steps: readonly Step[]; hasWebhooks: boolean },
): Html => html`${!hasWebhooks && ui.paragraph(html`No messages are sent about this payment, because the account has no webhook. ${!hasEnded && ui.link(`${root}webhooks/new`, 'Register one')}`)}
${origin && ui.paragraph(origins[origin])}
${orderNote(steps.flatMap(({ exchange }) => exchange ?? []))}
`

/** Each day has a heading and a list. The lists name their role, because Safari drops it where there are no markers. */
export function timelineView(timeline: Timeline, steps: readonly Step[]): Html {
  const days = Map.groupBy(steps, ({ at }) => iso(at).slice(0, 10))
  return html`${[...days].map(
    ([day, steps]) => html`<h3 class="govuk-heading-s">${ui.dayName(Date.parse(day))}</h3>
<ol class="farthing-timeline" role="list">
${steps.map(step => stepView(timeline, step))}</ol>
`,
  )}`
}

function stepView(timeline: Timeline, step: Step): Html {
  const { exchange, events, refunds, messages, missing, more } = step
  const caused = [
    ...(events.length > 0 ? [stateLine(events)] : []),
    ...refunds.map(
      ({ refund_id, amount, status }) =>
        html`refund of ${inPounds(amount)}, ${ui.code(refund_id)} ${ui.statusTag(status)}`,
    ),
    ...messages.map(message => messageView({ ...timeline, at: step.at }, message)),
    ...missingLines(timeline, missing),
  ]
  return html`<li class="farthing-step">
<h4 class="farthing-step__heading">${ui.timeOfDay(step.at)} ${headingOf(timeline, step)}</h4>
${exchange && factsOf(timeline, exchange)}
${exchange && inProduction(exchange.facts?.broken, timeline.above)}
${caused.length > 0 && html`<ul class="farthing-step__caused" role="list">${caused.map(line => html`<li>${line}</li>\n`)}</ul>`}
${more > 0 && html`<p class="farthing-step__facts">and ${more} more like it</p>`}
</li>
`
}

function headingOf({ root, payment }: Timeline, { exchange, cause }: Step): Part {
  if (!exchange) return cause
  const { kind, by, query, exchange_id, result, method, path, status } = exchange
  if (kind === 'action')
    return `${by === 'control' ? 'Through /control' : 'In the console'}: ${actionText(exchange)}`
  const address = `${root}requests/${exchange_id}`
  if (kind === 'out') return ui.link(address, html`Message by hand → ${ui.untrusted(result ?? '')}`)
  const form = kind === 'page' && exchange.request_body?.text
  const short = path
    .replace(payment.payment_id, `${payment.payment_id.slice(0, 6)}${MASK}`)
    .replace(`${MASK}${MASK}`, MASK)
  const answer = status === null ? 'no response' : String(status)
  return ui.link(
    address,
    html`${method} ${ui.untrusted(query ? `${short}?${query}` : short)}${form && html` ${ui.untrusted(form)}`} → ${answer}`,
  )
}

function factsOf({ root }: Timeline, exchange: Exchange): Html | undefined {
  const { kind, ms, key_id, code, field, ended, by_hand } = exchange
  if (exchange.asked)
    return html`<p class="farthing-step__facts">${ui.link(`${root}messages/${exchange.message_id}`, ui.untrusted(exchange.asked.sentence))}</p>`
  if (kind === 'action') return undefined
  const why = exchange.refused && ended !== 'reset' ? (refusalText(exchange) ?? field ?? '') : ''
  const facts: Part[] = [
    `${inDigits(Math.round(ms))} ms`,
    code && html`refused with ${code}${why && html`: ${ui.untrusted(why)}`}`,
    !code && why !== '' && ui.untrusted(why),
    key_id && `key ${ui.nameOfKey(key_id)}`,
    kind === 'page' && agentOf(exchange),
    by_hand && nameOfAttempt(by_hand),
    answerToWrong(exchange) === 'accepted' && tag(ACCEPTED_WRONG, 'red'),
    endings[ended],
  ]
  return html`<p class="farthing-step__facts">${ui.joined(facts, ' · ')}</p>`
}

const reasons: Record<FailureCode, string> = {
  P0010: 'the card was declined',
  P0020: 'it expired',
  P0030: 'the user cancelled',
  P0040: 'cancelled through the API',
  P0050: 'the provider had an error',
}

/** Why the payment ended as it did; undefined for an event without a code. */
export const reasonFor = ({ code }: PaymentEvent): string | undefined =>
  code && `${code} (${reasons[code]})`

function stateLine(events: readonly PaymentEvent[]): Html {
  const last = events.at(-1)
  const reason = last && reasonFor(last)
  const states = events.map(({ status }) => status).join(' → ')
  return html`<strong>${states}</strong>${reason && `, ${reason}`}`
}

function messageView(
  timeline: Timeline & { at: number },
  { message, webhook, attempts, again }: ShownMessage,
): Html {
  const { root, above } = timeline
  const { message_id, event_type } = message
  const alike = [...Map.groupBy(attempts, ({ ending }) => ending.result).values()]
  return html`${ui.link(`${root}messages/${message_id}`, event_type)} → ${ui.untrusted(webhook)}: ${ui.deliveryTag(statusAt(message, timeline))} ${attempts.length === 0 ? 'no attempt yet' : ui.counted(attempts.length, 'attempt')}${again && '.'}${againPart(again, timeline.now)}
${
  alike.length > 0 &&
  html`<ol class="farthing-step__attempts" role="list">${alike.map(
    group => html`<li>${attemptsView(timeline, group)}${causeView(root, message, group, above)}</li>
`,
  )}</ol>`
}`
}

/** Attempts that ended alike, in one line: `401 Unauthorized at 09:12:58.117 in 12 ms, at 09:13:00.119 in 11 ms`. */
function attemptsView(
  timeline: Timeline & { at: number },
  attempts: readonly ShownAttempt[],
): Html {
  const times = attempts.map(attempt => {
    const { at, ms, exchange } = attempt
    // The exchange of an attempt is written a moment after it.
    const isMissing = timeline.now - at >= 2_000 && at > (timeline.attemptsFrom ?? 0)
    const when = exchange
      ? ui.link(`${timeline.root}requests/${exchange.exchange_id}`, ui.briefTime(at, timeline.at))
      : html`${ui.briefTime(at, timeline.at)}${isMissing && ' (response not recorded)'}`
    return html` at ${when}${ms !== null && ` in ${Math.round(ms)} ms`}`
  })
  return html`${ui.untrusted(attempts[0]?.ending.result ?? '')}${ui.joined(times, ',')}`
}

/** Why the attempts failed. Each cause is shown once for each webhook. */
function causeView(
  root: string,
  { message_id, webhook_id }: ShownMessage['message'],
  attempts: readonly ShownAttempt[],
  above: Set<string>,
): Html | false {
  const ending = attempts.at(-1)?.ending
  const cause = ending && causeOf(ending)
  if (!ending || !cause || above.has(`${webhook_id} ${cause}`)) return false
  above.add(`${webhook_id} ${cause}`)
  const isSignature = ending.status === 401 || ending.status === 403
  return html`<br>${ui.untrusted(cause)}${isSignature && html` ${ui.link(`${root}signature?message=${message_id}`, 'Compare signatures')}`}`
}

export const MOST_NAMED = 10

function missingLines({ root }: Timeline, missing: readonly MissingMessage[]): Html[] {
  const named = missing.slice(0, MOST_NAMED)
  const rest = missing.length - named.length
  return [
    ...named.map(
      ({ webhook_id, webhook, why }) =>
        html`no message to ${ui.link(`${root}webhooks/${webhook_id}`, ui.untrusted(webhook))}: ${why}`,
    ),
    ...(rest > 0 ? [html`no message to ${ui.counted(rest, 'more webhook')}`] : []),
  ]
}
