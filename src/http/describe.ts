/**
 * The words in which each slice's describe.ts says what its endpoints do. What they make are the objects
 * of an OpenAPI 3.1 document; schemas stand in them as they are and get their places in http/openapi.ts.
 * Nothing here changes what an endpoint does, and nothing is loaded before somebody asks for the document.
 */
import {
  type ApiError,
  badBearerKey,
  bodyTooLarge,
  meanings,
  methodNotAllowed,
  noSuchEndpoint,
  noSuchPage,
  overloaded,
  tooManyRequests,
  unexpectedFault,
} from '../errors.ts'
import { exampleAddresses } from './addresses.ts'
import { JSON_TYPE } from './body.ts'
import { errorBodyOf } from './errors.ts'
import { errorBody, pageSchema } from './schema.ts'
import { pageOf, type SearchKind, wrongFilters } from './search.ts'

export type Schema = { readonly [keyword: string]: unknown }
export type Example = { summary: string; value: unknown }
export type Examples = Record<string, Example>
export type Content = Record<string, { schema: Schema; examples?: Examples }>
export type Header = { description: string; required?: boolean; schema: Schema }
export type Parameter = Header & { name: string; in: 'path' | 'query' | 'header' }
export type Answer =
  | { description: string; headers?: Record<string, Header>; content?: Content }
  | { $ref: string }

/** What /openapi.json says of one endpoint. Texts are in the little CommonMark that src/about/text.ts reads. */
export type Operation = {
  /** Its chapter of the documentation, which src/about/document.ts gives it. */
  tags?: [string]
  summary: string
  description?: string
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { description?: string; required: boolean; content: Content }
  responses: Record<string, Answer>
}

/** By operationId. */
export type Operations = Record<string, Operation>

/** A header that is always there. */
export const header = (description: string, limits: Schema = {}): Header => ({
  description,
  required: true,
  schema: { type: 'string', ...limits },
})

/** The same body in each of these media types; examples by what they show, which gives them their names. */
function contentOf(types: string[], schema: Schema, values: Record<string, unknown>): Content {
  const named = Object.entries(values).map(([summary, value]): [string, Example] => {
    const name = summary.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    return [name, { summary, value }]
  })
  const examples = Object.fromEntries(named)
  return Object.fromEntries(types.map(type => [type, { schema, examples }]))
}

/** A successful answer with a JSON body; one example at least, by what it shows. */
export const json = (
  description: string,
  schema: Schema,
  examples: Record<string, unknown>,
  headers?: Record<string, Header>,
): Answer => ({
  description,
  ...(headers && { headers }),
  content: contentOf([JSON_TYPE], schema, examples),
})

/**
 * What all searches have in common: their parameters, from the table that they are checked by, an answer with
 * one `result` of `total`, and their errors, the last for the `wrong` parameters.
 */
export function searchParts(
  kind: SearchKind,
  item: Schema & { readonly title: string },
  result: unknown,
  wrong: string[],
  total = 41,
) {
  const search = { kind, given: {}, page: 1, displaySize: 1 }
  const example = pageOf(search, { total, results: [result] }, exampleAddresses, shown => shown)
  const page = json('One page of results, newest first', pageSchema(item), {
    [`The first of ${total} pages, with one result each`]: example,
  })
  return {
    parameters: queryParameters(kind),
    answers: { 200: page },
    errors: [noSuchPage(kind.codes.pastEnd, 7, 3), wrongFilters(kind, wrong)],
  }
}

export const noContent = (description: string): Answer => ({ description })

/** A page for people. */
export const html = (description: string): Answer => ({
  description,
  content: { 'text/html': { schema: { type: 'string' } } },
})

export const redirect = (description: string, to: string): Answer => ({
  description,
  headers: { Location: header(to) },
})

/** The body of a request, in any of these media types; one example at least, by what it shows. */
export const describeBody = (
  schema: Schema,
  examples: Record<string, unknown>,
  types = [JSON_TYPE],
): NonNullable<Operation['requestBody']> => ({
  required: true,
  content: contentOf(types, schema, examples),
})

