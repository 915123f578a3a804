/** How an exchange is spread over the columns of its row. */
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

/** What the JSON of a row leaves out. */
const DEFAULTS = {
  query: '',
  request_headers: {},
  response_headers: {},
} as const satisfies Partial<ExchangeBody>

/** The JSON of `facts`. */
type StoredFacts = Facts & Pick<Exchange, 'at'> & Partial<Pick<Exchange, ExchangeTiming>>

/** The JSON of the two columns. */
export function columnsOf({
  began,
  at,
  ms,
  ended,
  webhook_id,
  result,
  gap,
  facts,
  query,
  request_headers,
  response_headers,
  ...rest
}: ExchangeBody): [body: string, facts: string] {
  const body = JSON.stringify({
    ...rest,
    ...(query !== '' && { query }),
    ...(Object.keys(request_headers).length > 0 && { request_headers }),
    ...(Object.keys(response_headers).length > 0 && { response_headers }),
  })
  const stored: StoredFacts = {
    ...facts,
    at,
    ms,
    ...(began - at !== 0 && { began }),
    ...(ended !== 'sent' && { ended }),
    ...(webhook_id !== undefined && { webhook_id }),
    ...(result !== undefined && { result }),
    ...(gap && { gap }),
  }
  return [body, JSON.stringify(stored)]
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

export function fromRow({
  refused: isRefused,
  code,
  field,
  told,
  body,
  facts: timing,
  ...columns
}: Row): Exchange {
  const refused = isRefused === 1
  const stored = readJson<Partial<ExchangeBody>>(body)
  const facts = timing === null ? stored : readJson<StoredFacts>(timing)
  if (typeof stored?.path !== 'string' || typeof facts?.at !== 'number')
    return lost({ ...columns, refused })
  const { method = '', path } = stored
  const { at, began = Number(at), ms = 0, ended = 'sent', webhook_id, result, gap } = facts
  return {
    ...columns,
    refused,
    ...(code !== null && { code }),
    ...(field !== null && { field }),
    ...(told !== null && { told }),
    ...DEFAULTS,
    ...stored,
    method,
    path,
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

type EvidenceRow = Omit<Row, 'room' | 'body' | 'told'>

/** Rows as the rules of the check see them, without bodies. A row of an older version, or a damaged one, is a gap. */
export const evidenceRows = {
  from: 'exchanges',
  columns:
    'exchange_id, payment_id, message_id, kind, operation, status, refused, code, field, facts',
  id: 'exchange_id',
  fromRow({ refused, code, field, facts, ...columns }: EvidenceRow): Evidence {
    const stored = facts === null ? undefined : readJson<StoredFacts>(facts)
    if (typeof stored?.at !== 'number')
      return { ...columns, ...lostAt(columns.exchange_id, refused) }
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

/** A damaged row counts as an exchange that was not kept, so that a page shows the others. */
function lost(columns: Omit<Exchange, keyof ExchangeBody>): Exchange {
  return { ...columns, ...NO_REQUEST, ...lostAt(columns.exchange_id, Number(columns.refused)) }
}

function lostAt(exchange_id: string, refused: number) {
  const at = timeOf(exchange_id)
  const gap = { count: 1, refused, from: at, to: at, bounds: ['damage'] }
  return { kind: 'gap', ended: 'sent', began: at, at, ms: 0, gap } as const
}
