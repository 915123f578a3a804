import type { Context } from '../context.ts'
import { timeOf } from '../ids.ts'
import type { Exchange, KeptBody } from '../recorder/exchange.ts'
import { findExchanges } from '../recorder/store.ts'
import { iso } from '../time.ts'
import type { ControlEndpoint } from './docs.ts'
import { flag, instant, limit, readQuery, text, wait, whole } from './query.ts'
import type { WaitFor } from './wait.ts'

const MOST = 500

const known = {
  operation: text,
  payment_id: text,
  reference: text,
  status: whole(100, 599),
  refused: flag,
  since: instant,
  after: text,
  limit,
  wait,
}

/**
 * The requests of the account's application and its browsers, oldest first. With `after` or `since` the list begins
 * there, otherwise it ends with the newest. An exchange is listed at the time when it began, also if its response
 * came late.
 */
export const listRequests = ({ database }: Context, waitFor: WaitFor): ControlEndpoint => ({
  method: 'GET',
  path: '/control/requests',
  operationId: 'listRequests',
  summary: 'List the requests of the account',
  query: known,
  handler: async request => {
    const { wait: ms = 0, limit: most = MOST, ...filter } = readQuery(request, known)
    const fromNewest = filter.after === undefined && filter.since === undefined
    const found = await waitFor(request, ms, ({ room }) =>
      findExchanges(
        database,
        room,
        { ...filter, kinds: ['api', 'page'] },
        { limit: most, order: fromNewest ? 'newest' : 'oldest' },
      ),
    )
    const results = (fromNewest ? found.reverse() : found).map(present)
    return { results, next: results.at(-1)?.request_id ?? filter.after ?? null }
  },
})

function present(exchange: Exchange) {
  const { exchange_id, operation, method, path, query, kind, payment_id, status, ms } = exchange
  return {
    request_id: exchange_id,
    at: iso(exchange.at),
    machine_at: iso(timeOf(exchange_id)),
    ...{ operation, method, path, query, kind, payment_id },
    reference: exchange.reference ?? null,
    headers: exchange.request_headers,
    ...presentBody(exchange.request_body),
    status,
    code: exchange.code ?? null,
    ms,
    plan: exchange.plan ?? null,
    answered: exchange.ended,
    answer: { headers: exchange.response_headers, ...presentBody(exchange.response_body) },
  }
}

/** A whole JSON body is shown as JSON, any other as text. */
export function presentBody(kept: KeptBody | undefined): { body: unknown; body_cut?: number } {
  if (!kept) return { body: null }
  if (kept.cut !== undefined) return { body: kept.text, body_cut: kept.cut }
  if (kept.base64) return { body: kept.text }
  try {
    return { body: JSON.parse(kept.text) }
  } catch {
    return { body: kept.text }
  }
}
