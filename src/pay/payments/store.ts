import { timingSafeEqual } from 'node:crypto'
import { ACCOUNT_COLUMNS, type Account, accountIn, ownerOf } from '../../core/account.ts'
import { currentGuest } from '../../core/guests.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime, Database, Statement, Time, Value } from '../../core/ports.ts'
import { findKeys, livesAt } from '../../platform/accounts/store.ts'
import { fold, groupOf } from '../../platform/database/fold.ts'
import { type Condition, columnsFor, where } from '../../platform/database/select.ts'
import { brandId } from '../card.ts'
import { oldestWithKey } from '../differences/creating.ts'
import { COUNTER_PREFIX, isGone, oldestKept } from '../retention.ts'
import {
  beforeCharge,
  behaviourOf,
  type Change,
  isFinished,
  type Payment,
  type Status,
  statuses,
  statusOf,
} from './payment.ts'
import { paymentAt } from './refund.ts'

/** `body` is JSON with every field of the payment that is not a column here. */
type Row = Pick<Payment, 'payment_id' | 'room' | 'version' | 'refunded_amount' | 'due_at'> & {
  body: string
}
type Body = Omit<Payment, keyof Row>

/**
 * A query by payment_id reads the column payment_id too, although the request has it: there it is a sliced string of
 * the URL, which JSON.stringify serialises at half the speed of a flat string.
 */
const COLUMNS = columnsFor<Row>({
  payment_id: 'payment_id',
  room: 'account',
  version: 'version',
  refunded_amount: 'refunded_amount',
  due_at: 'due_at',
  body: 'body',
})
const FIND = `select ${COLUMNS} from payments where payment_id = $1 and account = $2`
const FIND_WITH_ACCOUNT = `select ${COLUMNS}, ${ACCOUNT_COLUMNS}
  from payments join accounts on room = account where payment_id = $1 and ${livesAt('$2')}`

function fromRow({ payment_id, room, version, refunded_amount, due_at, body }: Row): Payment {
  const rest = JSON.parse(body) as Body // written by bodyOf
  return Object.assign(rest, { payment_id, room, version, refunded_amount, due_at })
}

function bodyOf({ payment_id, room, version, refunded_amount, due_at, ...body }: Payment): string {
  return JSON.stringify(body satisfies Body)
}

/** undefined when the account has no such payment, or when it is gone at `now`, in milliseconds. */
export async function findPayment(
  database: Database,
  account: Pick<Account, 'room' | 'behaviour'>,
  payment_id: string,
  now: AccountTime,
): Promise<Payment | undefined> {
  if (isGone(payment_id, { account, now })) return undefined
  const [row] = await database.query<Row>(FIND, [payment_id, account.room])
  return row && paymentAt(fromRow(row), now)
}

/** Whether a payment of the account owes a step at `now`, in milliseconds. */
export async function hasDue(database: Database, room: string, now: AccountTime): Promise<boolean> {
  const due = 'select payment_id from payments where account = $1 and due_at <= $2 limit 1'
  return (await database.query(due, [room, now])).length > 0
}

/** The first payments with a step due at `now`, in milliseconds. Sorted by the index alone: many may be due at once. */
export async function findDue(database: Database, room: string, now: AccountTime, limit: number) {
  const rows = await database.query<Row>(
    `select ${COLUMNS} from payments where account = $1 and due_at <= $2
     order by due_at limit ${limit}`,
    [room, now],
  )
  return rows.map(row => paymentAt(fromRow(row), now))
}

/** The rooms with payments that will owe a step, as `findKeys` does, each with the time of its first step. */
export const roomsWithDue = (database: Database, stop?: AbortSignal) => {
  const rows = 'payments where due_at is not null'
  const keys = { rows, key: 'payments.account', value: 'due_at', room: 'id' }
  return findKeys<AccountTime>(database, keys, stop)
}

const TOKEN = /^([0-9a-v]{26})([0-9a-v]{26})$/

/** The payment of a token, and its account, whose place the request takes. Undefined if unknown, gone or expired. */
export async function findByToken(
  { database, time }: { database: Database; time: Time },
  token: string,
): Promise<{ payment: Payment; account: Account } | undefined> {
  const [, payment_id, secret] = TOKEN.exec(token) ?? []
  if (!payment_id || !secret) return undefined
  const [row] = await database.query<Row & Account>(FIND_WITH_ACCOUNT, [payment_id, time.wall()])
  if (!row) return undefined
  const account = accountIn(row)
  const now = time.now(account)
  const payment = paymentAt(fromRow(row), now)
  const isSecret = timingSafeEqual(Buffer.from(secret), Buffer.from(payment.secret))
  // Links stop working after 7 days under both behaviours.
  if (!isSecret || payment_id < oldestKept(now, 'specification')) return undefined
  currentGuest()?.become?.(ownerOf(account))
  return { payment, account }
}

const bitOf = (status: Status): number => 1 << statuses.indexOf(status)

