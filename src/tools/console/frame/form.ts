/** Forms that the API's own rules judge. The API tells the first error only, a form all of them, in its own words. */
import { ApiError } from '../../../core/errors.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { input } from '../../../platform/web/form-components.ts'
import type { Html } from '../../../platform/web/html.ts'
import type { Errors } from './list.ts'
import type { Next } from './page.ts'

/** What was typed, and the errors in it by field. */
export type Typed = { form: URLSearchParams; errors: Errors }

type Rules<Value> = {
  /** What the form calls the fields of the API, in its order. */
  labels: Readonly<Record<string, string>>
  /** Whole sentences for errors of some of them. */
  sentences?: Readonly<Record<string, string>>
  /** What the API gets. */
  body: Json
  /** Reads it as the API does. */
  read: (body: Json) => Value | Promise<Value>
  /** What of the body has no error in place of one in this field, so that the next error is found. */
  mended?: (field: string) => Json | undefined
  /** The field of the form for one of the API with another name. Errors without a field are shown at the first. */
  aliases?: Readonly<Record<string, string>>
}

/** Makes what the form asks for, or returns it with its errors. */
export async function submit<Value>(
  form: URLSearchParams,
  { labels, sentences = {}, body, read, mended, aliases = {} }: Rules<Value>,
  make: (value: Value) => Promise<Next>,
): Promise<Next | Typed> {
  const places = Object.keys(labels)
  const placeOf = (field = '') => places.find(name => name === (aliases[field] ?? field))
  const errors: Record<string, string> = {}
  const refused = new Set<string | undefined>()
  let tried: Json | undefined = body
  while (tried) {
    try {
      const value = await read(tried)
      if (refused.size === 0) return await make(value)
      break
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      const { field } = error.at
      // `return_url must be ...` as `Return URL must be ...`.
      const text =
        sentences[field ?? ''] ??
        error.message.replace(/^\S*/, name => new Map(Object.entries(labels)).get(name) ?? name)
      errors[placeOf(field) ?? places[0] ?? ''] ??= text
      const right = field === undefined || refused.has(field) ? undefined : mended?.(field)
      refused.add(field)
      tried = right && { ...tried, ...right }
    }
  }
  const inOrder = Object.entries(errors).sort(
    ([one], [other]) => places.indexOf(one) - places.indexOf(other),
  )
  return { form, errors: Object.fromEntries(inOrder) }
}

/** The field of an amount in pounds. */
export const amountInput = (typed: Typed | undefined, field: Parameters<typeof input>[0]): Html =>
  typedInput(typed, { ...field, inputmode: 'decimal', width: 10 })

/** A field with what was typed and its error. `value` is what it has at first. */
export const typedInput = (
  typed: Typed | undefined,
  { value = '', ...field }: Parameters<typeof input>[0],
): Html =>
  input({
    ...field,
    value: typed?.form.get(field.name) ?? value,
    error: typed?.errors[field.name],
  })
