/** Query parameters: how each is read, and described in a document. */
import { HOUR, MINUTE, SECOND } from '../../core/time.ts'
import { isStorable } from './fields.ts'

/** `rule` says in error messages what `parse` takes; `schema` says it in a document, with an example. */
export type QueryParameter<Value = unknown> = {
  parse: (text: string) => Value | undefined
  /** After "must be". */
  rule: string
  schema: { examples: readonly (string | number | boolean)[]; [keyword: string]: unknown }
  description: string
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>

export const queryParameters = (parameters: QueryParameters) =>
  Object.entries(parameters).map(([name, { schema, description }]) => ({
    name,
    in: 'query' as const,
    description,
    schema,
  }))

export const whole = (
  least: number,
  most: number,
  description: string,
  more: { default?: number; examples: [number] } = { examples: [most] },
): QueryParameter<number> => ({
  parse: text => {
    const number = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  },
  rule: `a whole number from ${least} to ${most}`,
  schema: { type: 'integer', minimum: least, maximum: most, ...more },
  description,
})

/** Case-sensitive. */
export const oneOf = (values: readonly string[], description: string): QueryParameter<string> => ({
  parse: text => (values.includes(text) ? text : undefined),
  rule: `one of ${values.join(', ')}`,
  schema: { type: 'string', enum: values, examples: values.slice(0, 1) },
  description,
})

/** Any text of at most `length` UTF-16 code units. */
export const textUpTo = (
  length: number,
  example: string,
  description: string,
): QueryParameter<string> => ({
  parse: text => (text.length <= length && isStorable(text) ? text : undefined),
  rule: length < Infinity ? `text of at most ${length} characters` : 'text',
  schema: { type: 'string', ...(length < Infinity && { maxLength: length }), examples: [example] },
  description,
})

export const digits = (count: number, description: string): QueryParameter<string> => {
  const pattern = `^[0-9]{${count}}$`
  return {
    parse: text => (text.length === count && /^[0-9]*$/.test(text) ? text : undefined),
    rule: `${count} digits`,
    schema: { type: 'string', pattern, examples: ['424242'.slice(-count)] },
    description,
  }
}

/** Its value is in milliseconds. */
export const dateTime = (
  description: string,
  example: string,
  hint = '',
): QueryParameter<number> => ({
  parse: text => {
    const time = instant(text)
    return Number.isNaN(time) ? undefined : time
  },
  rule: `a time such as ${example}${hint}`,
  schema: { type: 'string', format: 'date-time', examples: [example] },
  description,
})

export const day = (description: string): QueryParameter<string> => ({
  parse: text => (isDate(text) ? text : undefined),
  rule: 'a day such as 2026-09-14',
  schema: { type: 'string', format: 'date', examples: ['2026-09-14'] },
  description: `${description}, as YYYY-MM-DD`,
})

/** As Java reads it, with at most nine digits of a fraction, an offset to seconds, and a zone in brackets. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{0,9}))?)?(?:Z|([+-])(\d\d)(?::([0-5]\d)(?::([0-5]\d))?)?)(?:\[[^\][]+\])?$/i
const LONGEST_OFFSET = 18 * HOUR

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** In milliseconds, rounded up, so that whole milliseconds compare with it as with the exact time; NaN for no time. */
export const instant = (text: string): number => instantOf(text, Math.ceil)

/** The first whole millisecond after it. */
export const afterInstant = (text: string): number => instantOf(text, Math.floor) + 1

function instantOf(text: string, round: (ms: number) => number): number {
  const [, day = '', clock, seconds = '00', fraction = '', sign, hours = 0, minutes = 0, more = 0] =
    DATE_TIME.exec(text) ?? []
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(more) * SECOND
  if (!isDate(day) || offset > LONGEST_OFFSET) return Number.NaN
  const milliseconds = round(Number(fraction.padEnd(9, '0')) / 1_000_000)
  const local = Date.parse(`${day}T${clock}:${seconds}Z`) + milliseconds
  return sign === '-' ? local + offset : local - offset
}
