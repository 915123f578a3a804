/** Finds payments for the tools, also by parts of their values, within limits that keep each query short. */

import type { Account } from '../../core/account.ts'
import { idFloor } from '../../core/ids.ts'
import type { AccountTime, Database } from '../../core/ports.ts'
import { isFinished, type Payment, type Status } from '../../pay/payments/payment.ts'
import { paymentAt } from '../../pay/payments/refund.ts'
import { hasPassed, paymentRows } from '../../pay/payments/store.ts'
import { oldestKept } from '../../pay/retention.ts'
import {
  beginning,
  containing,
  containingExactly,
  fold,
  GROUPS,
  groupOf,
} from '../../platform/database/fold.ts'
import {
  allOf,
  type Condition,
  countRows,
  findPart,
  ifGiven,
  join,
  numbered,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'

/** The value to look for. A text is a part, in any case; a value of metadata is the whole value, exactly. */
export type Sought =
  | { by: 'reference'; text: string }
  | { by: 'email'; text: string }
  | { by: 'amount'; pence: number }
  | { by: 'metadata'; name: string; value: string }

/** What no index has. */
type Scanned = Exclude<Sought, { by: 'reference' }>

/** Created at `from` or later and before `until`, in milliseconds. */
export type PaymentFilter = {
  payment_id?: string
  /** The whole reference, in any case. */
  reference?: string
  /** Only payments that set up this agreement, or were made with it. */
  agreement_id?: string
  status?: string | undefined
  /** A status, also of the past: see `hasPassed`. No index has the statuses that a payment can leave. */
  passed?: Status | undefined
  /** Refunded wholly or partly, without failed refunds. No index has that, so the same limit applies as to parts. */
  refunded?: boolean
  from?: number | undefined
  until?: number | undefined
  sought?: Sought | undefined
}

/**
 * The most payments that are looked at for an email address, an amount, metadata or the middle of a reference, which no
 * index has: the newest of the account, or of those with the status.
 */
export const MOST_SEARCHED = 10_000

/** The most payments that are looked at for a status in the past, whose column stands behind the body. */
const MOST_PASSED = 1_000

/** The most references that are looked at. An index has them, in an order that does not help with their beginnings. */
export const MOST_BEGINNINGS = 25_000

const BELOW = 'payment_id < ?'

type Search = {
  account: Pick<Account, 'room' | 'behaviour'>
  now: AccountTime
  filter: PaymentFilter
}

/** Payments that are not gone at `now` and match the filter, as they are at `now`. */
export async function findPayments(
  database: Database,
  search: Search,
  range: Range,
  { limit, order }: Part,
): Promise<Payment[]> {
  const { sought, refunded, passed, reference, status } = search.filter
  const most = passed && !isFinished(passed) ? MOST_PASSED : sought || refunded ? MOST_SEARCHED : 0
  const isBounded = most > 0 && sought?.by !== 'reference'
  const least = isBounded ? await newestFrom(database, search, most) : ''
  // Each search for a reference looks at all of them again.
  const part = { limit: refunded ? Math.max(BODIES_AT_ONCE, limit) : limit, order }
  const read = (range: Range) => {
    if (sought?.by === 'reference') return findByReference(database, search, { ...range, ...part })
    // Any number of payments may have the reference, of which none has the status.
    const isRare = reference !== undefined && (passed ?? status) !== undefined && !sought
    if (sought?.by === 'metadata' || isRare)
      return findInSteps(database, search, { range, least, sought }, part)
    const all = [...conditionsOf(search, range, least), ...(sought ? [ofSought(sought)] : [])]
    return findPart(database, paymentRows, all, part)
  }
  const find = async (range: Range) =>
    (await read(range)).map(payment => paymentAt(payment, search.now))
  // Only the body says which refunds have failed, and which text of it is metadata.
  const isMatch = ({ refunded_amount, given: { metadata = {} } }: Payment) =>
    (!refunded || refunded_amount > 0) &&
    (sought?.by !== 'metadata' ||
      (Object.hasOwn(metadata, sought.name) && String(metadata[sought.name]) === sought.value))
  const found = await findWanted(find, isMatch, { ...range, ...part }, MOST_SEARCHED)
  return found.slice(0, limit)
}

/** The payments whose bodies one query looks at. Held by test/contract/console/payments.test.ts. */
const BODIES_AT_ONCE = 500

/** The same for a query that looks at columns only. */
const ROWS_AT_ONCE = 5_000

type InSteps = { range: Range; least: string; sought: Scanned | undefined }

/** At most `limit` payments that match. Each query looks at so few that it holds nobody up. */
async function findInSteps(
  database: Database,
  search: Search,
  { range, least, sought }: InSteps,
  { limit, order }: Part,
): Promise<Payment[]> {
  const found: Payment[] = []
  const part = { limit: sought ? BODIES_AT_ONCE : ROWS_AT_ONCE, order }
  const { passed, status, ...inIndex } = search.filter
  const looked = sought ? search : { ...search, filter: inIndex }
  for (let rest = range; ; ) {
    const last = await lastOf(database, conditionsOf(looked, rest, least), part)
    const step =
      last === undefined || order === 'newest' ? rest : { ...rest, before: textAfter(last) }
    const lowest = order === 'newest' ? (last ?? least) : least
    const conditions = [
      ...conditionsOf(search, step, lowest),
      ...(sought ? [ofSought(sought)] : []),
    ]
    const left = { limit: limit - found.length, order }
    found.push(...(await findPart(database, paymentRows, conditions, left)))
    if (last === undefined || found.length === limit) return found
    rest = { ...rest, [order === 'newest' ? 'before' : 'after']: last }
  }
}

/** The last identifier of this part of the payments; undefined if there are fewer than `limit`. */
async function lastOf(database: Database, conditions: Condition[], { limit, order }: Part) {
  const { sql, values } = allOf(conditions)
  const direction = order === 'newest' ? 'desc' : 'asc'
  const [last] = await database.query<{ payment_id: string }>(
    numbered(
      `select payment_id from payments where ${sql}
       order by payment_id ${direction} limit 1 offset ${limit - 1}`,
    ),
    values,
  )
  return last?.payment_id
}

/** The text that sorts next after the identifier. */
const textAfter = (id: string): string => `${id}0`

/** The first payments that `find` finds and `isWanted` takes, at most `limit`. At most `most` are looked at. */
export async function findWanted(
  find: (range: Range) => Promise<Payment[]>,
  isWanted: (payment: Payment) => boolean,
  { limit, order, ...range }: Part & Range,
  most = Infinity,
): Promise<Payment[]> {
  const wanted: Payment[] = []
  let from: Range = range
  for (let seen = 0; seen < most && wanted.length < limit; seen += limit) {
    const payments = await find(from)
    wanted.push(...payments.filter(isWanted))
    const last = payments[limit - 1]?.payment_id
    if (last === undefined) break
    from = { ...from, [order === 'newest' ? 'before' : 'after']: last }
  }
  return wanted.slice(0, limit)
}

/** All conditions but `sought`. There is one lower limit, because SQLite would seek by either of two. */
function conditionsOf({ account, now, filter }: Search, { before, after }: Range, least: string) {
  const { payment_id, reference, agreement_id, status, passed, refunded, from, until } = filter
  const kept = oldestKept(now, account.behaviour)
  const low = [least, kept, idFloor(from ?? 0), after === undefined ? '' : textAfter(after)].sort()
  const high = [before, until === undefined ? undefined : idFloor(until)].sort()
  return [
    where('account = ?', account.room),
    where('payment_id >= ?', low.at(-1) ?? ''),
    // Undefined is sorted to the end.
    ...ifGiven(BELOW, high[0]),
    ...ifGiven('payment_id = ?', payment_id),
    ...ifGiven('agreement_id = ?', agreement_id),
    ...(reference === undefined ? [] : [isReference(reference)]),
    ...ifGiven('status = ?', status),
    ...(passed ? [hasPassed(passed)] : []),
    ...(refunded ? [where('refunded_amount > 0')] : []),
  ]
}

function isReference(reference: string): Condition {
  const folded = fold(reference)
  return where('reference_group = ? and reference_folded = ?', groupOf(folded), folded)
}

/** The lowest identifier of the `most` newest payments of the account, or of those with the status; '' for fewer. */
async function newestFrom(
  database: Database,
  { account, filter: { status } }: Search,
  most: number,
) {
  const conditions = [where('account = ?', account.room), ...ifGiven('status = ?', status)]
  return (await lastOf(database, conditions, { limit: most, order: 'newest' })) ?? ''
}

function ofSought(sought: Scanned): Condition {
  switch (sought.by) {
    case 'amount':
      return where('amount = ?', sought.pence)
    case 'email': {
      const pattern = containing(sought.text)
      const like = (column: string) => `${column} like ? escape '\\'`
      return where(`(${like('email_folded')} or ${like('reference_folded')})`, pattern, pattern)
    }
    case 'metadata': {
      const name = JSON.stringify(sought.name)
      const patterns = [JSON.stringify(sought.value), sought.value].map(value =>
        containingExactly(`${name}:${value}`),
      )
      return where(`(body like ? escape '\\' or body like ? escape '\\')`, ...patterns)
    }
  }
}

async function findByReference(
  database: Database,
  search: Search,
  { limit, order, ...range }: Part & Range,
): Promise<Payment[]> {
  const direction = order === 'newest' ? 'desc' : 'asc'
  // The limit is a literal: PostgreSQL's generic plan, the sixth time, takes a parameter for a tenth of all payments.
  const sets = (await setsWith(database, search, range)).map((conditions, i) => {
    const { sql, values } = allOf(conditions)
    return where(
      `select * from (select payment_id from payments where ${sql}
         order by payment_id ${direction} limit ${limit}) set_${i}`,
      ...values,
    )
  })
  const { sql, values } = join(sets, ' union all ')
  const inSets = where(`payment_id in (${sql})`, ...values)
  return findPart(database, paymentRows, [inSets], { limit, order })
}

/** Sets of payments, by their conditions: those with the whole reference, and those with a part of it. */
async function setsWith(database: Database, search: Search, range: Range) {
  const { text } = search.filter.sought as Extract<Sought, { by: 'reference' }>
  const whole = isReference(text)
  const newest = await newestFrom(database, search, MOST_SEARCHED)
  if (search.filter.status !== undefined) {
    const hasPart = where(`reference_folded like ? escape '\\'`, containing(text))
    return [
      [...conditionsOfWhole(search, range), whole],
      [...conditionsOf(search, range, newest), hasPart],
    ]
  }
  // All is read from one index. The sets of parts have the whole references of the newest payments too.
  const wide = await newestFrom(database, search, MOST_BEGINNINGS)
  const { before = wide } = range
  const older = { ...range, before: before < wide ? before : wide }
  const parts = Array.from({ length: GROUPS }, (_, group) => [
    ...conditionsOf(search, range, wide),
    where(
      `reference_group = ? and (reference_folded like ? escape '\\'
         or (payment_id >= ? and reference_folded like ? escape '\\'))`,
      group,
      beginning(text),
      newest,
      containing(text),
    ),
  ])
  return wide === '' ? parts : [[...conditionsOfWhole(search, older), whole], ...parts]
}

/**
 * The upper limit is not for an index: PostgreSQL's generic plan takes a range between two parameters for half a percent
 * of all payments, and would read the rows of the whole range instead of the index of references.
 */
const conditionsOfWhole = (search: Search, range: Range): Condition[] =>
  conditionsOf(search, range, '').map(({ sql, values }) =>
    where(sql === BELOW ? `payment_id || '' < ?` : sql, ...values),
  )

/** The number of payments in the range that match the filter, which has no `sought`. At most `most` are counted. */
export function countListed(database: Database, search: Search, range: Range, most: number) {
  const { sql, values } = allOf(conditionsOf(search, range, ''))
  const listed = `(select payment_id from payments where ${sql} limit ?) listed`
  return countRows(database, where(listed, ...values, most))
}
