import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, notAnObject, wrongMediaType } from '../../core/errors.ts'
import { JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import { requestBody } from '../../platform/http/openapi.ts'
import { type QueryParameters, queryParameters } from '../../platform/http/query.ts'
import { noSuchField } from './errors.ts'
import { readQuery, type Values } from './query.ts'

type BodySchema = { properties: object; required: readonly string[] }

type ControlEndpoint<Query extends QueryParameters> = Omit<
  Endpoint,
  'area' | 'accepts' | 'handler'
> & {
  query?: Query
  /** A body without a required field may be missing. */
  body?: BodySchema
  /** It may not, because one of its fields is required. */
  needsBody?: true
  handler: (
    request: FastifyRequest,
    read: { query: Values<Query>; body: Json },
    reply: FastifyReply,
  ) => Promise<unknown>
}

/**
 * An endpoint below /control. It takes the parameters of `query` and the fields of `body`; any other is an error, so
 * that `POST ...?scenario=declined` is not ignored. Its `docs` need not name what follows from these.
 */
export const defineEndpoint = <const Query extends QueryParameters = Record<never, never>>({
  query = {} as Query, // absent only where Query has no names
  body,
  needsBody,
  docs,
  handler,
  ...route
}: ControlEndpoint<Query>): Endpoint => ({
  ...route,
  area: 'control',
  ...(body && { accepts: 'json' }),
  docs: () => {
    const { errors = [], parameters = [], ...others } = docs()
    const all = [...parameters, ...queryParameters(query)]
    const required = needsBody ?? (body?.required.length ?? 0) > 0
    return {
      ...others,
      ...(all.length > 0 && { parameters: all }),
      ...(body && { requestBody: { ...requestBody(body), required } }),
      errors: body ? withBodyErrors(errors) : [...errors, unknownParameter()],
    }
  },
  handler: async (request, reply) => {
    const parameters = readQuery(request, query)
    return handler(request, { query: parameters, body: body ? readBody(request, body) : {} }, reply)
  },
})

const unknownParameter = () => noSuchField('refrence', ['reference', 'status', 'wait'])

const withBodyErrors = (errors: ApiError[]) => [
  notAnObject('C0197'),
  wrongMediaType(400, JSON_TYPE),
  ...errors,
  noSuchField('nam', ['name', 'at', 'frozen']),
]

/** A missing body counts as an empty one. */
function readBody(request: FastifyRequest, { properties }: BodySchema): Json {
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0
  const body = isEmpty ? {} : jsonBody(request, 'C0197')
  const names = Object.keys(properties)
  const unknown = Object.keys(body).find(name => !names.includes(name))
  if (unknown !== undefined) throw noSuchField(unknown, names)
  return body
}
