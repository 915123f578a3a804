/** Lists with filters, and with a cursor in place of page numbers, so that no rows are counted or skipped. */
import { FILTER_CHARACTERS } from '../../../core/budgets.ts'
import { inDigits } from '../../../core/money.ts'
import { DAY, iso, MINUTE, SECOND } from '../../../core/time.ts'
import type { Part, Range } from '../../../platform/database/select.ts'
import { backLink, button, pagination } from '../../../platform/web/components.ts'
import { input, type Option, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import * as ui from './parts.ts'
import { type AccountVisit, pageAddress, textsIn } from './visit.ts'

export type CursorPage<Item> = Awaited<ReturnType<typeof readPage<Item>>>

/**
 * Reads `size` items from the cursor on, newest first. `id` is the column, or makes the text, that sorts them. One item
 * more is read, to learn whether others follow. `newer` and `older` are for the links: undefined without others.
 */
export async function readPage<Item>(
  { before, after }: Range,
  id: keyof Item | ((item: Item) => string),
  find: (range: Range, part: Part) => Promise<Item[]>,
  size = 50,
) {
  const limit = size + 1
  const pageOf = (items: Item[], hasNewer: boolean, hasOlder: boolean) => {
    const ids = items.map(item => (typeof id === 'function' ? id(item) : String(item[id])))
    return {
      items,
      ids,
      newer: ids[0] !== undefined && hasNewer ? { after: ids[0] } : undefined,
      older: hasOlder ? { before: ids.at(-1) } : undefined,
    }
  }
  if (after !== undefined) {
    const items = (await find({ after }, { limit, order: 'oldest' })).toReversed()
    // There is an older page: the cursor names an item of it.
    if (items.length > 0) return pageOf(items.slice(-size), items.length > size, true)
  }
  const from = before === undefined || after !== undefined ? {} : { before }
  const items = await find(from, { limit, order: 'newest' })
  return pageOf(items.slice(0, size), 'before' in from, items.length > size)
}

export const addressFrom = ({ values, cursor }: PageVisit, address: string): string =>
  pageAddress(address, { back: pageAddress('', { ...values, ...cursor }).slice(1) })

/** A link back to the list `page`, with the filters that it had. */
export const linkBack = ({ root, back }: PageVisit, page: string, name: string): Html =>
  back
    ? backLink(`${root}${page}?${new URLSearchParams(back)}`, `${name}, as you found them`)
    : backLink(root + page, name)

export function pageLinks(
  { here, values }: PageVisit,
  label: string,
  { newer, older }: CursorPage<unknown>,
): Html | false {
  if (!newer && !older) return false
  const to = (cursor: Range | undefined) => cursor && pageAddress(here, { ...values, ...cursor })
  return pagination({ label, newer: to(newer), older: to(older) })
}

type Filter<Value extends string = string> = {
  /** Without a label the form shows no field, and sends the value along in a hidden one. */
  label?: string
  /** The allowed values: any other is read as ''. Without this list every text is allowed. */
  values?: readonly Value[]
  /** The options beside `all`. A page can pass options of its own to `filterForm`. */
  options?: readonly Option[] | undefined
  all?: string | undefined
  type?: 'search'
  hint?: string
  width?: 10
  /** Whether a search by this filter is slow: the live page then polls every ten seconds only. */
  isSlow?: true
  /** Returns the error for the field. `now` is the account's time. */
  problem?: (value: string, now: number) => string | undefined
}

export type Filters = Readonly<Record<string, Filter>>

export type Values<F extends Filters> = {
  [Name in keyof F]: F[Name] extends Filter<infer Value> ? Value | '' : never
}

export type Errors = Readonly<Record<string, string>>

export const linkOnly: Filter = {}

export const oneOf = <Value extends string>(
  label: string,
  values: readonly Value[],
  { nameOf = value => value, all }: { nameOf?: (value: Value) => string; all?: string } = {},
): Filter<Value> => ({
  label,
  values,
  options: values.map(value => [value, nameOf(value)] as const),
  all,
})

/** Cuts a long value one character beyond the limit, so that `problemsIn` still finds it too long. */
export function valuesIn<F extends Filters>(visit: AccountVisit, filters: F): Values<F> {
  const texts = textsIn(visit, Object.keys(filters))
  const read = Object.entries(filters).map(([name, { values }]) => {
    const value = texts[name]?.trim().slice(0, FILTER_CHARACTERS + 1) ?? ''
    return [name, values?.includes(value) === false ? '' : value]
  })
  return Object.fromEntries(read) as Values<F> // each name was read, and each value is allowed by its filter
}

export const problemsIn = (filters: Filters, values: Values<Filters>, now: number): Errors =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, { problem }]) => {
      const value = values[name] ?? ''
      const error =
        value.length > FILTER_CHARACTERS
          ? `Enter at most ${inDigits(FILTER_CHARACTERS)} characters`
          : value && problem?.(value, now)
      return error ? [[name, error]] : []
    }),
  )

