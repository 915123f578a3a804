/** Messages whose delivery failed and that were accepted when somebody sent them again by hand. */
import type { Exchange } from '../../core/exchange.ts'
import type { Database } from '../../core/ports.ts'
import { findPart, where } from '../../platform/database/select.ts'
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
