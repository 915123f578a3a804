/** Messages in a list, and the attempts to deliver one, each with its request and the receiver’s response. */

import { isSuccess } from '../../../core/http-status.ts'
import { inDigits } from '../../../core/money.ts'
import type { Reading } from '../../../pay/retention.ts'
import { NOBODY_LISTENS } from '../../../pay/webhooks/listener.ts'
import { attemptsOf, type MessageRow, statusAt } from '../../../pay/webhooks/message-store.ts'
import type { Attempt, Webhook } from '../../../pay/webhooks/webhook.ts'
import { details, tag } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import type { Damage } from '../../deliver/send-again.ts'
import { type AttemptEnding, causeOf } from '../../explain/causes.ts'
import { answerToWrong, consequenceOf } from '../../explain/wrong-signature.ts'
import { referencesOf } from '../../lists/payments-store.ts'
import {
  type DeliveryFilter,
  type DeliveryRow,
  listDeliveries,
  searchedOf,
} from '../../lists/webhooks-store.ts'
import { type AcceptedSend, acceptedByHand } from '../../record/by-hand.ts'
import type { ByHand, Exchange } from '../../record/exchange.ts'
import { bodyPart, headersAndBody, headersPart } from './exchange.ts'
import { oneOf, type PageVisit, readPage } from './list.ts'
import * as ui from './parts.ts'

export const damageNames: Record<Damage, string> = {
  digit: 'one digit of the signature changed',
  missing: 'without the signature',
  upper: 'the signature in upper case',
  base64: 'the signature in base64',
  newline: 'the signature of the body with a newline at its end',
  space: 'one space added to the body',
}

/** The differences between a message that was sent by hand and its own attempts. */
export function nameOfAttempt({ kind, damage, words, other_key }: ByHand): string {
  if (kind === 'asked') return `Asked, with ${words}`
  if (kind === 'probe') return `Probe, ${words}`
  const key = other_key ? ', signed with another key' : ''
  if (kind === 'again') return `Sent again${key}`
  if (kind === 'edited') return `Edited${key}`
  return `Damaged: ${Object.entries(damageNames).find(([name]) => name === damage)?.[1] ?? damage}${key}`
}

/** Failed messages that were accepted when somebody sent them again by hand. */
export type Accepted = ReadonlyMap<string, AcceptedSend>

/** The send by hand that was accepted after the delivery had failed. The status stays FAILED. */
export const acceptedSince = (
  { message_id, status }: Pick<MessageRow, 'message_id' | 'status'>,
  accepted: Accepted,
): AcceptedSend | undefined => (status === 'FAILED' ? accepted.get(message_id) : undefined)

export const sentAgainText = ({ at, result = '' }: AcceptedSend, now: number): string =>
  `Sent again at ${ui.shortTime(at, now)}: ${result}.`

export const againPart = (again: AcceptedSend | undefined, now: number): Html | undefined =>
  again && html` ${ui.untrusted(sentAgainText(again, now))}`

export function deliveryOf(
  message: Pick<MessageRow, 'payment_id' | 'status'>,
  reading: Reading,
  again: AcceptedSend | undefined,
): ui.ShownDelivery {
  const status = statusAt(message, reading)
  return status === 'FAILED' && again ? 'sent again' : status
}

/** One attempt. `exchange` is missing if it was not recorded, or is no longer kept. */
export type ShownAttempt = {
  at: number
  ms: number | null
  ending: AttemptEnding & { result: string }
  exchange?: Exchange
}

const isByHand = ({ exchange }: ShownAttempt): boolean => exchange?.by_hand !== undefined

/** The most milliseconds between the beginnings that the record and the message have for one attempt. */
const APART = 1_000

export function mergeAttempts(attempts: readonly Attempt[], exchanges: readonly Exchange[]) {
  const left = new Set(exchanges)
  const own = attempts.map((attempt): ShownAttempt => {
    const { at, status_code: status, result, response_time: ms } = attempt
    const exchange = exchanges.findLast(
      one =>
        left.has(one) && !one.by_hand && one.status === status && Math.abs(one.at - at) < APART,
    )
    if (exchange) left.delete(exchange)
    return exchange ? fromExchange(exchange) : { at, ms, ending: { status, result } }
  })
  return [...own, ...[...left].map(fromExchange)].sort(
    // Of attempts that began together, the delivery came before sends by hand.
    (a, b) => b.at - a.at || Number(isByHand(b)) - Number(isByHand(a)),
  )
}

const fromExchange = (exchange: Exchange): ShownAttempt => ({
  at: exchange.at,
  ms: exchange.ms,
  ending: { result: '', ...exchange },
  exchange,
})

