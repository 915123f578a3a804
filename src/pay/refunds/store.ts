import type { AccountTime, Database, Statement } from '../../core/ports.ts'
import {
  columnsFor,
  countRows,
  findEnds,
  findOne,
  findPart,
  ifGiven,
  where,
} from '../../platform/database/select.ts'
import type { Refund } from '../payments/refund.ts'

export const refundRows = {
  from: 'refunds',
  columns: columnsFor<Refund>({
    refund_id: 'refund_id',
    payment_id: 'payment_id',
    room: 'account',
    amount: 'amount',
    scenario: 'scenario',
    ended_at: 'ended_at',
  }),
  id: 'refund_id',
  idOf: ({ refund_id }: Refund) => refund_id,
  fromRow: (row: Refund): Refund => row,
}

export function insertRefund({ refund_id, payment_id, room, amount, scenario }: Refund): Statement {
  return {
    sql: `insert into refunds (refund_id, payment_id, account, amount, scenario) values ($1, $2, $3, $4, $5)`,
    values: [refund_id, payment_id, room, amount, scenario],
  }
}

/** The first refunds of a payment, or the first after the refund `after`, oldest first. */
export const refundsOf = (database: Database, payment_id: string, limit: number, after?: string) =>
  findPart(
    database,
    refundRows,
    [where('payment_id = ?', payment_id), ...ifGiven('refund_id > ?', after)],
    { limit, order: 'oldest' },
  )

/** The first and the last refunds of a payment, `most` of each, oldest first. */
export const endsOfRefunds = (database: Database, payment_id: string, most = READ_AT_ONCE) =>
  findEnds(database, refundRows, [where('payment_id = ?', payment_id)], most)

/** Counting these takes SQLite some 10 ms. */
export const REFUNDS_COUNTED = 100_000

/** How many refunds the payment has, at most REFUNDS_COUNTED. */
export function countRefunds(database: Database, payment_id: string) {
  const some = `(select refund_id from refunds where payment_id = ? limit ${REFUNDS_COUNTED}) counted`
  return countRows(database, where(some, payment_id))
}

/** The first held refunds of a payment, oldest first. */
export const heldRefundsOf = (database: Database, payment_id: string, limit: number) =>
  findPart(
    database,
    refundRows,
    [where('payment_id = ?', payment_id), where(`scenario = 'held'`)],
    { limit, order: 'oldest' },
  )

/** Ends a held refund with the scenario at `at`. */
export const endRefund = (
  { payment_id, refund_id }: Refund,
  scenario: string,
  at: AccountTime,
): Statement => ({
  sql: `update refunds set scenario = $3, ended_at = $4 where payment_id = $1 and refund_id = $2 and scenario = 'held'`,
  values: [payment_id, refund_id, scenario, at],
  expect: 1,
})

const READ_AT_ONCE = 500

/** All refunds of a payment: there may be as many as it has pence. */
export async function* allRefundsOf(database: Database, payment_id: string) {
  let last: Refund | undefined
  do {
    const some = await refundsOf(database, payment_id, READ_AT_ONCE, last?.refund_id)
    yield* some
    last = some[READ_AT_ONCE - 1]
  } while (last)
}

export const findRefund = (database: Database, payment_id: string, refund_id: string) =>
  findOne(database, refundRows, where('payment_id = ? and refund_id = ?', payment_id, refund_id))

export const findRefundOfAccount = (database: Database, room: string, refund_id: string) =>
  findOne(database, refundRows, where('account = ? and refund_id = ?', room, refund_id))
