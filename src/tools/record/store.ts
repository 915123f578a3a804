import { RECORD_ROWS, STEP_BYTES } from '../../core/budgets.ts'
import { padded } from '../../core/gather.ts'
import { idFloor } from '../../core/ids.ts'
import type { Database, Statement } from '../../core/ports.ts'
import { fold } from '../../platform/database/fold.ts'
import { type FollowedPage, findFollowed, type Paging } from '../../platform/database/follow.ts'
import {
  allOf,
  type Condition,
  countRows,
  findOne,
  findPart,
  findWithin,
  ifGiven,
  inRange,
  join,
  type Part,
  type Range,
  selectPart,
  where,
} from '../../platform/database/select.ts'
import { COLUMNS, fromRow, INSERTED, type Row } from './columns.ts'
import type { Exchange, ExchangeKind, NewExchange } from './exchange.ts'

/** An SQL expression for roughly the bytes of a row. The databases know the length of a text without reading it. */
export const BYTES = 'octet_length(body) + coalesce(octet_length(facts), 0) + 256'

const PLACES = INSERTED.split(',').map((_, i) => `$${i + 1}`)
const INSERT = `insert into exchanges (${INSERTED}) values (${PLACES.join(', ')})`

/** Writes the exchange with this identifier. The JSON of its facts leaves out the values that `fromRow` fills in. */
export function insertExchange(exchange: NewExchange): (exchange_id: string) => Statement {
  const { room, payment_id, message_id, kind, operation, method, status, refused, ...rest } =
    exchange
  const { code, field, told, facts, began, at, ms, ended, webhook_id, result, gap, ...body } = rest
  const timing = {
    at,
    ms,
    began: began - at === 0 ? undefined : began,
    ended: ended === 'sent' ? undefined : ended,
    webhook_id,
    result,
    gap,
  }
  const columns = [room, payment_id, message_id, kind, operation, method, status, Number(refused)]
  const refusal = [code ?? null, field ?? null, told ?? null]
  const json = [JSON.stringify(body), JSON.stringify({ ...facts, ...timing })]
  // Other requests are found by the reference of their payment.
  const refusedReference = payment_id === null && body.reference ? fold(body.reference) : null
  const { kind: sent = null, other_key } = body.by_hand ?? {}
  const searched = [refusedReference, Number(facts?.broken !== undefined), other_key ? null : sent]
  const values = [...columns, ...refusal, ...json, ...searched]
  return exchange_id => ({ sql: INSERT, values: [exchange_id, ...values] })
}

/** A selection of the exchanges of an account. All conditions must hold. */
export type ExchangeFilter = Range & {
  kinds?: readonly ExchangeKind[]
  refused?: boolean
  /** Only exchanges that break a rule of the check. */
  broken?: true
  operation?: string
  status?: number | null
  /** A class of statuses, such as 4 for 4xx. */
  class?: 2 | 4 | 5
  /** Recorded then or later, in milliseconds on the machine's clock. */
  recordedSince?: number
  /** Recorded before this time, in the same milliseconds. */
  recordedUntil?: number
  /** null: only exchanges without a code. */
  code?: string | null
  field?: string | null
  told?: string | null
  payment_id?: string
  /** The whole reference of the payment, in any case, or of a payment whose creation was refused. */
  reference?: string
}

const COMPARED = ['operation', 'status', 'code', 'field', 'told', 'payment_id'] as const

export function conditionsOf(room: string, filter: ExchangeFilter): Condition[] {
  const { kinds, refused, reference, recordedSince, recordedUntil } = filter
  const floor = (ms: number | undefined) => (ms === undefined ? undefined : idFloor(ms))
  return [
    where('account = ?', room),
    ...inRange('exchange_id', filter),
    ...(kinds ? [isAmong('kind', kinds)] : []),
    ...(refused === undefined ? [] : [where(`refused = ${refused ? 1 : 0}`)]),
    ...(filter.broken ? [where('broken = 1')] : []),
    ...ifGiven('status / 100 = ?', filter.class),
    ...ifGiven('exchange_id >= ?', floor(recordedSince)),
    ...ifGiven('exchange_id < ?', floor(recordedUntil)),
    ...COMPARED.flatMap(name =>
      filter[name] === null ? where(`${name} is null`) : ifGiven(`${name} = ?`, filter[name]),
    ),
    ...(reference === undefined ? [] : [ofReference(room, fold(reference))]),
  ]
}

