/** Finds exchanges with a text in their address or their bodies. */

import type { Database } from '../../core/ports.ts'
import { containingExactly, fold } from '../../platform/database/fold.ts'
import { findPart, idsWithin, type Part, where } from '../../platform/database/select.ts'
import type { Exchange } from './exchange.ts'
import { conditionsOf, type ExchangeFilter, exchangeRows } from './store.ts'

/** Rows that are read at once: on SQLite other requests wait meanwhile, some milliseconds. */
const STEP = 500
const STEP_BYTES = 512 * 1024

/** Those of the filter that have the text, in any case. All that the account keeps is looked at, if need be. */
export async function findWithText(
  database: Database,
  room: string,
  { text, ...filter }: ExchangeFilter & { text: string },
  { limit, order }: Part,
): Promise<Exchange[]> {
  const matches: Exchange[] = []
  const part = { limit: STEP, order }
  let rest = filter
  while (matches.length < limit) {
    const conditions = conditionsOf(room, rest)
    const ids = await idsWithin(database, exchangeRows, conditions, part, STEP_BYTES)
    const [first, last] = [ids[0], ids.at(-1)]
    if (first === undefined || last === undefined) break
    const [low, high] = first < last ? [first, last] : [last, first]
    // The database leaves out nearly all that has not the text. Headers are in the same column, so a row is looked at again.
    const rows = await findPart(
      database,
      exchangeRows,
      [
        ...conditions,
        where('exchange_id >= ? and exchange_id <= ?', low, high),
        where(`lower(body) like ? escape '\\'`, patternOf(text)),
      ],
      part,
    )
    matches.push(...rows.filter(row => hasText(row, fold(text))))
    rest = { ...rest, [order === 'newest' ? 'before' : 'after']: last }
  }
  return matches.slice(0, limit)
}

/** The body of a row is JSON. The databases differ in the lower case of other letters than those of ASCII. */
const patternOf = (text: string): string =>
  containingExactly(JSON.stringify(text).slice(1, -1).toLowerCase()).replace(/[^\x20-\x7e]+/g, '%')

function hasText({ path, query, request_body, response_body }: Exchange, folded: string): boolean {
  const address = query === '' ? path : `${path}?${query}`
  return [address, request_body?.text, response_body?.text].some(
    each => each !== undefined && fold(each).includes(folded),
  )
}
