/** Reads and describes query parameters. */
import { fromText, type Reader } from '../../core/values.ts'

/** A parameter that is read from text. Its schema has an example. */
export type QueryParameter<Read = unknown> = Reader<Read> & {
  schema: { examples: readonly unknown[]; [keyword: string]: unknown }
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

/** Without `examples` the example is the first value of the schema's enum, or its maximum. */
export const parameter = <Read>(
  value: Reader<Read> & { schema: { enum?: readonly unknown[]; maximum?: number } },
  description: string,
  more: { examples?: readonly unknown[]; default?: Read } = {},
): QueryParameter<Read> => ({
  rule: value.rule,
  read: input => fromText(value, String(input)),
  schema: { ...value.schema, examples: [value.schema.enum?.[0] ?? value.schema.maximum], ...more },
  description,
})
