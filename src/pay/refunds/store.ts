import type { Database, Statement } from '../../core/ports.ts'
import { columnsFor } from '../../platform/database/select.ts'
import type { Refund } from './refund.ts'

const COLUMNS = columnsFor<Refund>({
  refund_id: 'refund_id',
  payment_id: 'payment_id',
  room: 'account',
  amount: 'amount',
})

export function insertRefund({ refund_id, payment_id, room, amount }: Refund): Statement {
  return {
    sql: `insert into refunds (refund_id, payment_id, account, amount) values ($1, $2, $3, $4)`,
    values: [refund_id, payment_id, room, amount],
  }
}

/** The refunds of a payment, oldest first. */
export const refundsOf = (database: Database, payment_id: string): Promise<Refund[]> =>
  database.query<Refund>(
    `select ${COLUMNS} from refunds where payment_id = $1 order by refund_id`,
    [payment_id],
  )

/** undefined when this payment has no such refund. */
export async function findRefund(
  database: Database,
  payment_id: string,
  refund_id: string,
): Promise<Refund | undefined> {
  const rows = await database.query<Refund>(
    `select ${COLUMNS} from refunds where payment_id = $1 and refund_id = $2`,
    [payment_id, refund_id],
  )
  return rows[0]
}

/** The refund of any payment of the account. */
export async function findRefundOfAccount(
  database: Database,
  room: string,
  refund_id: string,
): Promise<Refund | undefined> {
  const rows = await database.query<Refund>(
    `select ${COLUMNS} from refunds where account = $1 and refund_id = $2`,
    [room, refund_id],
  )
  return rows[0]
}

export const refundRows = {
  from: 'refunds',
  columns: COLUMNS,
  id: 'refund_id',
  fromRow: (row: Refund): Refund => row,
}
