import { badSearch, noSuchPage, type PageCode, type SearchCode } from '../../core/errors.ts'
import { idFloor } from '../../core/ids.ts'
import { afterInstant, day, instant, integer, isStorable, time } from '../../core/values.ts'
import { type Condition, type FoundPage, ifGiven, where } from '../database/select.ts'
import { type Addresses, getLink } from './addresses.ts'
import { parameter, type QueryParameters } from './query.ts'

/** Searches: their query parameters and the page that they return. Rules: docs/spec-gaps.md. */

const LARGEST_DISPLAY_SIZE = 500
const LARGEST_PAGE = 2_147_483_647

export const paging = {
  page: parameter(integer(1, LARGEST_PAGE), 'The page to show', { default: 1, examples: [1] }),
  display_size: parameter(integer(1, LARGEST_DISPLAY_SIZE), 'Results on a page', {
    default: LARGEST_DISPLAY_SIZE,
    examples: [1],
  }),
} satisfies QueryParameters

const TIME = '2026-09-14T08:20:31Z'
const created = (description: string) =>
  parameter(
    time(TIME, ' (in a query + is written %2B)'),
    `${description}: an ISO 8601 time with Z or an offset`,
    { examples: [TIME] },
  )
const settled = (description: string) =>
  parameter(day, `${description}, as YYYY-MM-DD`, { examples: ['2026-09-14'] })

/** The parameters that several searches share. The search of refunds has all of them, in this order. */
export const filters = {
  from_date: created('Created at or after this time'),
  to_date: created('Created before this time'),
  from_settled_date: settled('Settled on or after this day'),
  to_settled_date: settled('Settled before this day'),
  ...paging,
} satisfies QueryParameters

/** One of the searches. Links and errors name its parameters in the order of `filters`. */
export type SearchKind = {
  path: string
  filters: QueryParameters
  codes: { invalid: SearchCode; pastEnd: PageCode }
}

/** `filters` are the parameters that were given, in the order of the kind's, without page and display_size. */
export type Search = ReturnType<typeof readSearch>

const READABLE_RULE = 'text in percent-encoded UTF-8, without U+0000'

/** Throws one error that lists all invalid parameters. Blank ones count as absent. Unknown ones are ignored. */
export function readSearch(query: unknown, kind: SearchKind) {
  const read: Record<string, string> = {}
  const wrong: string[] = []
  for (const [name, { read: readText, rule }] of Object.entries(kind.filters)) {
    const value = (query as Record<string, unknown>)[name] // Fastify parses it to an object
    const text = String([value].flat()[0] ?? '')
    if (!text.trim()) continue
    if (!isStorable(text)) wrong.push(`${name} must be ${READABLE_RULE}`)
    else if (readText(text) === undefined) wrong.push(`${name} must be ${rule}`)
    else read[name] = text
  }
  if (wrong.length > 0) throw badSearch(kind.codes.invalid, wrong)
  const { page = '1', display_size = String(LARGEST_DISPLAY_SIZE), ...filters } = read
  return { kind, filters, page: Number(page), displaySize: Number(display_size) }
}

/** Specification, *Search result page*. `present` makes each result when it is read. Throws for a page after the last. */
export function pageOf<Found, Item>(
  search: Search,
  { total, count, results }: FoundPage<Found>,
  addresses: Addresses,
  present: (found: Found, addresses: Addresses) => Item,
) {
  const { kind, page, displaySize } = search
  const last = Math.max(1, Math.ceil(total / displaySize))
  if (total > 0 && page > last) throw noSuchPage(kind.codes.pastEnd, page, last)
  const link = (number: number) => {
    const query = Object.entries({ ...search.filters, page: number, display_size: displaySize })
    const pairs = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    return getLink(`${addresses.api}${kind.path}?${pairs.join('&')}`)
  }
  return {
    total,
    count,
    page,
    results: Iterator.from(results).map(found => present(found, addresses)),
    _links: {
      self: link(page),
      first_page: link(1),
      last_page: link(last),
      ...(page > 1 && { prev_page: link(Math.min(page - 1, last)) }),
      ...(page < last && { next_page: link(page + 1) }),
    },
  }
}

/** from_date and to_date as identifiers: the first that matches, and the first after those that match. */
export const createdRange = ({ filters: { from_date, to_date } }: Search, withFrom = true) => ({
  from: from_date && idFloor(withFrom ? instant(from_date) : afterInstant(from_date)),
  until: to_date && idFloor(instant(to_date)),
})

/** Conditions on the time that an identifier begins with. `withFrom`: the moment of from_date matches too. */
export function createdBetween(search: Search, id: string, withFrom?: boolean): Condition[] {
  const { from, until } = createdRange(search, withFrom)
  return [...ifGiven(`${id} >= ?`, from), ...ifGiven(`${id} < ?`, until)]
}

/** Nothing is ever settled, so a filter on the settled date matches nothing. */
export const settledBetween = ({ filters }: Search): Condition[] =>
  filters.from_settled_date || filters.to_settled_date ? [where('1 = 0')] : []
