/** Lists of payments for the console and for /control, and the results of their webhook messages. */

import type { AccountTime, Database } from '../../core/ports.ts'
import { type Payment, type Status, statuses } from '../../pay/payments/payment.ts'
import { paymentRows } from '../../pay/payments/store.ts'
import { oldestKept } from '../../pay/retention.ts'
import { SHOWN_STATUS, type ShownStatus } from '../../pay/webhooks/message-store.ts'
import { fold, groupOf } from '../../platform/database/fold.ts'
import { findPart, ifGiven, numbered, type Part, where } from '../../platform/database/select.ts'
import { ACCEPTED_BY_HAND } from '../record/by-hand.ts'
import { among } from '../record/store.ts'

/** `reference` is the whole one, in any case. */
type ListFilter = {
  payment_id?: string
  reference?: string
  /** That set this agreement up, or were made with it. */
  agreement_id?: string
  before?: string | undefined
}

/** Payments of the account that are not gone at `now`. */
export function listPayments(
  database: Database,
  room: string,
  { payment_id, reference, agreement_id, before }: ListFilter,
  { now, ...part }: Part & { now: AccountTime },
): Promise<Payment[]> {
  const conditions = [
    where('account = ?', room),
    where('payment_id >= ?', oldestKept(now)),
    ...ifGiven('payment_id = ?', payment_id),
    ...ifGiven('agreement_id = ?', agreement_id),
    ...ifGiven('payment_id < ?', before),
    ...(reference === undefined ? [] : [ofReference(fold(reference))]),
  ]
  return findPart(database, paymentRows, conditions, part)
}

/** Payments that are looked at together, so that few are in memory. */
const LOOKED_AT_TOGETHER = 100

/** The newest of those that match and that `isWanted` takes, at most `limit`, of the newest `most`. */
export async function newestWanted(
  database: Database,
  room: string,
  filter: ListFilter,
  { now, limit, most }: { now: AccountTime; limit: number; most: number },
  isWanted: (payment: Payment) => boolean,
): Promise<Payment[]> {
  const wanted: Payment[] = []
  const part = { now, limit: LOOKED_AT_TOGETHER, order: 'newest' } as const
  let before: string | undefined
  for (let seen = 0; seen < most && wanted.length < limit; seen += LOOKED_AT_TOGETHER) {
    const some = await listPayments(database, room, { ...filter, before }, part)
    wanted.push(...some.filter(isWanted))
    before = some[LOOKED_AT_TOGETHER - 1]?.payment_id
    if (before === undefined) break
  }
  return wanted.slice(0, limit)
}

const ofReference = (folded: string) =>
  where('reference_group = ? and reference_folded = ?', groupOf(folded), folded)

/** The number of messages of a payment with a delivery status, and the first of them. */
export type Delivery = {
  status: ShownStatus | 'sent again'
  found: number
  message_id: string
}

/** By payment, for payments that the caller has found. Those without messages are absent. */
export async function deliveriesOf(
  database: Database,
  payments: readonly Payment[],
): Promise<Map<string, Delivery[]>> {
  if (payments.length === 0) return new Map()
  const ids = payments.map(({ payment_id }) => payment_id)
  const again = `status = 'FAILED' and message_id in (select message_id from exchanges
    where ${among('payment_id', ids)} and ${ACCEPTED_BY_HAND})`
  const shown = `case when ${again} then 'sent again' else ${SHOWN_STATUS} end`
  const rows = await database.query<Delivery & { payment_id: string }>(
    numbered(`select payment_id, shown as status, cast(count(*) as integer) as found, min(message_id) as message_id
     from (select payment_id, message_id, ${shown} as shown
           from webhook_messages where ${among('payment_id', ids)} and body is not null) messages
     group by payment_id, shown`),
    [...ids, ...ids],
  )
  return Map.groupBy(rows, ({ payment_id }) => payment_id)
}

/** How many payments of the account that are not gone at `now` have each status. None is counted beyond `most`. */
export async function countStatuses(
  database: Database,
  room: string,
  { now, most }: { now: AccountTime; most: number },
): Promise<Map<Status, number>> {
  const counts = statuses.map((status, i) =>
    where(
      `select cast(count(*) as integer) as found from
         (select payment_id from payments where account = ? and status = ? and payment_id >= ? limit ?) status_${i}`,
      room,
      status,
      oldestKept(now),
      most,
    ),
  )
  const [row] = await database.query<Record<string, number>>(
    numbered(`select ${counts.map(({ sql }, i) => `(${sql}) as found_${i}`).join(', ')}`),
    counts.flatMap(({ values }) => values),
  )
  return new Map(statuses.map((status, i) => [status, row?.[`found_${i}`] ?? 0]))
}
