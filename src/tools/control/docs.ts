import {
  type Docs,
  type RequestBody,
  requestBody,
  type Schema,
} from '../../platform/http/openapi.ts'

/** Makes the `docs` of an endpoint, which load the examples when somebody reads the description. */
export const withExamples =
  (docs: (examples: typeof import('./examples.ts')) => Docs) => async (): Promise<Docs> =>
    docs(await import('./examples.ts'))

/** A body that may be missing. */
export const optionalBody = (schema: Schema, examples: Record<string, unknown>): RequestBody => ({
  ...requestBody(schema, examples),
  required: false,
})
