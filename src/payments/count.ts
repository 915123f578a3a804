import { type Condition, where } from '../http/search.ts'
import type { Statement } from '../ports.ts'
import type { Payment } from './payment.ts'

/**
 * Counting a million rows takes longer than all else of a search. So payments are counted when
 * they are made, in buckets by the first letters of their identifiers, which are some two hours;
 * only what a range has of the buckets at its two ends is counted row by row.
 */
const PREFIX = 5

/** Sorts after every letter that an identifier has, and so after every identifier. */
export const AFTER = 'w'

const prefixOf = (id: string): string => id.slice(0, PREFIX)

/** With the last letter, so that payments made at the same time rarely wait for one row. */
const bucketOf = ({ payment_id }: Payment): string => prefixOf(payment_id) + payment_id.slice(-1)

/** Counts a payment that is being made. */
export const countPayment = (payment: Payment): Statement => ({
  sql: `insert into payment_counts (account, bucket, payments) values ($1, $2, 1)
        on conflict (account, bucket) do update set payments = payment_counts.payments + 1`,
  values: [payment.account, bucketOf(payment)],
})

/** The number of an account's payments whose identifiers are at or after `from` and before `until`. */
export function totalBetween(account: string, from: string, until: string): Condition {
  const [first, last] = [prefixOf(from), prefixOf(until)]
  if (first >= last) return rows(account, from, until)
  return sum(
    rows(account, from, first + AFTER),
    where(
      `select coalesce(sum(payments), 0) from payment_counts
       where account = ? and bucket >= ? and bucket < ?`,
      account,
      first + AFTER,
      last,
    ),
    rows(account, last, until),
  )
}

const rows = (account: string, from: string, until: string): Condition =>
  where(
    'select count(*) from payments where account = ? and payment_id >= ? and payment_id < ?',
    account,
    from,
    until,
  )

const sum = (...parts: Condition[]): Condition =>
  where(
    `select ${parts.map(({ sql }) => `(${sql})`).join(' + ')}`,
    ...parts.flatMap(({ values }) => values),
  )
