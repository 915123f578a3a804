/** The parts with which an endpoint describes itself: OpenAPI 3.1 with whole schemas (src/app/docs/openapi.ts). */
import { meaningOf } from '../../core/codes.ts'
import { type ApiError, badSearch, noSuchPage, PlainError } from '../../core/errors.ts'
import { JSON_TYPE } from './body.ts'
import { errorBodyOf } from './errors.ts'
import { queryParameters } from './query.ts'
import { plainError } from './schema.ts'
import type { SearchKind } from './search.ts'

export type Schema = { readonly [keyword: string]: unknown }
type Examples = Record<string, { summary: string; value: unknown }>
type Content = Record<string, { schema: Schema; examples?: Examples }>
type Header = { description: string; required?: boolean; schema: Schema }
export type Parameter = Header & { name: string; in: 'path' | 'query' | 'header' }
export type Response =
  | { description: string; headers?: Record<string, Header>; content?: Content }
  | { $ref: string }
export type RequestBody = { description?: string; required: boolean; content: Content }

/** The part of an endpoint that only the document needs. Texts are in CommonMark. */
export type Docs = {
  description?: string
  parameters?: Parameter[]
  requestBody?: RequestBody
  /** By status. */
  responses: Record<string, Response>
  /** The errors that the endpoint itself may throw. */
  errors?: ApiError[]
}

/** A header that a response always has. */
export const header = (description: string, limits: Schema = {}): Header => ({
  description,
  required: true,
  schema: { type: 'string', ...limits },
})

export const json = (
  description: string,
  schema: Schema,
  headers?: Record<string, Header>,
): Response => ({
  description,
  ...(headers && { headers }),
  content: { [JSON_TYPE]: { schema } },
})

/** The request body of an endpoint, in each of these media types. */
export const requestBody = (schema: Schema, types = [JSON_TYPE]): RequestBody => ({
  required: true,
  content: Object.fromEntries(types.map(type => [type, { schema }])),
})

/** The common parts of searches: parameters, a page, and errors. `wrong`: the invalid parameters of the example. */
export function searchDocs({ filters, codes }: SearchKind, page: Schema, wrong: string[]) {
  const rules = wrong.map(name => `${name} must be ${filters[name]?.rule}`)
  return {
    parameters: queryParameters(filters),
    responses: { 200: json('One page of results, newest first', page) },
    errors: [noSuchPage(codes.pastEnd, 7, 3), badSearch(codes.invalid, rules)],
  }
}

export const noContent = (description: string): Response => ({ description })

export const html = (description: string): Response => ({
  description,
  content: { 'text/html': { schema: { type: 'string' } } },
})

export const redirect = (description: string, to: string): Response => ({
  description,
  headers: { Location: header(to) },
})

export const pathParameter = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})

export const errorHeaders: {
  [status in 401 | 405 | 503]: Record<string, Header>
} & Record<number, Record<string, Header>> = {
  401: { 'WWW-Authenticate': header('The scheme to use', { const: 'Bearer' }) },
  405: { Allow: header('The methods that the path has', { examples: ['GET, HEAD, POST'] }) },
  503: { 'Retry-After': header('Seconds to wait', { pattern: '^[0-9]+$', examples: ['1'] }) },
}

/** The response for errors of one status, with this body. It has an example of each error, and only their codes. */
export function errorResponse(errors: ApiError[], body: Schema): Response {
  const isPlain = (error: ApiError): boolean => error instanceof PlainError
  const codes = [...new Set(errors.filter(error => !isPlain(error)).map(({ code }) => code))]
  const headers = errorHeaders[errors[0]?.status ?? 0]
  const lines = codes.map(code => `- \`${code}\`: ${meaningOf(code)}`)
  const plain = errors.find(isPlain)
  if (plain) lines.push(`- ${plain.status}: ${plain.message}`)
  const coded = { allOf: [body, { properties: { code: { enum: codes } } }] }
  return {
    description: lines.join('\n'),
    ...(headers && { headers }),
    content: {
      [JSON_TYPE]: {
        schema: plain ? { anyOf: [...(codes.length > 0 ? [coded] : []), plainError] } : coded,
        // Named by the code, and the field or header at fault: `P0102-amount`.
        examples: Object.fromEntries(
          errors.map(error => [
            [error.code, ...Object.values(error.at)].join('-'),
            {
              summary: isPlain(error) ? error.message : meaningOf(error.code),
              value: errorBodyOf(error),
            },
          ]),
        ),
      },
    },
  }
}
