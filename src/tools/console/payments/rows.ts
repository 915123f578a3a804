/** The rows from which the page of a payment is made. */

import type { AccountTime, Database } from '../../../core/ports.ts'
import { expiry } from '../../../pay/differences/states.ts'
import { behaviourOf, type Payment } from '../../../pay/payments/payment.ts'
import { type Refund, refundStatus } from '../../../pay/payments/refund.ts'
import { countRefunds, endsOfRefunds } from '../../../pay/refunds/store.ts'
import { attemptsOf, type MessageOutline } from '../../../pay/webhooks/message-store.ts'
import { webhookTitle } from '../../../pay/webhooks/webhook.ts'
import { messagesOfPayment, newestWebhooks } from '../../lists/webhooks-store.ts'
import type { ActionName } from '../../record/action.ts'
import { type AcceptedSend, acceptedAmong } from '../../record/by-hand.ts'
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

/** The lines of the beginning and of the end of a long timeline that are shown: the page stays below 400 KB. */
export const FIRST_LINES = 50
export const LAST_LINES = 150

/** The exchanges of a long history that were not read: between the first FIRST_LINES and the last LAST_LINES. */
export type Unread = {
  steps: number
  /** How many of them made a refund. */
  refunds: number
  /** When the exchanges beside it began, in milliseconds on the account's clock. */
  from: number
  to: number
  /** The identifier of the first exchange after it. */
  next: string
}

/** The most recorded attempts of a payment, and the most webhooks of its account, from which a timeline is made. */
const MOST_ATTEMPTS = 1_000
const MOST_WEBHOOKS = 100

/**
 * Reads the rows of one payment, and the webhooks of its account. `exchanges` are in the order in which they began. Of
 * equal reads between two changes they have only the first, and `folded` counts the others by its identifier; `recorded`
 * counts all. Attempts until `attemptsFrom` were not read, in milliseconds on the account's clock.
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
  // Time may have changed the payment between equal reads.
  const keepsLast = expiry[behaviourOf(payment)] !== undefined
  const folded = foldOutlines(outlines, new Set(operations), keepsLast)
  const ids = [...folded.keys()]
  const sent = outlines.filter(({ kind }) => kind === 'out').map(({ exchange_id }) => exchange_id)
  const [head, tail, attempts] = await Promise.all([
    exchangesOfPayment(database, key, ids.slice(0, FIRST_LINES), 'oldest'),
    exchangesOfPayment(database, key, ids.slice(FIRST_LINES).slice(-LAST_LINES), 'newest'),
    exchangesOfPayment(database, key, sent.slice(-MOST_ATTEMPTS), 'newest'),
  ])
  const [before, after, steps] = [head.at(-1), tail.at(-1), ids.length - head.length - tail.length]
  const isBetween = ({ exchange_id }: Outline) =>
    before && after && exchange_id > before.exchange_id && exchange_id < after.exchange_id
  const refunded = outlines.filter(outline => isBetween(outline) && madeRefund(outline)).length
  const unread = before &&
    after && { steps, refunds: refunded, from: before.at, to: after.at, next: after.exchange_id }
  // The identifiers alone do not sort them: several instances may make these, when they write the exchanges.
  const exchanges = [...head, ...tail, ...attempts]
    .filter(({ kind }) => kind !== 'gap')
    .sort((a, b) => a.at - b.at || (a.exchange_id < b.exchange_id ? -1 : 1))
  const rows = { payment, exchanges, folded, refunds, refundCount, webhooks }
  return {
    ...rows,
    messages: shownMessages(messages, exchanges),
    recorded: outlines.length,
    ...(unread && steps > 0 && { unread }),
    ...(attempts.length < sent.length && { attemptsFrom: attempts.at(-1)?.at }),
  }
}

const madeRefund = ({ operation, kind, status }: Outline): boolean =>
  operation === ('refundPayment' satisfies ActionName) && (status === 202 || kind === 'action')

function shownMessages(messages: readonly MessageOutline[], exchanges: readonly Exchange[]) {
  const attempts = Map.groupBy(
    exchanges.filter(({ kind, by_hand }) => kind === 'out' && !by_hand),
    ({ message_id }) => message_id,
  )
  const accepted = acceptedAmong(exchanges)
  return messages.map(
    (message): ShownMessage => ({
      message,
      again: acceptedSince(message, accepted),
      webhook: webhookTitle(message),
      attempts: mergeAttempts(
        attemptsOf(message),
        attempts.get(message.message_id) ?? [],
      ).reverse(),
    }),
  )
}

/** The first and the last refunds of a payment, `most` of each, oldest first. */
export async function shownRefunds(
  database: Database,
  payment: Payment,
  now: AccountTime,
  most?: number,
) {
  const refunds = await endsOfRefunds(database, payment.payment_id, most)
  const statusOf = (refund: Refund) => refundStatus(refund, behaviourOf(payment), now)
  return refunds.map((refund): ShownRefund => ({ ...refund, status: statusOf(refund) }))
}

/**
 * Folds equal reads between two other exchanges into the first of them. Returns how many followed it, by its identifier,
 * and 0 for each other exchange, but for attempts. With `keepsLast` the last read is not folded.
 */
function foldOutlines(
  outlines: readonly Outline[],
  reads: ReadonlySet<string>,
  keepsLast: boolean,
) {
  const folded = new Map<string, number>()
  const lasts = new Map<string, string>()
  const firsts = new Map<string, string>()
  for (const { exchange_id, kind, operation, status } of outlines) {
    if (!reads.has(operation)) firsts.clear()
    const equal = `${operation} ${status}`
    const first = firsts.get(equal) ?? exchange_id
    if (reads.has(operation)) firsts.set(equal, first)
    if (kind === 'out') continue
    folded.set(first, (folded.get(first) ?? -1) + 1)
    if (keepsLast && first !== exchange_id) lasts.set(first, exchange_id)
  }
  if (lasts.size === 0) return folded
  for (const [first, last] of lasts) folded.set(first, (folded.get(first) ?? 1) - 1).set(last, 0)
  return new Map([...folded].sort(([one], [other]) => (one < other ? -1 : 1)))
}
