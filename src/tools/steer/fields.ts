/** The fields of bodies and the parameters of queries: how they are read, and described in the document. */
import { mapValues } from '../../core/map-values.ts'
import type { Reader } from '../../core/values.ts'
import type { Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import { badField, missingField, noSuchField } from './errors.ts'

export type Fields = Readonly<Record<string, Reader>>

type ValueOf<Each> = Each extends { read(given: never): infer Read }
  ? Exclude<Read, undefined>
  : never
export type Values<Optional, Required = unknown> = {
  [Name in keyof Required]: ValueOf<Required[Name]>
} & { [Name in keyof Optional]?: ValueOf<Optional[Name]> }

type Schemas<Known extends Fields> = { [Name in keyof Known]: Known[Name]['schema'] }

export const schemasOf = <Known extends Fields>(fields: Known) =>
  mapValues(fields, ({ schema }) => schema) as Schemas<Known> // of each field its schema

/** The schema of a body, with its fields: those that may be absent, and those that are required. */
export const body = <Optional extends Fields, Required extends Fields = Record<never, never>>(
  title: string,
  optional: Optional,
  required: Required = {} as Required, // absent only where Required has no fields
) => ({
  ...object(title, schemasOf(required), schemasOf(optional)),
  fields: { required, optional },
})

/** Throws a 422 for an unknown name, a wrong value or a missing field. `within`: the field around these, and a dot. */
export function readFields<Optional extends Fields, Required extends Fields>(
  input: Json,
  { required, optional }: { required?: Required; optional: Optional },
  within = '',
): Values<Optional, Required> {
  const fields: Fields = { ...required, ...optional }
  const names = Object.keys(fields)
  const unknown = Object.keys(input).find(name => !names.includes(name))
  if (unknown !== undefined) throw noSuchField(within + unknown, names)
  const values: Json = {}
  for (const [name, value] of Object.entries(input)) {
    values[name] = fields[name]?.read(value)
    if (values[name] === undefined) throw badField(within + name, `must be ${fields[name]?.rule}`)
  }
  for (const [name, { rule }] of Object.entries(required ?? {}))
    if (input[name] === undefined) throw missingField(within + name, `is required: ${rule}`)
  return values as Values<Optional, Required> // each was read by its own field
}
