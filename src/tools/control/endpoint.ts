import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { type ApiError, notAnObject, wrongMediaType } from '../../core/errors.ts'
import { mapValues } from '../../core/map-values.ts'
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
import type { ToolContext } from '../context.ts'
import { missingField, noSuchField } from '../steer/errors.ts'
import { type body as bodySchema, type Fields, readFields, type Values } from '../steer/fields.ts'
import type { Waits } from './wait.ts'

export type ControlContext = ToolContext &
  Waits & {
    stopped: () => boolean
    /** The endpoints whose requests are recorded, and that plans can name. */
    operations: readonly Endpoint[]
  }

type None = Record<never, never>

type ControlEndpoint<
  Query extends QueryParameters,
  Required extends Fields,
  Optional extends Fields,
> = Omit<Endpoint, 'method' | 'path' | 'area' | 'accepts' | 'docs' | 'handler'> & {
  route: `${Endpoint['method']} /control${string}`
  /** The rest of its description, in CommonMark. */
  description?: string
  /** The description of the parameter in its path. */
  inPath?: string
  query?: Query
  /** A body without a required field may be missing. */
  body?: ReturnType<typeof bodySchema<Optional, Required>>
  /** The body may not be missing, because one of its fields is required. */
  needsBody?: true
  /** The response of a request that succeeds. With 204 the handler returns nothing. */
  response: [status: 200 | 201, description: string, schema: Schema] | [204, description: string]
  /** The errors that the handler may throw, without those that follow from `query` and `body`. */
  errors?: () => ApiError[]
  /** `id` is the parameter in the path. */
  handler: (
    context: ControlContext,
    asked: {
      account: Account
      query: Values<Query>
      body: Values<Optional, Required>
      id: string
      request: FastifyRequest
      reply: FastifyReply
      /** Whether nobody waits for the response any more. */
      isAbandoned: () => boolean
    },
  ) => Promise<unknown>
}

/** Unknown parameters and fields are errors, so that `POST ...?scenario=declined` is not ignored. */
export const defineEndpoint =
  <
    const Query extends QueryParameters = None,
    Required extends Fields = None,
    Optional extends Fields = None,
  >({
    query = {} as Query, // absent only where Query has no names
    body,
    needsBody,
    description,
    inPath,
    response: [status, content, schema],
    errors = () => [],
    handler,
    route,
    ...named
  }: ControlEndpoint<Query, Required, Optional>) =>
  (context: ControlContext): Endpoint => {
    const [method, path] = route.split(' ') as [Endpoint['method'], string] // it has one space
    const [, name = ''] = /\{(\w+)\}/.exec(path) ?? []
    const { fields = { optional: {} as Optional }, ...ownSchema } = body ?? {} // the same
    return {
      ...named,
      method,
      path,
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
          ...(body && { requestBody: { ...requestBody(ownSchema), required } }),
          errors: [
            ...(body ? [notAnObject('C0197'), wrongMediaType(400, JSON_TYPE)] : []),
            ...(body?.required.slice(0, 1).map(field => missingField(field, 'is required')) ?? []),
            ...errors(),
            noSuchField('x', Object.keys(body?.properties ?? query)),
          ],
        }
      },
      async handler(request, reply) {
        const result = await handler(context, {
          account: request.account,
          query: readFields(onceEach(request), { optional: query }),
          body: readFields(body ? bodyOf(request) : {}, fields),
          id: pathParam(request, name),
          request,
          reply,
          isAbandoned: () => context.stopped() || request.raw.socket.destroyed,
        })
        void reply.code(status)
        if (Buffer.isBuffer(result)) void reply.type(JSON_TYPE)
        return status === 204 ? reply.send() : result
      },
    }
  }

/** The query. A parameter that was sent twice gets a value that no parameter accepts. */
const onceEach = ({ query }: FastifyRequest): Json =>
  mapValues(query as Json, text => (typeof text === 'string' ? text : '\0'))

/** A missing body counts as an empty one. */
const bodyOf = (request: FastifyRequest): Json =>
  Buffer.isBuffer(request.body) && request.body.length > 0 ? jsonBody(request, 'C0197') : {}
