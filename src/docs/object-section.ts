/** Schemas on the documentation page: tables of fields, and what may stand in each, in words. */

import type { Schema } from '../http/describe.ts'
import { type Html, html, type Part } from '../web/html.ts'
import { breakable, code, fieldName, inline, table } from './text.ts'

/** The name of the shared schema that a reference leads to. */
export const refName = (schema: Schema): string | undefined =>
  typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined

export function objectSection(name: string, schema: Schema): Html {
  return html`<section class="docs-object">
<h3 class="govuk-heading-s" id="${name}">${name}</h3>
${fieldTable(name, schema, 'always')}
</section>
`
}

/** `needed` says of a field that it is among the required ones: "required" or, in answers, "always". */
export function fieldTable(
  object: string,
  { properties = {}, required = [] }: Schema,
  needed: string,
): Html {
  const fields = Object.entries(properties as Record<string, Schema>) // JSON Schema says so
  if (fields.length === 0) return html`<p class="govuk-body">It has no fields.</p>\n`
  const always = required as readonly string[]
  return table(
    'fields',
    `${object}: fields`,
    ['Field', 'Description'],
    fields.map(([name, schema]) => [
      field(name, always.includes(name) && needed, schema),
      html`${schema.deprecated === true && 'Deprecated. '}${inline(String(schema.description ?? ''))}`,
    ]),
  )
}

/** A name with its type and limits below it. */
export function field(name: string, note: string | false, schema: Schema): Html {
  const limits = limitsOf(schema)
  return html`${fieldName(name)}
<span class="docs-limits">${note && `${note}, `}${typeOf(schema)}${limits.map(limit => html`<br>${limit}`)}</span>`
}

/** The type in words: "string", "array of Refund", "MessageBody or null". */
export function typeOf(schema: Schema): Part {
  const name = refName(schema)
  if (name !== undefined) return html`<a class="govuk-link" href="#${name}">${breakable(name)}</a>`
  if (Array.isArray(schema.anyOf)) return joined(schema.anyOf.map(typeOf))
  if (schema.type === 'array') return html`array of ${typeOf((schema.items ?? {}) as Schema)}`
  if (Array.isArray(schema.type)) {
    const [first, ...rest] = schema.type
    return joined([typeOf({ ...schema, type: first }), ...rest])
  }
  if (typeof schema.type === 'string') return schema.type
  return Array.isArray(schema.enum) ? 'string or null' : 'anything'
}

const joined = (types: Part[]): Html =>
  html`${types.map((type, n) => html`${n > 0 && ' or '}${type}`)}`

/** What a value must keep to, one phrase for each rule. */
function limitsOf(schema: Schema): Part[] {
  const { minimum, maximum, minLength, maxLength, maxItems, maxProperties } = schema
  const number = (value: unknown) => Number(value).toLocaleString('en-GB')
  const limits: Part[] = []
  if (Array.isArray(schema.enum)) limits.push(html`one of ${values(schema.enum)}`)
  if (schema.const !== undefined) limits.push(html`only ${values([schema.const])}`)
  if (minimum !== undefined && maximum !== undefined)
    limits.push(`${number(minimum)} to ${number(maximum)}`)
  else if (minimum !== undefined) limits.push(`${number(minimum)} or more`)
  if (maxLength !== undefined) limits.push(length(Number(minLength ?? 0), Number(maxLength)))
  if (maxItems !== undefined) limits.push(`at most ${number(maxItems)}`)
  if (maxProperties !== undefined) limits.push(`at most ${number(maxProperties)} pairs`)
  if (typeof schema.format === 'string') limits.push(formats[schema.format] ?? schema.format)
  if (schema.default !== undefined) limits.push(html`if not given: ${values([schema.default])}`)
  return limits
}

const formats: Record<string, string> = {
  'date-time': 'date and time',
  date: 'YYYY-MM-DD',
  uri: 'URL',
  uuid: 'UUID',
}

const values = (list: readonly unknown[]): Html =>
  html`${list.map((value, n) => html`${n > 0 && ', '}${code(String(value))}`)}`

function length(least: number, most: number): string {
  if (least === most) return `exactly ${most} characters`
  return least > 0 ? `${least} to ${most} characters` : `at most ${most} characters`
}
