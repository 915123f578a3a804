/** Reads an exchange from the columns of its row. `insertExchange` in store.ts writes them. */
import { timeOf } from '../../core/ids.ts'
import { parsedJson } from '../../core/values.ts'
import {
  type Evidence,
  type Exchange,
  type ExchangeBody,
  type ExchangeTiming,
  type Facts,
  type Gap,
  NO_REQUEST,
} from './exchange.ts'

export type Row = Omit<Exchange, keyof ExchangeBody | 'refused'> & {
  refused: number
  code: string | null
  field: string | null
  told: string | null
  body: string
  facts: string | null
}

const SHOWN =
  'exchange_id, account, payment_id, message_id, kind, operation, method, status, refused, code, field, told, body, facts'
export const INSERTED = `${SHOWN}, reference_folded, broken, by_hand`
export const COLUMNS = SHOWN.replace('account', 'account as room')

/** The JSON of `facts`. */
type StoredFacts = Facts & Pick<Exchange, 'at' | 'ms'> & Partial<Pick<Exchange, ExchangeTiming>>

export function fromRow(row: Row): Exchange {
  const { refused, code, field, told, body, facts: factsText, ...columns } = row
  // Written by insertExchange; undefined if the row is damaged.
  const stored = parsedJson(body) as Partial<ExchangeBody> | undefined
  const facts = parsedJson(factsText ?? '') as StoredFacts | undefined
  const known = { ...NO_REQUEST, ...columns, refused: refused === 1 }
  // A damaged row counts as an exchange that was not kept, so that a page shows the others.
  if (typeof stored?.path !== 'string' || typeof facts?.at !== 'number')
    return { ...known, ...lostAt(row) }
  const { at, began = Number(at), ms, ended = 'sent', webhook_id, result, gap } = facts
  const timing = { at, began, ms, ended, facts }
  const more = present({ code, field, told, webhook_id, result, gap })
  return { ...known, ...more, ...stored, ...timing }
}

/** The values that are not missing. */
const present = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => (value ?? null) !== null)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>
  }

/** Rows as the rules of the check see them, without bodies. A damaged row is a gap. */
export const evidenceRows = {
  from: 'exchanges',
  columns:
    'exchange_id, payment_id, message_id, kind, operation, status, refused, code, field, facts',
  id: 'exchange_id',
  fromRow(row: Omit<Row, 'room' | 'body' | 'method' | 'told'>): Evidence {
    const { refused, code, field, facts, ...columns } = row
    const stored = parsedJson(facts ?? '') as StoredFacts | undefined
    if (typeof stored?.at !== 'number') return { ...columns, ...lostAt(row) }
    const began = Number(stored.at)
    return { ...columns, ...present({ code, field }), began, ended: 'sent', ...stored }
  },
}

function lostAt({ exchange_id, refused }: Pick<Row, 'exchange_id' | 'refused'>) {
  const at = timeOf(exchange_id)
  const gap: Gap = { count: 1, refused, from: at, to: at, bounds: ['damage'] }
  return { kind: 'gap', ended: 'sent', began: at, at, ms: 0, gap } as const
}
