/** The one way in which HTML is made here: a template tag that escapes whatever is put into it. */
import { html as template } from 'hono/html'

/** Finished HTML. Only the tag makes it, so no string is taken for HTML by mistake. */
export type Html = Awaited<ReturnType<typeof template>>

/** What may stand in a template. A string is text and is escaped; `undefined` and `false` leave nothing. */
export type Part = Html | string | number | false | undefined | readonly Part[]

/** Escapes text and attribute values alike; attribute values stand in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  // The library's tag answers with a promise only when a part is one, and no Part is.
  return template(strings, ...parts) as Html
}
