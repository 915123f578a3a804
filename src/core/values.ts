/** Readers of values in JSON, or in the text of a query, a setting or an option. Their errors have the same words. */
import { ACCOUNT_NAME } from './account.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time.ts'

/** `read` returns undefined for an invalid value, and `rule` completes "must be". `schema` is the JSON schema. */
export type Reader<Read = unknown> = {
  read(input: unknown): Read | undefined
  rule: string
  schema: object
}

type About<Default> = { description?: string; default?: Default }

/** Reads text, in which a number and a boolean are written as in JSON. */
export const fromText = <Read>({ read }: Reader<Read>, text: string): Read | undefined =>
  read(text) ?? read(/^\d+$/.test(text) ? Number(text) : readBoolean(text))

const readBoolean = (text: string) => (/^(true|false)$/.test(text) ? text === 'true' : undefined)

/** undefined for text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for a whole number in this range. */
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export const integer = (least: number, most: number, about: About<number> = {}) => ({
  schema: { type: 'integer', minimum: least, maximum: most, ...about },
  rule: `a whole number from ${least} to ${most}`,
  read: (input: unknown) => (isWhole(input, least, most) ? input : undefined),
})

/** Text that matches the pattern, which `rule` describes, and has no half of a surrogate pair. */
export const text = <
  const Schema extends { type?: 'string'; pattern?: string; [key: string]: unknown },
>(
  schema: Schema,
  rule = 'text',
  pattern = new RegExp(schema.pattern ?? ''),
) => ({
  schema: { type: 'string', ...schema } as const,
  rule,
  read: (input: unknown) =>
    typeof input === 'string' && input.isWellFormed() && pattern.test(input) ? input : undefined,
})

export const accountName = text(
  { pattern: ACCOUNT_NAME.source },
  '1 to 64 letters, digits, spaces, dots, hyphens or underscores, and begin with a letter or a digit',
)

/** False for text that no database can keep: with U+0000 or half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Text of at most so many UTF-16 code units that a database can keep. */
export const textUpTo = (length: number): Reader<string> => ({
  schema: { type: 'string', ...(length < Infinity && { maxLength: length }) },
  rule: length < Infinity ? `text of at most ${length} characters` : 'text',
  read: input =>
    typeof input === 'string' && isStorable(input) && input.length <= length ? input : undefined,
})

export const digits = (count: number): Reader<string> =>
  text({ pattern: `^[0-9]{${count}}$` }, `${count} digits`)

export const boolean = (about: About<boolean> = {}) => ({
  schema: { type: 'boolean', ...about },
  rule: 'true or false',
  read: (input: unknown) => (typeof input === 'boolean' ? input : undefined),
})

export const only = <const Constant extends boolean | string | null>(
  constant: Constant,
  about: About<never> = {},
) => ({
  schema: { const: constant, ...about },
  rule: String(constant),
  read: (input: unknown): Constant | undefined => (input === constant ? constant : undefined),
})

/** Case-sensitive. */
export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  about: About<Choice> = {},
) => ({
  schema: { type: 'string', enum: choices, ...about },
  rule: `one of ${choices.join(', ')}`,
  read: (input: unknown) => choices.find(choice => choice === input),
})

export const either = <One, Other>(
  one: Reader<One>,
  other: Reader<Other>,
  about: About<One | Other> = {},
) => ({
  schema: { anyOf: [one.schema, other.schema], ...about } as const,
  rule: `${one.rule} or ${other.rule}`,
  read(input: unknown): One | Other | undefined {
    const read = one.read(input)
    return read === undefined ? other.read(input) : read
  },
})

const UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

/** A duration, read in milliseconds. It may begin with a plus, or with the space that a query makes of it. */
export const duration = (mostDays: number): Reader<number> => ({
  schema: { type: 'string', pattern: '^\\+?\\d{1,8}[smhd]$' },
  rule: `a number with s, m, h or d, such as 10m or 1d, of at most ${mostDays} days`,
  read(input) {
    const [, count = '', unit = ''] = /^[+ ]?(\d{1,8})([smhd])$/.exec(String(input)) ?? []
    const ms = Number(count) * (UNITS[unit] ?? Infinity)
    return ms <= mostDays * DAY ? ms : undefined
  },
})

/** A time, read in milliseconds since 1970. `example` and `hint` are part of the rule. */
export const time = (example: string, hint = ''): Reader<number> => ({
  schema: { type: 'string', format: 'date-time' },
  rule: `a time such as ${example}${hint}`,
  read(input) {
    const found = instant(String(input))
    return Number.isNaN(found) ? undefined : found
  },
})

export const day: Reader<string> = {
  schema: { type: 'string', format: 'date' },
  rule: 'a day such as 2026-09-14',
  read: input => (typeof input === 'string' && isDate(input) ? input : undefined),
}

/** A time as Java reads it, with at most nine digits of a fraction, an offset to seconds, and a zone in brackets. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{0,9}))?)?(?:Z|([+-])(\d\d)(?::([0-5]\d)(?::([0-5]\d))?)?)(?:\[[^\][]+\])?$/i
const LONGEST_OFFSET = 18 * HOUR

function isDate(input: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(input)) return false
  const found = Date.parse(`${input}T00:00:00Z`)
  return !Number.isNaN(found) && new Date(found).toISOString().startsWith(input)
}

/** In milliseconds; NaN if it is no time. Rounded up, so whole milliseconds compare with it as with the exact time. */
export const instant = (input: string): number => instantOf(input, Math.ceil)

/** The first whole millisecond after the time; NaN if it is no time. */
export const afterInstant = (input: string): number => instantOf(input, Math.floor) + 1

function instantOf(input: string, round: (ms: number) => number): number {
  const [
    ,
    date = '',
    clock,
    seconds = '00',
    fraction = '',
    sign,
    hours = 0,
    minutes = 0,
    more = 0,
  ] = DATE_TIME.exec(input) ?? []
  const offset = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(more) * SECOND
  if (!isDate(date) || offset > LONGEST_OFFSET) return Number.NaN
  const milliseconds = round(Number(fraction.padEnd(9, '0')) / 1_000_000)
  const local = Date.parse(`${date}T${clock}:${seconds}Z`) + milliseconds
  return sign === '-' ? local + offset : local - offset
}
