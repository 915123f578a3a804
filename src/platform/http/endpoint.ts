import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Behaviour } from '../../core/account.ts'
import { FILE_FORM_BYTES, FORM_BYTES } from '../../core/budgets.ts'
import { noSuchEndpoint } from '../../core/errors.ts'
import { isStorable } from '../../core/values.ts'
import { type AreaName, type Areas, beforeHandler, lostIn } from './areas.ts'
import { type Accepts, wrongMediaTypeOf } from './body.ts'
import type { Limits } from './limits.ts'
import { longJson } from './long-json.ts'
import type { Docs } from './openapi.ts'
import type { SearchKind } from './search.ts'

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As OpenAPI writes it: `/v1/payments/{payment_id}`. */
  path: string
  area: AreaName
  operationId?: string
  /** Which media types its body may have. Without it the endpoint reads no body and takes any type. */
  accepts?: Accepts
  /** Whether the body holds a card or another secret: the record does not keep it. */
  secretBody?: true
  /** The parameters of a search, which ignores all others. */
  search?: SearchKind
  /** Whether the response has no limit of items, so that it takes turns with the searches. */
  isLong?: true
  /** Whether it exists under this behaviour. Where it does not, clients get the error for an unknown endpoint. */
  existsIn?: Readonly<Record<Behaviour, boolean>>
  /** Returns the body of the response, or undefined once it has sent one; throws an ApiError. */
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

/** A route that an OpenAPI document describes. */
export type Endpoint = Route & {
  operationId: string
  summary: string
  /** The rest of its description, made when somebody reads the document. */
  docs: (behaviour: Behaviour) => Docs
}

/** A function that makes the first properties of the object of an endpoint of this area. */
export const inArea =
  (area: AreaName) =>
  (method: Route['method'], path: string, operationId: string, summary: string) =>
    ({ method, path, area, operationId, summary }) as const

export const api = inArea('api')

declare module 'fastify' {
  interface FastifyContextConfig {
    area?: AreaName
    existsIn?: Route['existsIn']
  }
}

/** Registers routes. HEAD works wherever GET does; without-endpoint.ts refuses another method of a known path. */
export function registerRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  areas: Areas,
  limits: Limits,
): void {
  for (const { method, path, area: name, operationId = path, ...route } of routes) {
    const area = areas[name]
    const { accepts, secretBody, search, isLong, existsIn, handler } = route
    const { refuse = wrongTypeOf } = area
    const plan = area.plan?.(operationId)
    const before = beforeHandler(area, request =>
      existsIn?.[request.account.behaviour] === false
        ? lostIn(area, request, noSuchEndpoint())
        : refuse(request, accepts),
    )
    const mayBeLong = search !== undefined || isLong
    const recording = area.record?.({ operationId, secretBody })
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      config: { area: name, ...(existsIn && { existsIn }) },
      onRequest: recording ? recording.onRequest(before) : before,
      preHandler: [
        !area.isUncounted && limits.enter(name),
        plan?.preHandler,
        mayBeLong && limits.takeTurn,
      ].filter(step => !!step),
      handler: mayBeLong
        ? async (request, reply) => longJson(await handler(request, reply), request, reply)
        : handler,
      onSend: [plan?.onSend, limits.leave, recording?.onSend, plan?.afterRecord].filter(
        hook => !!hook,
      ),
      ...(accepts === 'form' && { bodyLimit: FORM_BYTES }),
      ...(accepts === 'multipart' && { bodyLimit: FILE_FORM_BYTES }),
      errorHandler: area.sendError,
    })
  }
}

const wrongTypeOf = (request: FastifyRequest, accepts?: Accepts) =>
  accepts && wrongMediaTypeOf(request, accepts)

/** A parameter of the path, as text. It is '' for text that no database can search for. */
export function pathParam(request: FastifyRequest, name: string): string {
  const text = (request.params as Record<string, string>)[name] ?? '' // Fastify types parameters as unknown
  return isStorable(text) ? text : ''
}
