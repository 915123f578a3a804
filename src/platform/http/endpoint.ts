import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { methodNotAllowed } from '../../core/errors.ts'
import {
  type Area,
  type AreaName,
  type Areas,
  beforeHandler,
  type PlanHooks,
  type Recorded,
} from './areas.ts'
import { type Accepts, wrongMediaTypeOf } from './body.ts'
import { METHODS, methodOf } from './fastify.ts'
import { isStorable } from './fields.ts'
import type { Limits } from './limits.ts'
import type { Docs } from './openapi.ts'
import type { SearchKind } from './search.ts'
import { NO_ENDPOINT } from './unknown-path.ts'

/** One method of one path: what it is and what it does. */
export type Route = {
  method: 'GET' | 'POST' | 'DELETE'
  /** As OpenAPI writes it: `/v1/payments/{payment_id}`. */
  path: string
  area: AreaName
  operationId?: string
  /** Which media types its body may have. Without it the endpoint reads no body and takes any type. */
  accepts?: Accepts
  /** Its body is a card or another secret: the record does not keep it. */
  secretBody?: true
  /** Returns the body of the response, or undefined once it has sent one; throws an ApiError. */
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

/** A route that an OpenAPI document describes. */
export type Endpoint = Route & {
  /** Its name in the document. */
  operationId: string
  summary: string
  /** Of a search: its parameters. It ignores others. */
  search?: SearchKind
  /** The rest of its description. Called when somebody reads the document, never at the start. */
  docs: () => Docs | Promise<Docs>
}

/** Registers routes. HEAD works wherever GET does; another method of a known path is a 405 with `Allow`. */
export function registerRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  areas: Areas,
  limits: Limits,
): void {
  for (const [path, group] of Map.groupBy(routes, route => route.path)) {
    const url = path.replace(/\{(\w+)\}/g, ':$1')
    for (const { method, area: name, operationId = path, accepts, secretBody, handler } of group) {
      const area = areas[name]
      const refuse = (request: FastifyRequest) => accepts && wrongMediaTypeOf(request, accepts)
      const plan = area.plan?.(operationId)
      const preHandler = [area.limited && limits.enter, plan?.preHandler].filter(step => !!step)
      app.route({
        method,
        url,
        handler,
        preHandler,
        ...routeOptions(area, { operationId, secretBody }, refuse, plan),
      })
    }
    refuseOtherMethods(app, url, group, areas)
  }
}

function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  group: readonly Route[],
  areas: Areas,
): void {
  const allowed = group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method))
  const allow = allowed.join(', ')
  const [first] = group
  if (!first) return
  const refuse = (request: FastifyRequest, reply: FastifyReply) => {
    void reply.header('allow', allow)
    return methodNotAllowed(methodOf(request), allow)
  }
  const method = METHODS.filter(name => !allowed.includes(name))
  app.route({
    method,
    url,
    handler: async () => {},
    ...routeOptions(areas[first.area], { operationId: NO_OPERATION }, refuse),
  })
}

type Refuse = (request: FastifyRequest, reply: FastifyReply) => Error | undefined

/** The operation that a request of another method is recorded as. */
const NO_OPERATION = 'methodNotAllowed'

/** The operations of recorded requests that reached no endpoint. */
export const WITHOUT_ENDPOINT = [
  { operation: NO_OPERATION, summary: 'A method that the address does not have' },
  { operation: NO_ENDPOINT, summary: 'An address that the API does not have' },
]

function routeOptions(area: Area, recorded: Recorded, refuse: Refuse, plan?: PlanHooks) {
  const before = beforeHandler(area, refuse)
  const recording = area.record?.(recorded)
  const onSend = [plan?.onSend, recording?.onSend, plan?.afterRecord].filter(hook => !!hook)
  return {
    onRequest: recording ? recording.onRequest(before) : before,
    onSend,
    ...(area.bodyLimit && { bodyLimit: area.bodyLimit }),
    errorHandler: area.sendError,
  }
}

/** A parameter of the path, as text. It is '' for text that no database can search for. */
export function pathParam(request: FastifyRequest, name: string): string {
  const text = (request.params as Record<string, string>)[name] ?? '' // Fastify types parameters as unknown
  return isStorable(text) ? text : ''
}
