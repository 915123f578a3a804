/** Lists of payments for the console and for /control, and the results of their webhook messages. */
import { fold, groupOf } from '../database/fold.ts'
import type { Database, Value } from '../ports.ts'
import { oldestKept } from '../retention.ts'
import type { DeliveryStatus } from '../webhooks/webhook.ts'
import type { Payment } from './payment.ts'
import { paymentRows } from './store.ts'

/** `reference` is the whole one, in any case. `before` and `after` are identifiers of payments, exclusive. */
type ListFilter = {
  payment_id?: string
  reference?: string | undefined
  status?: string | undefined
  before?: string
  after?: string
}

type Row = Parameters<typeof paymentRows.fromRow>[0]

/** Payments of the account that are not gone at `now`: the newest, newest first, or the oldest, oldest first. */
export async function listPayments(
  database: Database,
  room: string,
  { payment_id, reference, status, before, after }: ListFilter,
  { now, limit, order }: { now: number; limit: number; order: 'newest' | 'oldest' },
): Promise<Payment[]> {
  const values: Value[] = [room, oldestKept(now)]
  const bind = (value: Value) => `$${values.push(value)}`
  const where = ['account = $1', 'payment_id >= $2']
  if (payment_id !== undefined) where.push(`payment_id = ${bind(payment_id)}`)
  if (reference !== undefined) {
    const folded = fold(reference)
    where.push(`reference_group = ${bind(groupOf(folded))}`, `reference_folded = ${bind(folded)}`)
  }
  if (status !== undefined) where.push(`status = ${bind(status)}`)
  if (before !== undefined) where.push(`payment_id < ${bind(before)}`)
  if (after !== undefined) where.push(`payment_id > ${bind(after)}`)
  const rows = await database.query<Row>(
    `select ${paymentRows.columns} from payments where ${where.join(' and ')}
     order by payment_id ${order === 'newest' ? 'desc' : 'asc'} limit ${bind(limit)}`,
    values,
  )
  return rows.map(paymentRows.fromRow)
}

/** The number of messages of a payment with a delivery status, and the first of them. */
export type Delivery = { status: DeliveryStatus; found: number; message_id: string }

/** By payment, for payments that the caller has found. Those without messages are absent. */
export async function deliveriesOf(
  database: Database,
  payments: readonly Payment[],
): Promise<Map<string, Delivery[]>> {
  if (payments.length === 0) return new Map()
  const places = payments.map((_, i) => `$${i + 1}`).join(', ')
  const rows = await database.query<Delivery & { payment_id: string }>(
    `select payment_id, status, cast(count(*) as integer) as found, min(message_id) as message_id
     from webhook_messages where payment_id in (${places}) and body is not null
     group by payment_id, status`,
    payments.map(({ payment_id }) => payment_id),
  )
  return Map.groupBy(rows, ({ payment_id }) => payment_id)
}