export const pathParameter = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
})

const queryParameters = ({ filters }: SearchKind): Parameter[] =>
  Object.entries(filters).map(([name, { schema, description }]) => ({
    name,
    in: 'query',
    description,
    schema: { ...schema },
  }))

type Parts = Omit<Operation, 'responses' | 'security'> & {
  answers: Record<number, Answer>
  /** What the endpoint itself may throw. */
  errors?: ApiError[]
}

/** The errors that an endpoint has in common with others, by their names in the document. */
const common = {
  Unauthorised: badBearerKey,
  NoSuchEndpoint: noSuchEndpoint,
  MethodNotAllowed: () => methodNotAllowed('PUT', 'GET, HEAD'),
  BodyTooLarge: bodyTooLarge,
  TooManyRequests: tooManyRequests,
  UnexpectedFault: unexpectedFault,
  Overloaded: overloaded,
} satisfies Record<string, () => ApiError>

export const commonHeaders: {
  [status in 401 | 405 | 503]: Record<string, Header>
} & Record<number, Record<string, Header>> = {
  401: { 'WWW-Authenticate': header('The scheme to use', { const: 'Bearer' }) },
  405: { Allow: header('The methods that the path has', { examples: ['GET, HEAD, POST'] }) },
  503: { 'Retry-After': header('Seconds to wait', { pattern: '^[0-9]+$', examples: ['1'] }) },
}

/** Every answer in `common`, to be printed once. */
export const commonAnswers = (): Record<string, Answer> =>
  Object.fromEntries(Object.entries(common).map(([name, make]) => [name, errorAnswer([make()])]))

/** An endpoint that needs an API key: every one under /v1 but /v1/auth. */
export const behindKey = (parts: Parts): Operation => ({
  ...operation(parts, [...UNDER_V1, 'Unauthorised']),
  security: [{ bearer: [] }],
})

/** The endpoint under /v1 that needs no key. */
export const withoutKey = (parts: Parts): Operation => operation(parts, UNDER_V1)

/** An endpoint outside /v1. */
export const open = (parts: Parts): Operation =>
  operation(parts, ['MethodNotAllowed', 'UnexpectedFault', 'Overloaded'])

/** One that is answered even then. */
export const alwaysOpen = (parts: Parts): Operation =>
  operation(parts, ['MethodNotAllowed', 'UnexpectedFault'])

const UNDER_V1: (keyof typeof common)[] = [
  'NoSuchEndpoint',
  'MethodNotAllowed',
  'BodyTooLarge',
  'TooManyRequests',
  'UnexpectedFault',
  'Overloaded',
]

function operation(parts: Parts, shared: (keyof typeof common)[]): Operation {
  const { answers, errors = [], ...rest } = parts
  const own = Map.groupBy(errors, error => error.status)
  const responses: Record<string, Answer> = { ...answers }
  for (const name of shared) {
    const error = common[name]()
    if (own.has(error.status)) own.get(error.status)?.push(error)
    else responses[error.status] = { $ref: `#/components/responses/${name}` }
  }
  for (const [status, group] of own) responses[status] = errorAnswer(group)
  return { ...rest, security: [], responses }
}

/** How errors of one status are answered: an example of each, and no other code than theirs. */
function errorAnswer(errors: ApiError[]): Answer {
  const codes = [...new Set(errors.map(({ code }) => code))]
  const headers = commonHeaders[errors[0]?.status ?? 0]
  return {
    description: codes.map(code => `- \`${code}\`: ${meanings[code]}`).join('\n'),
    ...(headers && { headers }),
    content: {
      [JSON_TYPE]: {
        schema: { allOf: [errorBody, { properties: { code: { enum: codes } } }] },
        examples: Object.fromEntries(errors.map(error => [nameOf(error), exampleOf(error)])),
      },
    },
  }
}

/** The code and, where several have it, what is at fault: `P0102-amount`. */
const nameOf = ({ code, at }: ApiError): string => [code, ...Object.values(at)].join('-')

const exampleOf = (error: ApiError) => ({
  summary: meanings[error.code],
  value: errorBodyOf(error),
})
