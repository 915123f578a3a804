/** A payment to hand to somebody else: a summary of a few lines, or everything as JSON. */

import { mapValues } from '../../../core/map-values.ts'
import { inPounds } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import { stateOf } from '../../../pay/payments/payment.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { causeOf, withoutControls } from '../../explain/causes.ts'
import { MOST_OF_PAYMENT } from '../../lists/webhooks-store.ts'
import { actionText } from '../../record/action.ts'
import type { Exchange, KeptBody } from '../../record/exchange.ts'
import { createMask } from '../../record/mask.ts'
import { sentAgainText } from '../frame/message-attempts.ts'
import * as ui from '../frame/parts.ts'
import type { Rows } from './rows.ts'
import { countUnread, type Step } from './timeline.ts'
import { reasonFor } from './timeline-view.ts'

/** The lines about steps in a long summary: how many of the first, and how many of the newest. */
const FIRST_LINES = 3
const LAST_LINES = 7

/** At most 15 lines that a colleague can read. `link` leads to the page of the payment. */
export function summary(rows: Rows, steps: readonly Step[], link: string): string {
  const { payment } = rows
  const state = stateOf(payment)
  const { amount, reference } = payment.given
  const listed = steps.filter(isOfInterest)
  // Each step has at least one line, so no more steps than lines are printed.
  const first = listed.slice(0, FIRST_LINES).flatMap(linesOf).slice(0, FIRST_LINES)
  const last = listed.slice(-LAST_LINES).flatMap(linesOf).slice(-LAST_LINES)
  const left = listed.reduce((sum, step) => sum + countLines(step), 0) - FIRST_LINES - LAST_LINES
  const unread = countUnread(rows, steps)
  const isLong = left > (unread > 0 ? 0 : 1)
  const more = [
    isLong && ui.counted(left, 'more line'),
    unread > 0 && ui.counted(unread, 'more step'),
  ].filter(Boolean)
  const rest = more.length > 0 ? [`(${more.join(' and ')})`] : []
  const advice = steps.flatMap(causesOf).at(-1)
  return [
    [`${withoutControls(reference)}: ${inPounds(amount)}`, state.status, reasonFor(state)]
      .filter(Boolean)
      .join(', '),
    `Payment ${payment.payment_id}`,
    ...(isLong ? [...first, ...rest, ...last] : [...listed.flatMap(linesOf), ...rest]),
    ...(advice === undefined ? [] : [advice]),
    link,
  ].join('\n')
}

/** Why the messages of a step failed, without messages that were accepted since. */
const causesOf = ({ messages }: Step): string[] =>
  messages.flatMap(({ attempts, again }) => {
    const ending = attempts.at(-1)?.ending
    return ending && !again ? (causeOf(ending) ?? []) : []
  })

const isOfInterest = ({ exchange, events, refunds, messages }: Step): boolean =>
  !exchange || events.length + refunds.length + messages.length > 0 || exchange.refused

/** The number of lines that `linesOf` returns. */
const countLines = ({ events, refunds, messages }: Step): number =>
  1 + Math.min(events.length, 1) + refunds.length + messages.length

/** Control characters in texts of others are written out, so that none begins a line or turns one around. */
function linesOf({ at, exchange, cause, events, refunds, messages }: Step): string[] {
  const last = events.at(-1)
  const effects = [
    ...(last ? [[last.status, reasonFor(last)].filter(Boolean).join(', ')] : []),
    ...refunds.map(({ amount, status }) => `refund of ${inPounds(amount)}, ${status}`),
    ...messages.map(({ message, webhook, attempts, again }) => {
      const why = attempts.at(-1)?.ending.result
      return `${message.event_type} to ${webhook} ${message.status}${why ? ` (${why})` : ''}${again ? `. ${sentAgainText(again, at)}` : ''}`
    }),
  ]
  return [
    `${iso(at)} ${exchange ? requestOf(exchange) : cause}`,
    ...effects.map(effect => `  ${effect}`),
  ].map(withoutControls)
}

function requestOf(exchange: Exchange): string {
  const { kind, method, path, status, code, field } = exchange
  if (kind === 'action') return actionText(exchange)
  if (kind === 'out') return 'message by hand'
  return [method, path, '→', status ?? 'no response', code, field].filter(Boolean).join(' ')
}

/** The most bytes of a report, so that it can be attached anywhere. */
const MOST_BYTES = 256 * 1024

/**
 * A payment and what was read about it, as JSON of at most 256 KiB. Recorded exchanges were masked when they were written;
 * `masked` is the payment with its token masked. If there is too much, bodies are left out, then the newest exchanges.
 * `left_out` counts everything that is not in it.
 */
export function report(rows: Rows, masked: object): string {
  const { payment, exchanges, messages, refunds, webhooks } = rows
  const mask = createMask([])
  const rest = {
    farthing: version,
    payment: masked,
    events: payment.events.map(event => ({ ...event, at: iso(event.at) })),
    refunds: refunds
      .slice(-MOST_REFUNDS)
      .map(({ refund_id, amount, status }) => ({ refund_id, amount, status })),
    messages: messages.slice(0, MOST_MESSAGES).map(({ message }) => {
      const { message_id, webhook_id, event_type, status } = message
      return { message_id, webhook_id, event_type, status, attempts: attemptsOf(message) }
    }),
    webhooks: webhooks.slice(0, MOST_MESSAGES).map(webhook => {
      const { webhook_id, description, status, subscriptions } = webhook
      const callback_url = mask.url(webhook.callback_url)
      return { webhook_id, description, callback_url, status, subscriptions }
    }),
  }
  // Includes the indents that the part has at its place in the report.
  const size = (part: unknown) => Buffer.byteLength(JSON.stringify([[part]], null, 2))
  let left = MOST_BYTES - size(rest) - OF_LEFT_OUT
  const listed = exchanges.map(withoutBodies).filter(exchange => {
    left -= size(exchange) + OF_LEFT_OUT
    return left >= 0
  })
  left = Math.max(0, left)
  const complete = listed.map((exchange, i) => {
    const { request_body, response_body } = exchanges[i] ?? exchange
    const bodies = { request_body: request_body ?? null, response_body: response_body ?? null }
    left -= size(bodies)
    return left >= 0 ? { ...exchange, ...bodies } : { ...exchange, ...leftOut(bodies) }
  })
  const unlisted = Math.max(0, messages.length - MOST_MESSAGES)
  const left_out = {
    exchanges: rows.recorded - listed.length || undefined,
    messages: messages.length < MOST_OF_PAYMENT ? unlisted || undefined : `at least ${unlisted}`,
    refunds: Math.max(0, rows.refundCount - MOST_REFUNDS) || undefined,
  }
  return JSON.stringify({ ...rest, exchanges: complete, left_out }, null, 2)
}

const MOST_REFUNDS = 200

const MOST_MESSAGES = 100

/** Bytes that name the lengths of both bodies of an exchange, in place of the bodies, or the numbers in `left_out`. */
const OF_LEFT_OUT = 150

function withoutBodies(exchange: Exchange) {
  const { room, payment_id, at, refused, request_body, response_body, ...rest } = exchange
  return { at: iso(at), ...rest, request_body: null, response_body: null }
}

const leftOut = (bodies: Record<string, KeptBody | null>) =>
  mapValues(bodies, body => body && { left_out: body.text.length })
