/** Query parameters of lists, and the addresses of other pages of them. */
import { pagination } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Cursor, CursorPage } from './cursor.ts'
import type { PageVisit } from './define-page.ts'
import { type AccountVisit, textsIn, type Visit } from './page.ts'
import { BACK, link } from './parts.ts'

/** One of `values`; undefined for any other text. */
export function choiceIn<Value extends string>(
  visit: Visit,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const { [name]: given } = textsIn(visit, [name])
  return values.find(value => value === given)
}

export function cursorIn(visit: Visit): Cursor {
  const { before, after } = textsIn(visit, ['before', 'after'])
  return { before: before || undefined, after: after || undefined }
}

/** `page?name=value`, without the parameters that are undefined or ''. */
export function pageAddress(page: string, given: Record<string, string | undefined>): string {
  const pairs = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value ? [[name, value]] : [],
  )
  return pairs.length > 0 ? `${page}?${new URLSearchParams(pairs)}` : page
}

/** The address of something in a list. The page there has a link back to the list as it is now, by `linkBack`. */
export const addressFrom = (
  address: string,
  filters: Record<string, string | undefined>,
  cursor: Cursor,
): string => pageAddress(address, { [BACK]: pageAddress('', { ...filters, ...cursor }).slice(1) })

/** A link back to the list `page`, as it was filtered. */
export function linkBack(visit: AccountVisit, page: string, name: string): Html {
  const { [BACK]: back } = textsIn(visit, [BACK])
  const list = `${visit.root}${page}`
  const to = back
    ? link(`${list}?${new URLSearchParams(back)}`, `${name}, as you found them`)
    : link(list, name)
  return html`<p class="govuk-body">${to}</p>`
}

/** Links from a page of the list `page` to those beside it, with the same filters. */
export function linksBeside(
  label: string,
  { newer, older }: CursorPage<unknown>,
  page: string,
  filters: Record<string, string | undefined>,
): Html | false {
  if (!newer && !older) return false
  const to = (cursor: Cursor | undefined) => cursor && pageAddress(page, { ...filters, ...cursor })
  return pagination({ label, newer: to(newer), older: to(older) })
}

/** Links to the pages of the list beside this one, with the same filters. */
export const pageLinks = (
  { here, filters }: PageVisit,
  label: string,
  page: CursorPage<unknown>,
): Html | false => linksBeside(label, page, here, filters)
