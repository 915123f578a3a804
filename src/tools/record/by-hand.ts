/** Messages that somebody sent by hand: whether their receivers accepted them, and copies that asked a receiver. */

import type { Database } from '../../core/ports.ts'
import { findPart, where } from '../../platform/database/select.ts'
import type { Exchange } from './exchange.ts'
import { among, byBeginning, exchangeRows } from './store.ts'

/** At most this many sends by hand are looked at for one list. */
const MOST_BY_HAND = 200

/**
 * Of the messages of these payments: the newest send by hand of the message as it is that its own receiver accepted,
 * by message. The caller has found the payments.
 */
export async function acceptedByHand(
  database: Database,
  payment_ids: readonly string[],
): Promise<Map<string, Exchange>> {
  if (payment_ids.length === 0) return new Map()
  const found = await findPart(
    database,
    exchangeRows,
    [
      where(`${among('payment_id', payment_ids)} and kind = 'out' and refused = 0`, ...payment_ids),
      where(`body like '%"by_hand":{"kind":"again"%'`),
    ],
    { limit: MOST_BY_HAND, order: 'newest' },
  )
  return acceptedAmong(found)
}

/** As acceptedByHand, among exchanges that were read already. */
export const acceptedAmong = (exchanges: readonly Exchange[]): Map<string, Exchange> =>
  new Map(
    exchanges
      .filter(isAcceptedAgain)
      .sort(byBeginning)
      .flatMap(each => (each.message_id === null ? [] : [[each.message_id, each]])),
  )

const isAcceptedAgain = ({ kind, refused, by_hand }: Exchange): boolean =>
  kind === 'out' &&
  !refused &&
  by_hand?.kind === 'again' &&
  !by_hand.other_key &&
  !by_hand.other_address

type MessageKey = { room: string; payment_id: string; message_id: string }

const ofMessage = ({ room, payment_id, message_id }: MessageKey) =>
  where('payment_id = ? and account = ? and message_id = ?', payment_id, room, message_id)

const COPY = `body like '%"by_hand":{"kind":"asked"%'`

/** The attempts of a message, newest first, also those by hand, without copies that asked its receiver. */
export const attemptsOfMessage = (
  database: Database,
  key: MessageKey,
  limit: number,
): Promise<Exchange[]> =>
  findPart(database, exchangeRows, [ofMessage(key), where(`kind = 'out' and not ${COPY}`)], {
    limit,
    order: 'newest',
  })

/** The newest time that the receiver of a message was asked, and the copies that it was sent, newest first. */
export async function newestAsked(
  database: Database,
  key: MessageKey,
): Promise<{ action: Exchange; copies: Exchange[] } | undefined> {
  const asked = where(`kind = 'action' and operation = 'askReceiver'`)
  const last = { limit: 1, order: 'newest' } as const
  const [action] = await findPart(database, exchangeRows, [ofMessage(key), asked], last)
  if (!action?.asked) return undefined
  const before = where('exchange_id < ?', action.exchange_id)
  const copies = await findPart(
    database,
    exchangeRows,
    [ofMessage(key), where(`kind = 'out' and ${COPY}`), before],
    { limit: Math.max(1, action.asked.posts), order: 'newest' },
  )
  return { action, copies }
}

/** Whether it is one of many messages that were sent to learn something about the receiver. */
export const isCopy = ({ by_hand }: Exchange): boolean =>
  by_hand?.kind === 'asked' || by_hand?.kind === 'probe'
