/** Forms that are checked by the API's own rules. The API reports the first error only, a form all, in its own words. */
import { ApiError } from '../../../core/errors.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { input, type Option, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Errors, PageVisit } from './list.ts'
import type { Next, Page } from './page.ts'

export type Typed = { form: URLSearchParams; errors: Errors }

/** A field of a form: a text unless it has options. */
type FormField = {
  label: string
  hint?: string | undefined
  options?: readonly Option[]
  inputmode?: 'decimal'
  width?: 10
  /** Its name in errors, if that is not its label. */
  noun?: string
  /** The whole sentence of its errors, in place of the API's. */
  sentence?: string
  /** The part of the body that replaces a wrong value, so that the next error is found. */
  right: Json
}

/** The fields by their names in the API, in the order of the page. */
export type FormFields = Readonly<Record<string, FormField>>

type Rules<Value> = {
  /** Errors without a field are shown at the first. */
  fields: FormFields
  body: Json
  read: (body: Json) => Value | Promise<Value>
  aliases?: Readonly<Record<string, string>>
}

export async function submit<Value, Made extends Next | Page>(
  { form }: PageVisit,
  { fields, body, read, aliases = {} }: Rules<Value>,
  make: (value: Value) => Promise<Made>,
): Promise<Made | Typed> {
  const names = Object.keys(fields)
  const errors: Record<string, string> = {}
  const refused = new Set<string>()
  let tried: Json | undefined = body
  while (tried) {
    try {
      const value = await read(tried)
      if (refused.size === 0) return await make(value)
      break
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      const { field = '' } = error.at
      const place = names.find(name => name === (aliases[field] ?? field))
      const { sentence, right } = fields[place ?? ''] ?? {}
      // `return_url must be ...` as `Return URL must be ...`.
      const nounOf = (name: string) => fields[name]?.noun ?? fields[name]?.label ?? name
      const text = sentence ?? error.message.replace(/^\S*/, nounOf)
      errors[place ?? names[0] ?? ''] ??= text.replace(/^./, letter => letter.toUpperCase())
      tried = right && !refused.has(field) ? { ...tried, ...right } : undefined
      refused.add(field)
    }
  }
  const inOrder = Object.entries(errors).sort(
    ([one], [other]) => names.indexOf(one) - names.indexOf(other),
  )
  return { form, errors: Object.fromEntries(inOrder) }
}

export const typedIn = (typed: Typed | undefined, name: string, value = '') => ({
  name,
  value: typed?.form.get(name) ?? value,
  error: typed?.errors[name],
})

/** The fields with the typed values, or with their first ones. */
export const fieldParts = (
  typed: Typed | undefined,
  fields: FormFields,
  first: Readonly<Record<string, string>> = {},
): Html[] =>
  Object.entries(fields).map(([name, { options, ...field }]) => {
    const shown = { ...typedIn(typed, name, first[name]), ...field }
    return html`${options ? select({ ...shown, options }) : input(shown)}\n`
  })

export const POUNDS = { inputmode: 'decimal', width: 10 } as const

/** The value of a field; undefined if it is blank. */
export const textIn = (form: URLSearchParams, name: string): string | undefined =>
  form.get(name)?.trim() || undefined

/** A refusal means that the payment's state no longer allowed the action. */
export const unlessRefused = <Result, Refused>(
  run: Promise<Result>,
  refused: Refused,
): Promise<Result | Refused> =>
  run.catch(error => {
    if (error instanceof ApiError && error.status < 500) return refused
    throw error
  })
