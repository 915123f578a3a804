import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, notAnObject, wrongMediaType } from '../../core/errors.ts'
import { JSON_TYPE, jsonBody } from '../../platform/http/body.ts'
import { type Endpoint, pathParam } from '../../platform/http/endpoint.ts'
import type { Json } from '../../platform/http/fields.ts'
import {
  json,
  noContent,
  pathParameter,
  requestBody,
  type Schema,
} from '../../platform/http/openapi.ts'
import { type QueryParameters, queryParameters } from '../../platform/http/query.ts'
import { noSuchField } from './errors.ts'
import { readQuery, type Values } from './query.ts'

type BodySchema = { properties: object; required: readonly string[] }

type ControlEndpoint<Query extends QueryParameters> = Omit<
  Endpoint,
  'area' | 'accepts' | 'docs' | 'handler'
> & {
  /** The rest of its description, in CommonMark. */
  description?: string
  /** What the parameter in its path is. */
  inPath?: string
  query?: Query
  /** A body without a required field may be missing. */
  body?: BodySchema
  /** It may not, because one of its fields is required. */
  needsBody?: true
  /** Of one that succeeds. With 204 the handler returns nothing. */
  response: [status: 200 | 201, description: string, schema: Schema] | [204, description: string]
  /** Those that it may throw itself, and that do not follow from `query` and `body`. */
  errors?: () => ApiError[]
  /** `id` is the parameter in the path. */
  handler: (
    request: FastifyRequest,
    read: { query: Values<Query>; body: Json; id: string },
    reply: FastifyReply,
  ) => Promise<unknown>
}

/**
 * An endpoint below /control. It takes the parameters of `query` and the fields of `body`; any other is an error, so
 * that `POST ...?scenario=declined` is not ignored.
 */
export const defineEndpoint = <const Query extends QueryParameters = Record<never, never>>({
  query = {} as Query, // absent only where Query has no names
  body,
  needsBody,
  description,
  inPath,
  response: [status, content, schema],
  errors = () => [],
  handler,
  ...route
}: ControlEndpoint<Query>): Endpoint => {
  const [, name = ''] = /\{(\w+)\}/.exec(route.path) ?? []
  return {
    ...route,
    area: 'control',
    ...(body && { accepts: 'json' }),
    docs() {
      const required = needsBody ?? (body?.required.length ?? 0) > 0
      const parameters = inPath ? [pathParameter(name, inPath)] : []
      parameters.push(...queryParameters(query))
      return {
        ...(description && { description }),
        responses: { [status]: schema ? json(content, schema) : noContent(content) },
        ...(parameters.length > 0 && { parameters }),
        ...(body && { requestBody: { ...requestBody(body), required } }),
        errors: body ? withBodyErrors(errors()) : [...errors(), unknownParameter()],
      }
    },
    handler: async (request, reply) => {
      const read = {
        query: readQuery(request, query),
        body: body ? readBody(request, body) : {},
        id: pathParam(request, name),
      }
      const result = await handler(request, read, reply)
      void reply.code(status)
      return status === 204 ? reply.send() : result
    },
  }
}

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