export function attemptsPart(attempts: readonly ShownAttempt[], root: string): Html {
  if (attempts.length === 0) return ui.paragraph('It was never sent.')
  return html`${ui.wideTable(attempts, {
    caption: 'Delivery attempts, newest first',
    columns: {
      'Attempt date': ({ at }) => ui.time(at),
      Status: attempt =>
        html`${attemptTag(attempt)} ${attempt.exchange?.by_hand && nameOfAttempt(attempt.exchange.by_hand)}`,
      'Status code': ({ ending }) => ending.status ?? 'none',
      Result: ({ ending }) => ui.untrusted(ending.result),
      Took: ui.numeric(({ ms }) => (ms === null ? 'nothing was sent' : `${inDigits(ms)} ms`)),
    },
  })}
${attempts.map((attempt, i) => attemptDetails(attempt, `attempt ${attempts.length - i}`, i === 0, root))}`
}

/** A wrong signature that is accepted is no success, and one that is refused is no failure. */
export function attemptTag({ ending }: ShownAttempt): Html {
  const { status, result } = ending
  const answer = answerToWrong(ending)
  if (answer === 'accepted') return tag('accepted, signature wrong', 'red')
  if (answer === 'refused') return tag('refused, as it must be', 'green')
  if (status === null && result === NOBODY_LISTENS) return ui.deliveryTag('not listening')
  return ui.deliveryTag(isSuccess(status) ? 'SUCCESSFUL' : 'FAILED')
}

/** `name` distinguishes the parts of several attempts, for screen readers. */
function attemptDetails(
  { at, ending, exchange }: ShownAttempt,
  name: string,
  open: boolean,
  root: string,
): Html {
  const by_hand = exchange?.by_hand
  const cause = consequenceOf(ending)
  // The page begins with the response of the newest attempt.
  const why = !open && cause !== undefined && ui.paragraph(ui.untrusted(cause))
  // The bytes of the message itself are on the page already.
  const differs = by_hand !== undefined && by_hand.kind !== 'again'
  const content = exchange
    ? html`${why}
<h4 class="govuk-heading-s">Headers sent</h4>
${headersPart(exchange.request_headers)}
${differs && bodyPart(name, exchange.request_body)}
<h4 class="govuk-heading-s">The receiver’s response</h4>
${exchange.status === null ? ui.paragraph('There was none.') : headersAndBody(`the response to ${name}`, exchange.response_headers, exchange.response_body)}
${ui.paragraph(ui.link(`${root}requests/${exchange.exchange_id}`, 'This attempt alone, and as curl'))}`
    : html`${why}
${ui.paragraph('The request and the response were not recorded, or are older than 24 hours.')}`
  return html`<h3 class="govuk-heading-s farthing-attempt">${ui.time(at)}</h3>
${details(by_hand ? nameOfAttempt(by_hand) : 'Request and response', content, { open })}`
}

export const deliveryFilter = oneOf(
  'Delivery status',
  ['SUCCESSFUL', 'FAILED', 'PENDING', 'not listening'],
  { nameOf: ui.deliveryName },
)

export const noMatch = (webhooks: number, isSearched: boolean): Html =>
  html`${ui.paragraph('There are no results for the filters you used.')}
${isSearched && ui.paragraph(`The newest ${inDigits(searchedOf(webhooks))} messages of each webhook were looked through.`)}`

export async function readMessages(
  { context: { database }, cursor }: PageVisit,
  webhooks: readonly Webhook[],
  filter: DeliveryFilter,
) {
  const page = await readPage<DeliveryRow>(cursor, 'message_id', (range, part) =>
    listDeliveries(database, webhooks, { ...filter, ...range }, part),
  )
  const accepted = await acceptedByHand(database, page.items)
  return { page, accepted, references: await referencesOf(database, page.items) }
}

/** `webhookOf`: the link to the webhook of a message, in a list of several webhooks. */
export const messageTable = (
  visit: PageVisit,
  { page, accepted, references }: Awaited<ReturnType<typeof readMessages>>,
  webhookOf?: (message: DeliveryRow) => Part,
): Html =>
  ui.wideTable(page.items, {
    caption: 'Messages, newest first',
    at: ({ created }) => created,
    columns: {
      Payment: ({ payment_id }) =>
        ui.link(
          `${visit.root}payments/${payment_id}`,
          ui.paymentPart(payment_id, references.get(payment_id)),
        ),
      'Event name': ui.leading(({ message_id, event_type }) =>
        ui.link(`${visit.root}messages/${message_id}`, event_type),
      ),
      'Delivery status': ui.leading(message =>
        deliveryPart(message, visit, accepted.get(message.message_id)),
      ),
      Webhook: webhookOf,
      'Event date': ({ created }) => ui.timeOfDay(created),
    },
  })

function deliveryPart(message: MessageRow, reading: Reading, again?: AcceptedSend): Html {
  const status = deliveryOf(message, reading, again)
  if (status === 'sent again')
    return html`${ui.deliveryTag(status)}${againPart(again, reading.now)}`
  const last = attemptsOf(message).at(-1)
  const isOver = status === 'FAILED' || status === 'not listening'
  const cause = isOver && last && causeOf({ status: last.status_code, result: last.result })
  return html`${ui.deliveryTag(status)} ${cause && ui.untrusted(cause)}`
}
