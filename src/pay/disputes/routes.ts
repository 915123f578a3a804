import { afterInstant, instant, oneOf } from '../../core/values.ts'
import { addressesOf } from '../../platform/http/addresses.ts'
import { api, type Endpoint } from '../../platform/http/endpoint.ts'
import { searchDocs } from '../../platform/http/openapi.ts'
import { parameter } from '../../platform/http/query.ts'
import {
  filters,
  pageOf,
  readSearch,
  type Search,
  type SearchKind,
} from '../../platform/http/search.ts'
import type { Context } from '../context.ts'
import { pageLinks } from '../differences/reading.ts'
import { findsFromDate } from '../differences/searching.ts'
import { shownPage } from '../result-page.ts'
import { type Dispute, disputeStatuses, disputes } from './dispute.ts'
import { disputesPage, presentDispute } from './wire.ts'

const disputeSearch: SearchKind = {
  path: '/v1/disputes',
  codes: { invalid: 'P0401', pastEnd: 'P0402' },
  filters: { ...filters, status: parameter(oneOf(disputeStatuses), 'The status of the dispute') },
}

/** Specification, *Other resources*: every account has the same four disputes. */
export const disputeEndpoints = ({ config }: Context): Endpoint[] => [
  {
    ...api('GET', '/v1/disputes', 'searchDisputes', 'Search disputes'),
    search: disputeSearch,
    docs: behaviour => ({
      ...searchDocs(disputeSearch, disputesPage(behaviour), ['status']),
      description:
        'Four fixed sample records, the same for every account. Their payments do not exist here.',
    }),
    handler: async request => {
      const { behaviour } = request.account
      const search = readSearch(request.query, disputeSearch)
      const matching = disputes.filter(one => matches(one, search, findsFromDate[behaviour]))
      const from = (search.page - 1) * search.displaySize
      const results = matching.slice(from, from + search.displaySize)
      const result = { total: matching.length, count: results.length, results }
      const page = pageOf(search, result, addressesOf(request, config), (dispute, addresses) =>
        presentDispute(dispute, addresses, behaviour),
      )
      return pageLinks[behaviour].ofDisputes(shownPage(page, behaviour))
    },
  },
]

function matches(dispute: Dispute, { filters }: Search, withFrom: boolean): boolean {
  const created = Date.parse(dispute.created_date)
  const { from_settled_date: settledFrom, to_settled_date: settledTo } = filters
  const { settled_date = '' } = dispute
  return (
    (!filters.status || dispute.status === filters.status) &&
    (!filters.from_date || created >= (withFrom ? instant : afterInstant)(filters.from_date)) &&
    (!filters.to_date || created < instant(filters.to_date)) &&
    (!settledFrom || settled_date >= settledFrom) &&
    (!settledTo || (settled_date !== '' && settled_date < settledTo))
  )
}
