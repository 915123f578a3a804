import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { addressesOf } from '../http/addresses.ts'
import { resource } from '../http/endpoint.ts'
import {
  anyOf,
  filters,
  instant,
  pageOf,
  readSearch,
  type Search,
  type SearchKind,
} from '../http/search.ts'
import { type Dispute, disputeStatuses, disputes } from './dispute.ts'
import { present } from './wire.ts'

export const disputeSearch: SearchKind = {
  path: '/v1/disputes',
  codes: { invalid: 'P0401', pastEnd: 'P0402' },
  filters: { ...filters, status: anyOf(disputeStatuses, 'The status of the dispute') },
}

/** Specification, *Other resources*: every account has the same four disputes. */
export function disputeRoutes(app: FastifyInstance, { config }: Farthing): void {
  resource(app, '/v1/disputes', {
    GET: {
      operation: 'searchDisputes',
      handler: async request => {
        const search = readSearch(request.query, disputeSearch)
        const matching = disputes.filter(dispute => matches(dispute, search))
        const from = (search.page - 1) * search.displaySize
        const results = matching.slice(from, from + search.displaySize)
        const found = { total: matching.length, results }
        return pageOf(search, found, addressesOf(request, config), present)
      },
    },
  })
}

function matches(dispute: Dispute, { given }: Search): boolean {
  const created = Date.parse(dispute.created_date)
  const { from_settled_date: settledFrom, to_settled_date: settledTo } = given
  const { settled_date = '' } = dispute
  return (
    (!given.status || dispute.status === given.status) &&
    (!given.from_date || created >= instant(given.from_date)) &&
    (!given.to_date || created < instant(given.to_date)) &&
    (!settledFrom || settled_date >= settledFrom) &&
    (!settledTo || (settled_date !== '' && settled_date < settledTo))
  )
}