const ofReference = (room: string, folded: string): Condition =>
  where(
    // Not "in (select ..)": any number of payments may have the reference.
    `(exists (select 1 from payments where payments.payment_id = exchanges.payment_id
       and payments.account = ? and payments.reference_folded = ?) or reference_folded = ?)`,
    room,
    folded,
    folded,
  )

export const exchangeRows = {
  from: 'exchanges',
  columns: COLUMNS,
  id: 'exchange_id',
  idOf: ({ exchange_id }: Exchange) => exchange_id,
  bytes: BYTES,
  fromRow,
}

/** `text`: only exchanges that have this text in their address or their bodies, in any case. */
export async function findExchanges(
  database: Database,
  room: string,
  { text, ...filter }: ExchangeFilter & { text?: string | undefined },
  part: Part,
): Promise<Exchange[]> {
  if (text !== undefined) return findWithText(database, room, { filter, folded: fold(text) }, part)
  const conditions = conditionsOf(room, filter)
  if (!filter.refused) return findPart(database, exchangeRows, conditions, part)
  // SQLite would scan the account's rows; for identifiers alone it takes the index of refusals, which has all columns.
  const { sql, values } = selectPart({ ...exchangeRows, columns: 'exchange_id' }, conditions, part)
  return findPart(database, exchangeRows, [where(`exchange_id in (${sql})`, ...values)], part)
}

/** Rows that are read and looked at in one turn of the event loop: other requests wait meanwhile, some milliseconds. */
const STEP = 250

/** Looks at all exchanges of the account, if need be. */
async function findWithText(
  database: Database,
  room: string,
  { filter, folded }: { filter: ExchangeFilter; folded: string },
  { limit, order }: Part,
): Promise<Exchange[]> {
  const matches: Exchange[] = []
  const step = { limit: STEP, order, most: STEP_BYTES }
  for (let rest = filter; matches.length < limit; ) {
    const rows = await findWithin(database, exchangeRows, conditionsOf(room, rest), step)
    const last = rows.at(-1)
    if (!last) break
    matches.push(...rows.filter(row => hasText(row, folded)))
    rest = { ...rest, [order === 'newest' ? 'before' : 'after']: last.exchange_id }
  }
  return matches.slice(0, limit)
}

function hasText({ path, query, request_body, response_body }: Exchange, folded: string): boolean {
  const address = query === '' ? path : `${path}?${query}`
  return [address, request_body?.text, response_body?.text].some(
    text => text !== undefined && fold(text).includes(folded),
  )
}

/** The condition of a send by hand that its own receiver accepted. */
export const ACCEPTED_BY_HAND = `kind = 'out' and refused = 0 and by_hand = 'again'`

/** The condition of a message, in a table of messages, that its receiver accepted when it was sent again. */
export const wasAccepted = (table: string): string =>
  `exists (select 1 from exchanges where exchanges.payment_id = ${table}.payment_id
     and exchanges.message_id = ${table}.message_id and ${ACCEPTED_BY_HAND})`

/** A page of exchanges to follow. `since`: the earliest beginning, in milliseconds on the machine's clock. */
export async function followExchanges(
  database: Database,
  room: string,
  { since, ...filter }: ExchangeFilter & { since?: number },
  paging: Paging,
): Promise<FollowedPage<Exchange>> {
  const first = since === undefined ? undefined : idFloor(since)
  const conditions = conditionsOf(room, filter)
  let { after } = paging
  for (;;) {
    const options = { ...paging, after, since: first }
    const page = await findFollowed(database, exchangeRows, conditions, options)
    // An exchange that was written later may have begun before `since`, and a damaged one has become a gap.
    const rows = page.rows.filter(
      ({ began, kind }) => began >= (since ?? 0) && (filter.kinds?.includes(kind) ?? true),
    )
    const isLast = page.rows.length === 0 || paging.before !== undefined
    if (rows.length > 0 || isLast) return { ...page, rows: rows.sort(byBeginning) }
    after = page.next
  }
}

type Begun = Pick<Exchange, 'began' | 'exchange_id'>
/** Instances write in batches, and a slow request is written after a fast one that began later. */
export const byBeginning = (one: Begun, other: Begun): number =>
  one.began - other.began || (one.exchange_id < other.exchange_id ? -1 : 1)