/** Payments that are or were in the status. Of payments that an earlier version wrote, others match too. */
export const hasPassed = (status: Status): Condition =>
  isFinished(status)
    ? where('status = ?', status)
    : where('(status = ? or coalesce(passed, -1) & ? > 0)', status, bitOf(status))

type Column = [name: string, read: (payment: Payment) => Value]

const FIXED: Column[] = [
  ['payment_id', payment => payment.payment_id],
  ['account', payment => payment.room],
  ['amount', ({ given }) => given.amount],
  ['reference_folded', ({ given }) => fold(given.reference)],
  ['reference_group', ({ given }) => groupOf(fold(given.reference))],
  ['email_folded', ({ given }) => foldIfGiven(given.email)],
  ['agreement_id', ({ given }) => given.agreement_id ?? given.set_up_agreement ?? null],
]

/** The columns that every update writes. */
const CHANGING: Column[] = [
  ['version', payment => payment.version],
  ['status', payment => statusOf(beforeCharge(payment))],
  ['passed', ({ events }) => events.reduce((bits, { status }) => bits | bitOf(status), 0)],
  ['refunded_amount', payment => payment.refunded_amount],
  ['due_at', payment => payment.due_at],
  [
    'cardholder_name_folded',
    ({ card, given }) => foldIfGiven(card?.cardholder_name ?? given.prefilled?.cardholder_name),
  ],
  ['card_brand', ({ card }) => brandId(card?.card_brand) ?? null],
  ['first_digits', ({ card }) => card?.first_digits_card_number ?? null],
  ['last_digits', ({ card }) => card?.last_digits_card_number ?? null],
  ['body', bodyOf],
]

const foldIfGiven = (text: string | undefined): Value => (text === undefined ? null : fold(text))

const EVERY = [...FIXED, ...CHANGING]
const INSERT = `insert into payments (${EVERY.map(([name]) => name).join(', ')})
  values (${EVERY.map((_, i) => `$${i + 1}`).join(', ')})`
const UPDATE = `update payments set ${CHANGING.map(([name], i) => `${name} = $${i + 3}`).join(', ')}
  where payment_id = $1 and version = $2`

const valuesOf = (columns: Column[], payment: Payment): Value[] =>
  columns.map(([, read]) => read(payment))

export const insertPayment = (payment: Payment): Statement => ({
  sql: INSERT,
  values: valuesOf(EVERY, payment),
  also: countPayment(payment),
})

/** Writes a change by compare-and-swap on the version. */
export const savePayment = ({ before, after }: Change): Statement => ({
  sql: UPDATE,
  values: [before.payment_id, before.version, ...valuesOf(CHANGING, after)],
  expect: 1,
})

/** Takes the key for a payment. Misses while another payment holds it. */
export function takeIdempotencyKey(payment: Payment, key: string): Statement {
  const oldest = oldestWithKey[behaviourOf(payment)](timeOf(payment.payment_id))
  return {
    sql: `insert into idempotency_keys (account, idempotency_key, payment_id) values ($1, $2, $3)
          on conflict (account, idempotency_key) do update set payment_id = excluded.payment_id
          where idempotency_keys.payment_id < $4`,
    values: [payment.room, key, payment.payment_id, oldest],
    expect: 1,
  }
}

/** The identifier of the payment that holds the key at `now`, in milliseconds. */
export async function findKeyHolder(
  database: Database,
  { room, behaviour }: Account,
  key: string,
  now: AccountTime,
): Promise<string | undefined> {
  const [row] = await database.query<{ payment_id: string }>(
    `select payment_id from idempotency_keys
     where account = $1 and idempotency_key = $2 and payment_id >= $3`,
    [room, key, oldestWithKey[behaviour](now)],
  )
  return row?.payment_id
}

export const paymentRows = { from: 'payments', columns: COLUMNS, id: 'payment_id', fromRow }

/**
 * Counting a million rows would take most of the time of a search. So every insert increments a counter
 * in payment_counts. A counter covers the identifiers with the same first five characters, which is some
 * two hours. A total adds up the counters, and counts rows only at the two ends of the range.
 */
export const prefixOf = (id: string): string => id.slice(0, COUNTER_PREFIX)

/** The bucket ends with the last character of the identifier, so that concurrent inserts rarely lock the same row. */
const countPayment = ({ payment_id, room }: Payment): Statement => ({
  sql: `insert into payment_counts (account, bucket, payments) values ($1, $2, 1)
        on conflict (account, bucket) do update set payments = payment_counts.payments + 1`,
  values: [room, prefixOf(payment_id) + payment_id.slice(-1)],
})

/** The number of payments that the account made in its present room, without those that the sweep has deleted. */
export async function countPayments(database: Database, room: string): Promise<number> {
  const [counted] = await database.query<{ payments: number }>(
    'select cast(coalesce(sum(payments), 0) as integer) as payments from payment_counts where account = $1',
    [room],
  )
  return counted?.payments ?? 0
}
