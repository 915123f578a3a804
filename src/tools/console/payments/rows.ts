/** What the page of a payment is made of. */

import type { Payment } from '../../../pay/payments/payment.ts'
import { refundsOf } from '../../../pay/refunds/store.ts'
import type { Endpoint } from '../../../platform/http/endpoint.ts'
import type { ToolContext } from '../../context.ts'
import { messagesOfPayment, newestWebhooks } from '../../lists/webhooks-store.ts'
import { exchangesWithout, type Outline, readsOfPayment } from '../../record/store.ts'
import type { AccountVisit } from '../frame/page.ts'
import type { Rows } from './timeline.ts'

/** The most changes and attempts of a payment that its page shows, and webhooks of the account that it looks at. */
const MOST_EXCHANGES = 1_000
const MOST_WEBHOOKS = 100

/** The operations that change nothing: a client may read a payment a thousand times. */
export const readOperations = (operations: readonly Endpoint[]): string[] =>
  operations
    .filter(({ method, area }) => method === 'GET' && area === 'api')
    .map(({ operationId }) => operationId)

export async function rowsOf(
  { database }: ToolContext,
  { account }: Pick<AccountVisit, 'account'>,
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
  const lasts = shown.flatMap(id => {
    const last = folded.get(id)?.last
    return last === undefined || last === id ? [] : [last]
  })
  const but = [...shown, ...lasts]
  const exchanges =
    shown.length === 0
      ? changes
      : await exchangesWithout(
          database,
          key,
          { operations, but },
          { ...oldest, limit: changes.length + but.length },
        )
  // Their identifiers are made when they are written, which may be on several instances.
  const isLast = new Set(lasts)
  const ordered = exchanges
    .filter(({ exchange_id }) => !isLast.has(exchange_id))
    .toSorted((a, b) => a.at - b.at)
  const begins = new Map(exchanges.map(({ exchange_id, at }) => [exchange_id, at]))
  return {
    payment,
    exchanges: ordered,
    folded: new Map(
      [...folded].map(([id, { more, last }]) => [id, { more, until: begins.get(last) ?? 0 }]),
    ),
    messages,
    refunds,
    webhooks,
  }
}

/** How many equal reads followed one, and the identifier of the last. */
type FoldedReads = { more: number; last: string }

/**
 * Equal reads between two changes become one: by the identifier of the first, how many followed it. The changes are in
 * their order.
 */
function foldReads(
  reads: readonly Outline[],
  changes: readonly string[],
): Map<string, FoldedReads> {
  const folded = new Map<string, FoldedReads>()
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
      folded.set(exchange_id, { more: 0, last: exchange_id })
    } else folded.set(first, { more: before.more + 1, last: exchange_id })
  }
  return folded
}
