/** Makes the steps of a timeline from the rows of one payment: everything that happened to it, by time. Pure. */

import { timeOf } from '../../../core/ids.ts'
import { eventsOfMove } from '../../../pay/differences/messages.ts'
import { refundMessage } from '../../../pay/differences/states.ts'
import { type DueStep, dueStep } from '../../../pay/payments/due.ts'
import { behaviourOf, type Payment, type PaymentEvent } from '../../../pay/payments/payment.ts'
import { eventsOfRefund } from '../../../pay/payments/refund.ts'
import { type EventType, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { MOST_OF_PAYMENT } from '../../lists/webhooks-store.ts'
import type { ActionName } from '../../record/action.ts'
import { isCopy } from '../../record/by-hand.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Rows, ShownMessage, ShownRefund, Unread } from './rows.ts'

export type MissingMessage = { webhook_id: string; webhook: string; why: string }

export type Step = {
  /** On the account's clock, in milliseconds. */
  at: number
  /** undefined for a change that time caused, or whose request was not recorded. */
  exchange: Exchange | undefined
  /** The heading of a step without an exchange; '' for others. */
  cause: string
  events: PaymentEvent[]
  refunds: ShownRefund[]
  messages: ShownMessage[]
  missing: MissingMessage[]
  more: number
}

export function timelineOf(rows: Rows): Step[] {
  const known = {
    messages: new Map(rows.messages.map(sent => [sent.message.message_id, sent])),
    refunds: new Map(rows.refunds.map(refund => [refund.refund_id, refund])),
  }
  const recorded = rows.exchanges
    .filter(exchange => exchange.kind !== 'out' || (exchange.by_hand && !isCopy(exchange)))
    .map(exchange => recordedStep(exchange, rows, known))
  const steps = [...unrecordedSteps(rows, recorded), ...recorded]
  // The sort is stable: of steps with the same time, one without a request comes first.
  const ordered = steps.toSorted((a, b) => a.at - b.at)
  return foldReads(
    ordered.map(step => ({ ...step, missing: missingOf(step, rows) })),
    rows.unread,
  )
}

type Drawn = Omit<Step, 'missing'>

type Known = { messages: Map<string, ShownMessage>; refunds: Map<string, ShownRefund> }

function recordedStep(exchange: Exchange, { payment, folded }: Rows, known: Known): Drawn {
  const { events = [], messages = [] } = exchange.caused ?? {}
  return {
    at: exchange.at,
    exchange,
    cause: '',
    events: events.flatMap(position => payment.events[position] ?? []),
    refunds: [known.refunds.get(refundNamed(exchange)) ?? []].flat(),
    messages: messages.toSorted().flatMap(id => known.messages.get(id) ?? []),
    more: folded.get(exchange.exchange_id) ?? 0,
  }
}

/** The identifier of the refund that an exchange made: in its response, or for an action in its query. '' for none. */
function refundNamed({ operation, kind, query, response_body }: Exchange): string {
  const isOfRefund = operation === ('refundPayment' satisfies ActionName)
  const text = kind === 'action' ? query : isOfRefund && response_body?.text
  const [, refund_id = ''] = (text && /refund_id(?:=|":")([0-9a-v]{26})/.exec(text)) || []
  return refund_id
}

/** The step that time owed the payment at this moment. */
function dueAt({ captured_at, ...payment }: Payment, at: number): DueStep['step'] | undefined {
  const events = payment.events.filter(event => event.at < at)
  const due = events.length > 0 ? dueStep({ ...payment, events }) : undefined
  return due?.at === at ? due.step : undefined
}

/** Whether the payment changed its state or was captured: such a step is always shown. */
export const isOwn = ({ exchange, events, at }: Drawn, { captured_at }: Payment): boolean =>
  events.length > 0 || (!exchange && at === captured_at)

function withCause(step: Drawn, { payment, unread }: Rows): Drawn {
  const { at, refunds } = step
  const due = dueAt(payment, at)
  if (due) return { ...step, cause: `The ${due}, when it was due` }
  // An exchange that was not read may have caused it.
  const isUnread = unread && at > unread.from - LONGEST_REQUEST && at < unread.to + LONGEST_REQUEST
  const how = isUnread ? 'shown' : 'recorded'
  return { ...step, cause: `${refunds.length > 0 ? 'Refund: request' : 'Request'} not ${how}` }
}

/** The steps that no recorded request has caused: one for each time at which the payment changed. */
function unrecordedSteps(rows: Rows, recorded: Drawn[]) {
  const { payment, refunds, messages, unread } = rows
  const hasStep = new Set(
    recorded.flatMap(step => [step.events, step.refunds, step.messages].flat()),
  )
  const steps = new Map<number, Drawn>()
  const stepAt = (at: number): Drawn => {
    const effects = { events: [], refunds: [], messages: [], more: 0 }
    const step = steps.get(at) ?? { at, exchange: undefined, cause: '', ...effects }
    steps.set(at, step)
    return step
  }
  const { captured_at } = payment
  if (captured_at !== undefined && dueAt(payment, captured_at)) stepAt(captured_at)
  for (const event of payment.events) if (!hasStep.has(event)) stepAt(event.at).events.push(event)
  for (const refund of refunds)
    if (!hasStep.has(refund)) stepAt(timeOf(refund.refund_id)).refunds.push(refund)
  for (const sent of messages)
    if (!hasStep.has(sent)) stepAt(sent.message.created).messages.push(sent)
  // The exchanges that were not read have caused most of what came between those that were.
  return [...steps.values()]
    .filter(
      step => isOwn(step, payment) || !unread || step.at <= unread.from || step.at >= unread.to,
    )
    .map(step => withCause(step, rows))
}

const REFUNDED = 'card_payment_refunded'

/** The event types about which a step sends messages to the webhooks that subscribe to them. */
function eventTypesOf({ events, refunds }: Drawn, payment: Payment): EventType[] {
  const [first, to] = [events[0], events.at(-1)]
  const previous = first && payment.events[payment.events.indexOf(first) - 1]
  const before = previous ?? (events.length > 1 ? first : undefined)
  const behaviour = behaviourOf(payment)
  const changes =
    before && to
      ? eventsOfMove[behaviour]({ from: before.status, to: to.status, code: to.code })
      : []
  return refunds.length > 0 ? [...changes, REFUNDED] : changes
}

function missingOf(step: Drawn, { webhooks, payment, messages }: Rows): MissingMessage[] {
  // There may be more messages than were read.
  if (messages.length >= MOST_OF_PAYMENT) return []
  const types = eventTypesOf(step, payment)
  // A test message goes to one webhook, so the others miss nothing.
  if (types.length === 0 || payment.origin === 'test message') return []
  const behaviour = behaviourOf(payment)
  const waits = step.refunds.some(
    ({ scenario }) => eventsOfRefund(scenario, behaviour).length === 0,
  )
  const unsent = step.refunds.some(({ status }) => status === 'submitted')
    ? 'sent only when the refund succeeds'
    : 'not sent about a refund that fails'
  // The message about a refund that was held and has succeeded is a later one.
  const isLater = ({ message: { event_type, created } }: ShownMessage) =>
    event_type === REFUNDED && created > step.at && refundMessage[behaviour] === 'at its end'
  const later = step.refunds.length > 0 && !waits ? messages.filter(isLater) : []
  const sent = [...step.messages, ...later].map(({ message }) => message)
  return webhooks.flatMap(webhook => {
    const own = sent.filter(({ webhook_id }) => webhook_id === webhook.webhook_id)
    const missed = types.filter(type => !own.some(({ event_type }) => event_type === type))
    const other = waits ? unsent : 'not subscribed at that time'
    const why = missed.length > 0 ? reasonOf(webhook, missed, step.at, other) : undefined
    return why ? [{ webhook_id: webhook.webhook_id, webhook: webhookTitle(webhook), why }] : []
  })
}

function reasonOf(webhook: Webhook, missed: EventType[], at: number, other: string) {
  const { webhook_id, status, subscriptions } = webhook
  if (timeOf(webhook_id) > at) return status === 'ACTIVE' ? 'registered later' : undefined
  const unwanted = missed.filter(type => !subscriptions.includes(type))
  if (unwanted.length > 0) return `not subscribed to ${unwanted.join(' and ')}`
  return status === 'INACTIVE' ? 'deactivated' : other
}

/** Equal reads between two other steps become one, whose `more` counts the others. */
function foldReads(steps: Step[], unread?: Unread): Step[] {
  const firsts = new Map<string, Step>()
  return steps.filter(step => {
    const { exchange, events, more } = step
    if (exchange?.method !== 'GET' || events.length > 0) {
      firsts.clear()
      return true
    }
    const read = `${isAfter(unread, step)} ${exchange.status} ${exchange.path}?${exchange.query}`
    const first = firsts.get(read)
    if (first) first.more += 1 + more
    else firsts.set(read, step)
    return !first
  })
}

export const isAfter = (unread: Unread | undefined, { exchange, at }: Step): boolean =>
  unread !== undefined && (exchange ? exchange.exchange_id >= unread.next : at > unread.from)

/** How many steps are not among `steps`: the exchanges that were not read, and refunds without a request. */
export function countUnread({ unread, refundCount }: Rows, steps: readonly Step[]): number {
  const shown = steps.reduce((sum, { refunds }) => sum + refunds.length, 0)
  const unrecorded = refundCount - shown - (unread?.refunds ?? 0)
  return (unread?.steps ?? 0) + Math.max(0, unrecorded)
}

/** An exchange is recorded when its response has ended. The milliseconds from its changes to that. */
const LONGEST_REQUEST = 60_000
