/** All errors of a form at once, in its words. The rules are those of the API, which tells the first error only. */

import { ApiError } from '../../../core/errors.ts'
import type { Json } from '../../../platform/http/fields.ts'

type Form = {
  /** What the API gets. */
  body: Json
  /** Reads it as the API does. */
  read: (body: Json) => unknown
  /** What the form calls the fields of the API, in its order. */
  labels: Readonly<Record<string, string>>
  /** Whole sentences for errors of some of them. */
  sentences?: Readonly<Record<string, string>>
  /** What of the body has no error in place of one in this field, so that the next error is found. */
  mended: (field: string) => Json | undefined
  /** The field of the form at which an error about this one of the API is shown. */
  fieldOf: (field: string | undefined) => string
}

/** By the fields of the form. Empty if the API takes the body. */
export async function errorsIn({ body, read, ...form }: Form): Promise<Record<string, string>> {
  const errors: Record<string, string> = {}
  const seen = new Set<string>()
  const places = Object.keys(form.labels)
  const inOrder = (all: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(all).sort(([one], [other]) => places.indexOf(one) - places.indexOf(other)),
    )
  for (let mended = body; ; ) {
    try {
      await read(mended)
      return inOrder(errors)
    } catch (error) {
      const { field, text } = toldIn(error, form)
      errors[form.fieldOf(field)] ??= text
      const right = field === undefined || seen.has(field) ? undefined : form.mended(field)
      if (field === undefined || !right) return inOrder(errors)
      seen.add(field)
      mended = { ...mended, ...right }
    }
  }
}

/** `return_url must be ...` as `Return URL must be ...`. Throws what is no refusal. */
export function toldIn(
  error: unknown,
  { labels, sentences = {} }: Pick<Form, 'labels' | 'sentences'>,
): { field: string | undefined; text: string } {
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  const { field } = error.at
  const [name = ''] = error.message.split(' ', 1)
  const label = Object.hasOwn(labels, name) ? labels[name] : name
  return { field, text: sentences[field ?? ''] ?? `${label}${error.message.slice(name.length)}` }
}