export const isFiltered = ({ values }: PageVisit): boolean =>
  Object.values(values).some(value => value !== '')

export const isFirst = ({ cursor }: PageVisit): boolean =>
  cursor.before === undefined && cursor.after === undefined

export const isId = (text: string): boolean => /^[0-9a-v]{26}$/i.test(text)

export const filterForm = (
  visit: PageVisit,
  options: Readonly<Record<string, readonly Option[]>> = {},
  { id, text: label }: { id: string; text: string } = { id: 'filter', text: 'Filter' },
): Html => html`<form class="farthing-filter" method="get" action="${visit.here}">
${Object.entries(visit.filters).map(
  ([name, filter]) =>
    html`${field({ options: options[name], ...filter, name }, visit.values[name] ?? '', visit.errors[name])}\n`,
)}${button({ id, text: label, secondary: true })}
${isFiltered(visit) && ui.link(visit.here, 'Clear filters')}
</form>`

function field(
  { name, label, options, all = 'All', type, hint, width }: Filter & { name: string },
  value: string,
  error: string | undefined,
): Html | false {
  if (label === undefined) return value !== '' && ui.hidden(name, value)
  if (options) return select({ name, label, value, options: [['', all], ...options] })
  return input({ name, label, value, error, type, hint, width })
}

export const dayFilter = (label: string): Filter => ({
  label,
  problem: (value, now) => (spanIn(value, now) ? undefined : TIME_RULE),
  hint: '14/9/2026 or today',
  width: 10,
})

const TIME_RULE =
  'Enter a day such as 14/09/2026, 2026-09-14, today or yesterday, a time such as 08:20, or both'

/** Characters: enough for a day, a time with milliseconds, and some spaces. */
const LONGEST = 40
const TEXT = /^(?:(\d{4}-\d\d-\d\d)(?:[T\s]+|$))?(?:(\d\d?:\d\d)(?::(\d\d)(?:\.(\d{3}))?)?\s*)?Z?$/i

const WORDS = ['today', 'yesterday']

/** Rewrites days as people write them: `14/9/2026`, `14 09 2026` and `today` become `2026-09-14`. */
const withPlainDay = (text: string, now: number): string =>
  text
    .replace(/^(today|yesterday)\b/i, word =>
      iso(now - WORDS.indexOf(word.toLowerCase()) * DAY).slice(0, 10),
    )
    .replace(
      /^(\d\d?)[/. -](\d\d?)[/. -](\d{4})\b/,
      (_, day: string, month: string, year: string) =>
        `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    )

/**
 * The span that a text means, such as a day or a minute, in milliseconds. `end` is excluded. The text is a day
 * (`2026-09-14`, `14/09/2026`, `today`), a time (`08:20`, of the day of `now`), a day with a time, or a time as the API
 * prints it. undefined for any other text.
 */
export function spanIn(text: string, now: number) {
  if (text.length > LONGEST) return undefined
  const [, day, minute, second, ms] = TEXT.exec(withPlainDay(text.trim(), now)) ?? []
  if (day === undefined && minute === undefined) return undefined
  const date = day ?? new Date(now).toISOString().slice(0, 10)
  const time = `${(minute ?? '0:00').padStart(5, '0')}:${second ?? '00'}.${ms ?? '000'}`
  const begin = Date.parse(`${date}T${time}Z`)
  // Date.parse takes 31 February for a day of March.
  if (Number.isNaN(begin) || !new Date(begin).toISOString().startsWith(date)) return undefined
  const length = ms ? 1 : second ? SECOND : minute ? MINUTE : DAY
  return { begin, end: begin + length }
}

export type PageVisit<F extends Filters = Filters> = AccountVisit & {
  /** The identifier in the path; '' where the page has none. */
  id: string
  /** The relative address of the page, without its query. */
  here: string
  filters: F
  values: Values<F>
  errors: Errors
  /** Only one of `before` and `after` is used: `after` if the address has both. */
  cursor: Range
  /** The query of the list that led to the page. */
  back: string
  /** The form that was sent; empty for a request without one. */
  form: URLSearchParams
  actions: readonly string[]
}
