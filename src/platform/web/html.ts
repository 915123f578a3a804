/** Every page is made with this template tag, which escapes the values that are put into it. */
import { html as template } from 'hono/html'

/** Finished HTML. Only the tag makes it, so a string cannot be taken for HTML by mistake. */
export type Html = Awaited<ReturnType<typeof template>>

/** A value in a template. Strings are text and are escaped. `undefined` and `false` print nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[]

/** Escapes values in text and in attributes. Attribute values must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  // The library's tag returns a promise only if a part is one, and the type Part has no promise.
  return template(strings, ...parts) as Html
}
