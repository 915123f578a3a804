/** Lists of payments for the console and for /control, and the results of their webhook messages. */

import type { Database } from '../../core/ports.ts'
import { containing, fold, groupOf } from '../../platform/database/fold.ts'
import {
  findPart,
  ifGiven,
  inRange,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'
import { oldestKept } from '../retention.ts'
import { SHOWN_STATUS, type ShownStatus } from '../webhooks/message-store.ts'
import type { Payment } from './payment.ts'
import { paymentRows } from './store.ts'

/** `reference` is the whole one, in any case; `part` is a part of it, among the newest payments of the account. */
type ListFilter = Range & {
  payment_id?: string
  reference?: string | undefined
  part?: string | undefined
  status?: string | undefined
}

/** Payments of the account that are not gone at `now`. */
export function listPayments(
  database: Database,
  room: string,
  { payment_id, reference, part: partOfReference, status, ...range }: ListFilter,
  { now, ...part }: Part & { now: number },
): Promise<Payment[]> {
  const conditions = [
    where('account = ?', room),
    where('payment_id >= ?', oldestKept(now)),
    ...ifGiven('payment_id = ?', payment_id),
    ...(reference === undefined ? [] : [ofReference(fold(reference))]),
    ...(partOfReference === undefined ? [] : [withPart(room, partOfReference)]),
    ...ifGiven('status = ?', status),
    ...inRange('payment_id', range),
  ]
  return findPart(database, paymentRows, conditions, part)
}

const ofReference = (folded: string) =>
  where('reference_group = ? and reference_folded = ?', groupOf(folded), folded)

/** No index finds a part of a reference, so only this many payments are looked through. */
export const MOST_SEARCHED = 10_000

const withPart = (room: string, part: string) =>
  where(
    `payment_id >= coalesce((select payment_id from payments where account = ?
       order by payment_id desc limit 1 offset ${MOST_SEARCHED - 1}), '')
     and reference_folded like ? escape '\\'`,
    room,
    containing(part),
  )

/** The number of messages of a payment with a delivery status, and the first of them. */
export type Delivery = { status: ShownStatus; found: number; message_id: string }

/** By payment, for payments that the caller has found. Those without messages are absent. */
export async function deliveriesOf(
  database: Database,
  payments: readonly Payment[],
): Promise<Map<string, Delivery[]>> {
  if (payments.length === 0) return new Map()
  const places = payments.map((_, i) => `$${i + 1}`).join(', ')
  const rows = await database.query<Delivery & { payment_id: string }>(
    `select payment_id, shown as status, cast(count(*) as integer) as found, min(message_id) as message_id
     from (select payment_id, message_id, ${SHOWN_STATUS} as shown
           from webhook_messages where payment_id in (${places}) and body is not null) messages
     group by payment_id, shown`,
    payments.map(({ payment_id }) => payment_id),
  )
  return Map.groupBy(rows, ({ payment_id }) => payment_id)
}
