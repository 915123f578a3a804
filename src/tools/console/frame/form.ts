/** Forms that the API's own rules check. The API reports only the first error; a form shows all, in the API's words. */
import { ApiError } from '../../../core/errors.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { input, type Option, select } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Errors, PageVisit } from './list.ts'
import type { Next, Page } from './page.ts'

export type Typed = { form: URLSearchParams; errors: Errors }

/** A field of a form: a text field, or with options a select. */
type FormField = {
  label: string
  hint?: string | undefined
  options?: readonly Option[]
  inputmode?: 'decimal'
  width?: 10
  /** Its name in errors, if that is not its label. */
  noun?: string
  /** The sentence of all its errors, in place of the API's. */
  sentence?: string
  /** Replaces a wrong value in the body, so that the rules find the next error. */
  right: Json
}

/** The fields by their names in the API, in the order of the page. */
export type FormFields = Readonly<Record<string, FormField>>

type Rules<Value> = {
  /** An error that concerns none of these fields is shown at the first one. */
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
      // Turns `return_url must be ...` into `Return URL must be ...`.
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

/** The fields with the values that were typed, or else with the values of `first`. */
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

/** Resolves to undefined if the action ends with an error below 500: the state no longer allowed the action. */
export const unlessRefused = <Result>(run: Promise<Result>): Promise<Result | undefined> =>
  run.catch(error => {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  })
