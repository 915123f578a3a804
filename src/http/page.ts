import { badSearch, noSuchPage, type PageCode, type SearchCode } from '../errors.ts'
import type { Addresses } from './addresses.ts'
import { isStorable } from './fields.ts'
import { getLink } from './link.ts'
import { type Filter, LARGEST_DISPLAY_SIZE } from './search.ts'

/** How a search is asked for, and the page that answers it. SPEC *Search result page*. */

/** What tells one search from another. `filters` is in the order in which links and errors name them. */
export type SearchKind = {
  path: string
  filters: Record<string, Filter>
  codes: { invalid: SearchCode; pastEnd: PageCode }
}

export type Search = {
  kind: SearchKind
  /** The given filters in the order of the kind's table, page and display_size not among them. */
  given: Record<string, string>
  page: number
  displaySize: number
}

/** What no value may break, whatever the filter. */
const READABLE_RULE = 'text in percent-encoded UTF-8, without U+0000'

/** The error for these filters of a search, in the order of its table; the values of some could not even be read. */
export const wrongFilters = (
  { codes, filters }: SearchKind,
  names: string[],
  unreadable: string[] = [],
) =>
  badSearch(
    codes.invalid,
    names.map(name => {
      const rule = unreadable.includes(name) ? READABLE_RULE : filters[name]?.rule
      return `${name} must be ${rule}`
    }),
  )

/** Reads query parameters; throws one error that lists all wrong names. Blank ones are as if not given. */
export function readSearch(query: unknown, kind: SearchKind): Search {
  const read: Record<string, string> = {}
  const wrong: string[] = []
  const unreadable: string[] = []
  for (const [name, { valid }] of Object.entries(kind.filters)) {
    const text = firstText((query as Record<string, unknown>)[name]) // Fastify parses it to an object
    if (!text.trim()) continue
    if (isStorable(text) && valid(text)) read[name] = text
    else wrong.push(name)
    if (!isStorable(text)) unreadable.push(name)
  }
  if (wrong.length > 0) throw wrongFilters(kind, wrong, unreadable)
  const { page = '1', display_size = String(LARGEST_DISPLAY_SIZE), ...given } = read
  return { kind, given, page: Number(page), displaySize: Number(display_size) }
}

const firstText = (value: unknown): string =>
  String((Array.isArray(value) ? value[0] : value) ?? '')

/** One page of what was found, each as `present` shows it; throws where the page asked for is past the last one. */
export function pageOf<Found, Item>(
  search: Search,
  { total, results }: { total: number; results: Found[] },
  addresses: Addresses,
  present: (found: Found, addresses: Addresses) => Item,
) {
  const { kind, page, displaySize } = search
  const last = Math.max(1, Math.ceil(total / displaySize))
  if (total > 0 && page > last) throw noSuchPage(kind.codes.pastEnd, page, last)
  const link = (number: number) => getLink(addresses.api + kind.path + queryOf(search, number))
  return {
    total,
    count: results.length,
    page,
    results: results.map(found => present(found, addresses)),
    _links: {
      self: link(page),
      first_page: link(1),
      last_page: link(last),
      ...(page > 1 && { prev_page: link(Math.min(page - 1, last)) }),
      ...(page < last && { next_page: link(page + 1) }),
    },
  }
}

/** Given filters, then page and display_size. */
function queryOf({ given, displaySize }: Search, page: number): string {
  const pairs = Object.entries({ ...given, page, display_size: displaySize })
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}