/** The number of exchanges; with `limit`, at most so many: for "4 newer". */
export function countExchanges(
  database: Database,
  room: string,
  filter: ExchangeFilter,
  limit?: number,
): Promise<number> {
  const conditions = allOf(conditionsOf(room, filter))
  const parts = [where('(select exchange_id from exchanges where'), conditions]
  return countRows(database, join([...parts, ...ifGiven('limit ?', limit), where(') newer')], ' '))
}

/** undefined if the account has no such exchange, or if its row is damaged. */
export async function findExchange(database: Database, room: string, exchange_id: string) {
  const condition = where('exchange_id = ? and account = ?', exchange_id, room)
  const found = await findOne(database, exchangeRows, condition)
  return found?.kind === 'gap' ? undefined : found
}

const MOST_READS = 500

/** An exchange without its request and response. */
export type Outline = Pick<Exchange, 'exchange_id' | 'kind' | 'operation' | 'status'>

type PaymentKey = { room: string; payment_id: string }

const ofPayment = ({ room, payment_id }: PaymentKey) =>
  where('payment_id = ? and account = ?', payment_id, room)

export function isAmong(column: string, values: readonly string[]): Condition {
  if (values.length === 0) return where('1 = 0')
  const places = padded(values)
  return where(`${column} in (${places.map(() => '?').join(', ')})`, ...places)
}

/** The newest exchanges of a payment, in the order of their identifiers. */
export async function outlinesOfPayment(database: Database, key: PaymentKey): Promise<Outline[]> {
  const columns = 'exchange_id, kind, operation, status'
  const rows = { ...exchangeRows, columns, fromRow: (row: Outline) => row }
  const part = { limit: RECORD_ROWS, order: 'newest' } as const
  return (await findPart(database, rows, [ofPayment(key)], part)).reverse()
}

/** A read of a payment through the API. `began` is a time of the machine. */
export type Read = { payment_id: string; began: number }

/** The reads of these payments, which need not exist, that were recorded since this time of the machine. */
export async function readsSince(
  database: Database,
  room: string,
  payment_ids: readonly string[],
  since: number,
): Promise<Read[]> {
  const { sql, values } = isAmong('payment_id', payment_ids)
  const conditions = [
    ...conditionsOf(room, { kinds: ['api'], recordedSince: since }),
    where(`(${sql} or (payment_id is null and status = 404)) and method = 'GET'`, ...values),
  ]
  const part = { limit: MOST_READS, order: 'newest', most: STEP_BYTES } as const
  const found = await findWithin(database, exchangeRows, conditions, part)
  return found.flatMap(({ path, began }) => {
    const payment_id = payment_ids.find(id => path.includes(id))
    return payment_id === undefined ? [] : [{ payment_id, began }]
  })
}

/** The exchanges of a payment with these identifiers, at most 5 MB of them. A damaged row is a gap. */
export async function exchangesOfPayment(
  database: Database,
  key: PaymentKey,
  ids: readonly string[],
  order: Part['order'],
): Promise<Exchange[]> {
  if (ids.length === 0) return []
  const part = { limit: ids.length, order, most: PAYMENT_BYTES }
  return findWithin(database, exchangeRows, [ofPayment(key), isAmong('exchange_id', ids)], part)
}

const PAYMENT_BYTES = 5 * 1024 * 1024

/** The identifier of the newest exchange; undefined without any. */
export async function newestId(database: Database, room: string, filter: ExchangeFilter = {}) {
  const [newest] = await findExchanges(database, room, filter, { limit: 1, order: 'newest' })
  return newest?.exchange_id
}

/** A group of refused requests whose sentences differ in values only. */
export type Refusals = Pick<Row, 'operation' | 'status' | 'code' | 'field' | 'told'> & {
  found: number
  /** The identifier of the newest request. */
  newest: string
}

/**
 * The account's refused requests in groups. The group with the newest request is first. `since`: only requests recorded
 * then or later, in milliseconds on the machine's clock.
 */
export const groupRefusals = (database: Database, room: string, since = 0): Promise<Refusals[]> =>
  database.query<Refusals>(
    `select operation, status, code, field, told, cast(count(*) as integer) as found, max(exchange_id) as newest
     from (select exchange_id, operation, status, code, field, told from exchanges
           where account = $1 and refused = 1 and kind in ('api', 'page') and exchange_id >= $2
           order by exchange_id desc limit ${RECORD_ROWS}) refusals
     group by operation, status, code, field, told order by newest desc`,
    [room, idFloor(since)],
  )
