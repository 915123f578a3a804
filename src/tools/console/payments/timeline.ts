/** Everything that happened to one payment, by time: `rowsOf` reads the rows, the pure `timelineOf` makes the steps. */

import { timeOf } from '../../../core/ids.ts'
import type { AccountTime, Database } from '../../../core/ports.ts'
import { eventsOfMove } from '../../../pay/differences/messages.ts'
import { refundMessage } from '../../../pay/differences/states.ts'
import { type DueStep, dueStep } from '../../../pay/payments/due.ts'
import { behaviourOf, type Payment, type PaymentEvent } from '../../../pay/payments/payment.ts'
import { eventsOfRefund, type Refund, refundStatus } from '../../../pay/payments/refund.ts'
import { countRefunds, endsOfRefunds } from '../../../pay/refunds/store.ts'
import { attemptsOf, type MessageOutline } from '../../../pay/webhooks/message-store.ts'
import { type EventType, type Webhook, webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { MOST_OF_PAYMENT, messagesOfPayment, newestWebhooks } from '../../lists/webhooks-store.ts'
import type { ActionName } from '../../record/action.ts'
import { type AcceptedSend, acceptedAmong, isCopy } from '../../record/by-hand.ts'
import type { Exchange } from '../../record/exchange.ts'
import { exchangesOfPayment, type Outline, outlinesOfPayment } from '../../record/store.ts'
import { acceptedSince, mergeAttempts, type ShownAttempt } from '../frame/message-attempts.ts'
import type { AccountVisit } from '../frame/visit.ts'

export type Rows = Awaited<ReturnType<typeof rowsOf>>

/** `status` is that of now, as the API shows it. */
export type ShownRefund = Refund & { status: ReturnType<typeof refundStatus> }

/** `attempts` are in the order in which they were made. */
export type ShownMessage = {
  message: MessageOutline
  webhook: string
  attempts: ShownAttempt[]
  /** The send by hand that was accepted after the delivery had failed. */
  again: AcceptedSend | undefined
}

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
  const attempts = Map.groupBy(
    rows.exchanges.filter(({ kind, by_hand }) => kind === 'out' && !by_hand),
    ({ message_id }) => message_id,
  )
  const accepted = acceptedAmong(rows.exchanges)
  const messages = rows.messages.map(message => ({
    message,
    again: acceptedSince(message, accepted),
    webhook: webhookTitle(message),
    attempts: mergeAttempts(attemptsOf(message), attempts.get(message.message_id) ?? []).reverse(),
  }))
  const known = {
    messages: new Map(messages.map(sent => [sent.message.message_id, sent])),
    refunds: new Map(rows.refunds.map(refund => [refund.refund_id, refund])),
  }
  const recorded = rows.exchanges
    .filter(exchange => exchange.kind !== 'out' || (exchange.by_hand && !isCopy(exchange)))
    .map(exchange => recordedStep(exchange, rows, known))
  const steps = [...unrecordedSteps(rows, messages, recorded), ...recorded]
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

function causeOf({ at, refunds }: Drawn, payment: Payment): string {
  const due = dueAt(payment, at)
  if (due) return `The ${due}, when it was due`
  return refunds.length > 0 ? 'Refund: request not recorded' : 'Request not recorded'
}

/** The steps that no recorded request has caused: one for each time at which the payment changed. */
function unrecordedSteps(
  { payment, refunds, unread }: Rows,
  messages: ShownMessage[],
  recorded: Drawn[],
) {
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
  // The exchanges that were not read may have caused these.
  const isUnknown = (at: number) =>
    unread && at > unread.from - LONGEST_REQUEST && at < unread.to + LONGEST_REQUEST
  return [...steps.values()]
    .filter(({ at }) => !isUnknown(at))
    .map(step => ({ ...step, cause: causeOf(step, payment) }))
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
  // The message about a refund that was held and has succeeded is a later one.
  const isLater = ({ event_type, created }: MessageOutline) =>
    event_type === REFUNDED && created > step.at && refundMessage[behaviour] === 'at its end'
  const later = step.refunds.length > 0 && !waits ? messages.filter(isLater) : []
  const sent = [...step.messages.map(({ message }) => message), ...later]
  return webhooks.flatMap(webhook => {
    const own = sent.filter(({ webhook_id }) => webhook_id === webhook.webhook_id)
    const missed = types.filter(type => !own.some(({ event_type }) => event_type === type))
    const other = waits ? 'sent only when the refund succeeds' : 'not subscribed at that time'
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

/** The lines of the beginning and of the end of a long timeline that are shown: the page stays below 400 KB. */
export const FIRST_LINES = 50
export const LAST_LINES = 200

/** The exchanges of a long history that were not read: between the first FIRST_LINES and the last LAST_LINES. */
export type Unread = {
  steps: number
  /** When the exchanges beside it began, in milliseconds on the account's clock. */
  from: number
  to: number
  /** The identifier of the first exchange after it. */
  next: string
}

export const isAfter = (unread: Unread | undefined, { exchange }: Step): boolean =>
  unread !== undefined && exchange !== undefined && exchange.exchange_id >= unread.next

/** An exchange is recorded when its response has ended. The milliseconds from its changes to that. */
const LONGEST_REQUEST = 60_000

/** The most recorded attempts of a payment, and the most webhooks of its account, from which a timeline is made. */
const MOST_ATTEMPTS = 1_000
const MOST_WEBHOOKS = 100

/**
 * Reads the rows of one payment, and the webhooks of its account. `exchanges` are in the order in which they began. Of
 * equal reads between two changes they have only the first, and `folded` counts the others by its identifier.
 */
export async function rowsOf(
  { context, account: { room }, now }: Pick<AccountVisit, 'context' | 'account' | 'now'>,
  payment: Payment,
) {
  const { database } = context
  const { payment_id } = payment
  const key = { room, payment_id }
  // The operations that change nothing: a client may read a payment a thousand times.
  const operations = context.operations
    .filter(({ method, area }) => method === 'GET' && area === 'api')
    .map(({ operationId }) => operationId)
  const [outlines, messages, refunds, refundCount, webhooks] = await Promise.all([
    outlinesOfPayment(database, key),
    messagesOfPayment(database, payment_id),
    shownRefunds(database, payment, now),
    countRefunds(database, payment_id),
    newestWebhooks(database, room, MOST_WEBHOOKS),
  ])
  const folded = foldOutlines(outlines, new Set(operations))
  const ids = [...folded.keys()]
  const sent = outlines.filter(({ kind }) => kind === 'out').map(({ exchange_id }) => exchange_id)
  const [head, tail, attempts] = await Promise.all([
    exchangesOfPayment(database, key, ids.slice(0, FIRST_LINES), 'oldest'),
    exchangesOfPayment(database, key, ids.slice(FIRST_LINES).slice(-LAST_LINES), 'newest'),
    exchangesOfPayment(database, key, sent.slice(-MOST_ATTEMPTS), 'newest'),
  ])
  const [before, after, steps] = [head.at(-1), tail.at(-1), ids.length - head.length - tail.length]
  const unread = before &&
    after && { steps, from: before.at, to: after.at, next: after.exchange_id }
  // The identifiers alone do not sort them: several instances may make these, when they write the exchanges.
  const exchanges = [...head, ...tail, ...attempts]
    .filter(({ kind }) => kind !== 'gap')
    .sort((a, b) => a.at - b.at || (a.exchange_id < b.exchange_id ? -1 : 1))
  const rows = { payment, exchanges, folded, messages, refunds, refundCount, webhooks }
  return { ...rows, ...(unread && steps > 0 && { unread }) }
}

/** The first and the last refunds of a payment, oldest first. */
export async function shownRefunds(database: Database, payment: Payment, now: AccountTime) {
  const refunds = await endsOfRefunds(database, payment.payment_id)
  return refunds.map((refund): ShownRefund => {
    const { refund_id, scenario } = refund
    return {
      ...refund,
      status: refundStatus(timeOf(refund_id), scenario, behaviourOf(payment), now),
    }
  })
}

/**
 * Folds equal reads between two other exchanges into the first of them. Returns how many followed it, by its identifier,
 * and 0 for each other exchange, but for attempts.
 */
function foldOutlines(outlines: readonly Outline[], reads: ReadonlySet<string>) {
  const folded = new Map<string, number>()
  const firsts = new Map<string, string>()
  for (const { exchange_id, kind, operation, status } of outlines) {
    if (!reads.has(operation)) firsts.clear()
    const equal = `${operation} ${status}`
    const first = firsts.get(equal) ?? exchange_id
    if (reads.has(operation)) firsts.set(equal, first)
    if (kind !== 'out') folded.set(first, (folded.get(first) ?? -1) + 1)
  }
  return folded
}
