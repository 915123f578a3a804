/** The filters of a list: parameters of its address, each with a field in the form above the list. */
import { button } from '../../../platform/web/components.ts'
import { input, type Option, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { type AccountVisit, textsIn } from './page.ts'
import { hidden } from './parts.ts'

export type Filter<Value extends string = string> = {
  /** Without a label it has no field, and the form carries it along. */
  label?: string
  /** Of any other value the list knows nothing. Without them every text is a value. */
  values?: readonly Value[]
  /** The choices beside the one of all. A page can give others to its form. */
  options?: readonly Option[]
  /** The choice of all, if it is not called All. */
  all?: string
  type?: 'search'
  width?: 10
  /** To look for it takes so long that the page is looked at every ten seconds only. */
  isSlow?: true
  /** The error at the field. `now` is the account's time. */
  problem?: (value: string, now: number) => string | undefined
}

export type Filters = Readonly<Record<string, Filter>>

/** The values by name; '' where there is none. */
export type Values<F extends Filters> = {
  [Name in keyof F]: F[Name] extends Filter<infer Value> ? Value | '' : never
}

export type Errors = Readonly<Record<string, string>>

export const text = (label: string, filter: Omit<Filter, 'label'> = {}): Filter => ({
  label,
  ...filter,
})

/** A filter that only links set. */
export const unseen: Filter = {}

/** A choice of some values, which the page may call otherwise. */
export const oneOf = <Value extends string>(
  label: string,
  values: readonly Value[],
  { nameOf = value => value, all }: { nameOf?: (value: Value) => string; all?: string } = {},
): Filter<Value> => ({
  label,
  values,
  options: values.map(value => ({ value, text: nameOf(value) })),
  ...(all !== undefined && { all }),
})

export function filtersIn<F extends Filters>(visit: AccountVisit, filters: F): Values<F> {
  const texts = textsIn(visit, Object.keys(filters))
  const read = Object.entries(filters).map(([name, { values }]) => {
    const value = texts[name]?.trim() ?? ''
    return [name, values?.includes(value) === false ? '' : value]
  })
  return Object.fromEntries(read) as Values<F> // each name was read, and each value is one of its filter
}

export const problemsIn = (filters: Filters, values: Values<Filters>, now: number): Errors =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, { problem }]) => {
      const value = values[name] ?? ''
      const error = value === '' ? undefined : problem?.(value, now)
      return error === undefined ? [] : [[name, error]]
    }),
  )

type Form = {
  here: string
  fields: Filters
  filters: Values<Filters>
  errors: Errors
}

/** `options` are choices that only the page knows. */
export const filterForm = (
  { here, fields, filters, errors }: Form,
  options: Readonly<Record<string, readonly Option[]>> = {},
  { id, text: label }: { id: string; text: string } = { id: 'filter', text: 'Filter' },
): Html => html`<form class="farthing-filter" method="get" action="${here}">
${Object.entries(fields).map(([name, filter]) => {
  const value = filters[name] ?? ''
  return html`${field({ name, value, error: errors[name] }, { ...filter, options: options[name] ?? filter.options })}\n`
})}${button({ id, text: label, secondary: true })}
</form>`

function field(
  { name, value, error }: { name: string; value: string; error: string | undefined },
  {
    label,
    options,
    all = 'All',
    type,
    width,
  }: Omit<Filter, 'options'> & {
    options: readonly Option[] | undefined
  },
): Html | false {
  if (label === undefined) return value !== '' && hidden(name, value)
  if (options)
    return select({ name, label, value, options: [{ value: '', text: all }, ...options] })
  return input({ name, label, value, error, ...(type && { type }), ...(width && { width }) })
}
