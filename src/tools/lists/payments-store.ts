/** For lists and the home page of the console: the results of the messages of payments, and the number by status. */

import type { Account } from '../../core/account.ts'
import { MESSAGES_COUNTED } from '../../core/budgets.ts'
import type { AccountTime, Database } from '../../core/ports.ts'
import { type Payment, type Status, statuses } from '../../pay/payments/payment.ts'
import { paymentRows } from '../../pay/payments/store.ts'
import { oldestKept } from '../../pay/retention.ts'
import type { MessageStatus } from '../../pay/webhooks/webhook.ts'
import { findPart, join, numbered, where } from '../../platform/database/select.ts'
import { isAmong, wasAccepted } from '../record/store.ts'

/** The number of messages of a payment with a delivery status, and the first of them. */
export type Delivery = {
  status: MessageStatus | 'sent again'
  found: number
  message_id: string
}

/**
 * By payment, for payments that the caller has found. Payments without messages are absent. Counts at most
 * MESSAGES_COUNTED messages of a payment, and one more if it has more.
 */
export async function deliveriesOf(
  database: Database,
  payments: readonly Payment[],
): Promise<Map<string, Delivery[]>> {
  if (payments.length === 0) return new Map()
  const shown = `case when status = 'FAILED' and ${wasAccepted('messages')} then 'sent again' else status end`
  const counted = payments.map(({ payment_id }, i) =>
    where(
      `select * from (select payment_id, message_id, status from webhook_messages
         where payment_id = ? and body is not null limit ${MESSAGES_COUNTED + 1}) payment_${i}`,
      payment_id,
    ),
  )
  const { sql, values } = join(counted, ' union all ')
  const rows = await database.query<Delivery & { payment_id: string }>(
    numbered(`select payment_id, shown as status, cast(count(*) as integer) as found, min(message_id) as message_id
     from (select payment_id, message_id, ${shown} as shown from (${sql}) messages) shown_messages
     group by payment_id, shown`),
    values,
  )
  return Map.groupBy(rows, ({ payment_id }) => payment_id)
}

/** The references of the payments of these messages, by payment_id. Payments that are gone are absent. */
export async function referencesOf(
  database: Database,
  messages: readonly { payment_id: string }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(messages.map(({ payment_id }) => payment_id))]
  const part = { limit: ids.length, order: 'newest' } as const
  const payments = await findPart(database, paymentRows, [isAmong('payment_id', ids)], part)
  return new Map(payments.map(({ payment_id, given }) => [payment_id, given.reference]))
}

/** The number of payments with each status, of the account and not gone at `now`: of each status at most `most`. */
export async function countStatuses(
  database: Database,
  { room, behaviour }: Account,
  { now, most }: { now: AccountTime; most: number },
): Promise<Map<Status, number>> {
  const counts = statuses.map((status, i) =>
    where(
      `(select cast(count(*) as integer) from
         (select payment_id from payments where account = ? and status = ? and payment_id >= ? limit ?) status_${i}) as found_${i}`,
      room,
      status,
      oldestKept(now, behaviour),
      most,
    ),
  )
  const { sql, values } = join(counts, ', ')
  const [row] = await database.query<Record<string, number>>(numbered(`select ${sql}`), values)
  return new Map(statuses.map((status, i) => [status, row?.[`found_${i}`] ?? 0]))
}
