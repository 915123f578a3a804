/** How an exchange is spread over the columns of its row. */
import type { Headers } from '../../core/exchange.ts'
import { timeOf } from '../../core/ids.ts'
import {
  type Evidence,
  type Exchange,
  type ExchangeBody,
  type ExchangeTiming,
  type Facts,
  NO_REQUEST,
} from './exchange.ts'

export type Row = Omit<Exchange, keyof ExchangeBody | 'refused'> & {
  refused: number
  code: string | null
  field: string | null
  told: string | null
  body: string
  /** null in the rows of older versions, whose body has all. */
  facts: string | null
}

const SHOWN =
  'exchange_id, account, payment_id, message_id, kind, operation, status, refused, code, field, told, body, facts'
export const INSERTED = `${SHOWN}, reference_folded`
export const COLUMNS = SHOWN.replace('account', 'account as room')

/** The JSON of `facts`. */
type StoredFacts = Facts & Pick<Exchange, 'at'> & Partial<Pick<Exchange, ExchangeTiming>>

const orNothing = (headers: Headers) => (Object.keys(headers).length > 0 ? headers : undefined)

/** The JSON of the two columns. It leaves out what is undefined, and what `fromRow` fills in. */
export function columnsOf(exchange: ExchangeBody): [body: string, facts: string] {
  const { began, at, ms, ended, webhook_id, result, gap, facts, ...rest } = exchange
  const body = {
    ...rest,
    query: rest.query || undefined,
    request_headers: orNothing(rest.request_headers),
    response_headers: orNothing(rest.response_headers),
  }
  const stored = {
    ...facts,
    at,
    ms,
    began: began - at === 0 ? undefined : began,
    ended: ended === 'sent' ? undefined : ended,
    webhook_id,
    result,
    gap,
  }
  return [JSON.stringify(body), JSON.stringify(stored)]
}

/** undefined if the row is damaged. */
export function readJson<Stored>(text: string): Stored | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    return typeof stored === 'object' && stored !== null ? (stored as Stored) : undefined // written by columnsOf
  } catch {
    return undefined
  }
}

export function fromRow(row: Row): Exchange {
  const { refused, code, field, told, body, facts: timing, ...columns } = row
  const stored = readJson<Partial<ExchangeBody>>(body)
  const facts = timing === null ? stored : readJson<StoredFacts>(timing)
  // A damaged row counts as an exchange that was not kept, so that a page shows the others.
  if (typeof stored?.path !== 'string' || typeof facts?.at !== 'number')
    return { ...columns, ...NO_REQUEST, ...lostAt(row), refused: refused === 1 }
  const { at, began = Number(at), ms = 0, ended = 'sent', webhook_id, result, gap } = facts
  return {
    ...columns,
    refused: refused === 1,
    ...(code !== null && { code }),
    ...(field !== null && { field }),
    ...(told !== null && { told }),
    ...NO_REQUEST,
    ...stored,
    at,
    began,
    ms,
    ended,
    ...(webhook_id !== undefined && { webhook_id }),
    ...(result !== undefined && { result }),
    ...(gap && { gap }),
    ...(timing !== null && { facts: facts as StoredFacts }),
  }
}

/** Rows as the rules of the check see them, without bodies. A row of an older version, or a damaged one, is a gap. */
export const evidenceRows = {
  from: 'exchanges',
  columns:
    'exchange_id, payment_id, message_id, kind, operation, status, refused, code, field, facts',
  id: 'exchange_id',
  fromRow(row: Omit<Row, 'room' | 'body' | 'told'>): Evidence {
    const { refused, code, field, facts, ...columns } = row
    const stored = facts === null ? undefined : readJson<StoredFacts>(facts)
    if (typeof stored?.at !== 'number') return { ...columns, ...lostAt(row) }
    return {
      ...columns,
      ...(code !== null && { code }),
      ...(field !== null && { field }),
      began: Number(stored.at),
      ms: 0,
      ended: 'sent',
      ...stored,
    }
  },
}

function lostAt({ exchange_id, refused }: Pick<Row, 'exchange_id' | 'refused'>) {
  const at = timeOf(exchange_id)
  const gap = { count: 1, refused, from: at, to: at, bounds: ['damage'] }
  return { kind: 'gap', ended: 'sent', began: at, at, ms: 0, gap } as const
}
