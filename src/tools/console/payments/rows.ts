/** What the page of a payment is made of. */
import { timeOf } from '../../../core/ids.ts'
import type { Context } from '../../../pay/context.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import { refundsOf } from '../../../pay/refunds/store.ts'
import { messagesOfPayment, newestWebhooks } from '../../../pay/webhooks/list-store.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import { exchangesWithout, type Outline, readsOfPayment } from '../../recorder/store.ts'
import type { AccountVisit } from '../frame/page.ts'
import type { Folded, Rows } from './timeline.ts'

/** The most changes and attempts of a payment that its page shows, and webhooks of the account that it looks at. */
export const MOST_EXCHANGES = 1_000
const MOST_WEBHOOKS = 100

/** The operations that change nothing: a client may read a payment a thousand times. */
export const readOperations = (operations: readonly Endpoint[]): string[] =>
  operations
    .filter(({ method, area }) => method === 'GET' && area === 'api')
    .map(({ operationId }) => operationId)

export async function rowsOf(
  { database }: Context,
  { account }: AccountVisit,
  payment: Payment,
  operations: readonly string[],
): Promise<Rows> {
  const { room } = account
  const { payment_id } = payment
  const key = { room, payment_id }
  const oldest = { limit: MOST_EXCHANGES, order: 'oldest' } as const
  const [reads, changes, messages, refunds, webhooks] = await Promise.all([
    readsOfPayment(database, key, operations),
    exchangesWithout(database, key, { operations, but: [] }, oldest),
    messagesOfPayment(database, payment_id),
    refundsOf(database, payment_id),
    newestWebhooks(database, room, MOST_WEBHOOKS),
  ])
  const folded = foldReads(
    reads,
    changes.map(({ exchange_id }) => exchange_id),
  )
  const shown = folded.keys().toArray().slice(0, MOST_EXCHANGES)
  const exchanges =
    shown.length === 0
      ? changes
      : await exchangesWithout(
          database,
          key,
          { operations, but: shown },
          { ...oldest, limit: changes.length + shown.length },
        )
  // Their identifiers are made when they are written, which may be on several instances.
  const ordered = exchanges.toSorted((a, b) => a.at - b.at)
  return { payment, exchanges: ordered, folded, messages, refunds, webhooks }
}

/**
 * Equal reads between two changes become one: by the identifier of the first, how many followed it. The changes are in
 * their order.
 */
export function foldReads(
  reads: readonly Outline[],
  changes: readonly string[],
): Map<string, Folded> {
  const folded = new Map<string, Folded>()
  let group = new Map<string, string>()
  let next = 0
  for (const { exchange_id, operation, status } of reads) {
    while (next < changes.length && (changes[next] ?? '') < exchange_id) {
      next += 1
      group = new Map()
    }
    const kind = `${operation} ${status}`
    const first = group.get(kind)
    const before = first === undefined ? undefined : folded.get(first)
    if (first === undefined || !before) {
      group.set(kind, exchange_id)
      folded.set(exchange_id, { more: 0, until: 0 })
    } else folded.set(first, { more: before.more + 1, until: timeOf(exchange_id) })
  }
  return folded
}
