/** Messages that somebody sent by hand: whether their receivers accepted them, and copies that asked a receiver. */

import type { Database } from '../../core/ports.ts'
import { type Condition, findPart, where } from '../../platform/database/select.ts'
import { evidenceRows } from './columns.ts'
import type { Evidence, Exchange } from './exchange.ts'
import { ACCEPTED_BY_HAND, byBeginning, exchangeRows, isAmong } from './store.ts'

/** At most this many sends by hand are looked at for a page of messages. Of each the facts are read, at most 400 bytes. */
const MOST_BY_HAND = 2_000

/** A send by hand of an unchanged message that its own receiver accepted. */
export type AcceptedSend = Pick<Exchange, 'at' | 'result'>

/** The newest accepted send of each of these messages that failed. A message without a status counts as failed. */
export async function acceptedByHand(
  database: Database,
  messages: readonly { payment_id: string; status?: string }[],
): Promise<Map<string, AcceptedSend>> {
  const failed = messages.filter(({ status = 'FAILED' }) => /^(FAILED|not listening)$/.test(status))
  const payment_ids = [...new Set(failed.map(({ payment_id }) => payment_id))]
  if (payment_ids.length === 0) return new Map()
  const conditions = [isAmong('payment_id', payment_ids), where(ACCEPTED_BY_HAND)]
  const part = { limit: MOST_BY_HAND, order: 'newest' } as const
  return byMessage(await findPart(database, evidenceRows, conditions, part))
}

/** As acceptedByHand, among exchanges that were read already. */
export const acceptedAmong = (exchanges: readonly Exchange[]): Map<string, AcceptedSend> =>
  byMessage(exchanges.filter(({ refused, facts }) => !refused && facts?.hand === 'again'))

/** The newest send of each message. */
const byMessage = <Sent extends Evidence | Exchange>(sends: readonly Sent[]): Map<string, Sent> =>
  new Map(
    sends
      .toSorted(byBeginning)
      .flatMap(send => (send.message_id === null ? [] : [[send.message_id, send]])),
  )

type MessageKey = { room: string; payment_id: string; message_id: string }

/** Newest first. */
export const newestOf = (
  database: Database,
  { room, payment_id, message_id }: MessageKey,
  limit: number,
  ...conditions: Condition[]
): Promise<Exchange[]> => {
  const ofMessage = 'payment_id = ? and account = ? and message_id = ?'
  const all = [where(ofMessage, payment_id, room, message_id), ...conditions]
  return findPart(database, exchangeRows, all, { limit, order: 'newest' })
}

/** The attempts of a message, newest first, also those by hand, without copies that asked its receiver. */
export const attemptsOfMessage = (database: Database, key: MessageKey, limit: number) =>
  newestOf(database, key, limit, where(`kind = 'out' and coalesce(by_hand, '') <> 'asked'`))

/** The most sends of a message by hand among which one without damage is looked for. */
const MOST_UNDAMAGED = 100

/** The newest send by hand of the undamaged message, also as a copy that asked its receiver. */
export async function newestUndamaged(database: Database, key: MessageKey) {
  const isWhole = where(`kind = 'out' and by_hand in ('again', 'asked')`)
  const sends = await newestOf(database, key, MOST_UNDAMAGED, isWhole)
  return sends.find(({ by_hand }) => !by_hand?.damage)
}

/** The newest attempt of the unchanged message, if nobody asked since: its response may have the computed signature. */
export async function newestUnasked(database: Database, key: MessageKey) {
  const [newest] = await attemptsOfMessage(database, key, 1)
  if (newest?.facts?.hand === 'other') return undefined
  const ask = newest && (await newestAsked(database, key))
  return ask && ask.action.exchange_id > newest.exchange_id ? undefined : newest
}

/** The newest action that asked the receiver of a message, and the copies that it sent, newest first. */
export async function newestAsked(database: Database, key: MessageKey) {
  const isAsk = where(`kind = 'action' and operation = 'askReceiver'`)
  const [action] = await newestOf(database, key, 1, isAsk)
  if (!action?.asked) return undefined
  const { posts } = action.asked
  const isCopy = where(`kind = 'out' and by_hand = 'asked'`)
  const before = where('exchange_id < ?', action.exchange_id)
  const copies = posts === 0 ? [] : await newestOf(database, key, posts, isCopy, before)
  return { action, copies }
}

/** Whether this is one of many messages that were sent to learn something about the receiver. */
export const isCopy = ({ by_hand }: Exchange): boolean =>
  by_hand?.kind === 'asked' || by_hand?.kind === 'probe'
