/** The fields of bodies and the parameters of queries: how each is read, and described in the document. */
import type { Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import { badField, missingField, noSuchField } from './errors.ts'

/** `parse` returns undefined for a value that is not valid, and `rule` says after "must be" what is. */
type Field = { parse(given: unknown): unknown; rule: string; schema: object }
export type Fields = Readonly<Record<string, Field>>

type ValueOf<Each> = Each extends { parse(given: never): infer Value }
  ? Exclude<Value, undefined>
  : never
export type Values<Optional, Required = unknown> = {
  [Name in keyof Required]: ValueOf<Required[Name]>
} & { [Name in keyof Optional]?: ValueOf<Optional[Name]> }

type Schemas<Known extends Fields> = { [Name in keyof Known]: Known[Name]['schema'] }

export const schemasOf = <Known extends Fields>(fields: Known) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as Schemas<Known> // of each field its schema

/** The schema of a body, with its fields: those that are required, and those that may be absent. */
export const body = <Required extends Fields, Optional extends Fields>(
  title: string,
  required: Required,
  optional: Optional,
) => ({
  ...object(title, schemasOf(required), schemasOf(optional)),
  fields: { required, optional },
})

/**
 * Throws a 422 for a name that is unknown, the first value that is not valid, or a required one that is missing.
 * `within`: the name of the field whose value has these, and a dot.
 */
export function readFields<Optional extends Fields, Required extends Fields>(
  given: Json,
  { required, optional }: { required?: Required; optional: Optional },
  within = '',
): Values<Optional, Required> {
  const fields: Fields = { ...required, ...optional }
  const names = Object.keys(fields)
  const unknown = Object.keys(given).find(name => !names.includes(name))
  if (unknown !== undefined) throw noSuchField(within + unknown, names)
  const values: Json = {}
  for (const [name, value] of Object.entries(given)) {
    values[name] = fields[name]?.parse(value)
    if (values[name] === undefined) throw badField(within + name, `must be ${fields[name]?.rule}`)
  }
  for (const [name, { rule }] of Object.entries(required ?? {}))
    if (given[name] === undefined) throw missingField(within + name, `is required: ${rule}`)
  return values as Values<Optional, Required> // each was parsed by its own field
}

/** True for a whole number in this range. */
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export const integer = (
  least: number,
  most: number,
  more: { description?: string; default?: number } = {},
) => ({
  schema: { type: 'integer', minimum: least, maximum: most, ...more },
  rule: `a whole number from ${least} to ${most}`,
  parse: (given: unknown) => (isWhole(given, least, most) ? given : undefined),
})

/** Text without half of a surrogate pair that matches the pattern, which `rule` describes. */
export const textLike = <
  const Schema extends { type: 'string'; pattern?: string; description?: string },
>(
  schema: Schema,
  rule = 'text',
  pattern = new RegExp(schema.pattern ?? ''),
) => ({
  schema,
  rule,
  parse: (given: unknown) =>
    typeof given === 'string' && given.isWellFormed() && pattern.test(given) ? given : undefined,
})

export const boolean = (more: { description?: string; default?: boolean } = {}) => ({
  schema: { type: 'boolean', ...more },
  rule: 'true or false',
  parse: (given: unknown) => (typeof given === 'boolean' ? given : undefined),
})

export const only = <const Value extends boolean>(
  value: Value,
  more: { description?: string } = {},
) => ({
  schema: { const: value, ...more },
  rule: String(value),
  parse: (given: unknown): Value | undefined => (given === value ? value : undefined),
})

export const choice = <Choice extends string>(
  choices: readonly Choice[],
  more: { description?: string; default?: Choice } = {},
) => ({
  schema: { type: 'string', enum: choices, ...more },
  rule: `one of ${choices.join(', ')}`,
  parse: (given: unknown) => choices.find(each => each === given),
})
