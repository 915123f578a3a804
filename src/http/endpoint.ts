import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { methodNotAllowed } from '../errors.ts'
import { isStorable } from './fields.ts'
import { METHODS, methodOf } from './server.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    operationId?: string
  }
}

type Endpoint = {
  /** Its name in /openapi.json, and in the describe.ts that says what it does. */
  operation: string
  /** Refuses media types before the body is read. */
  accepts?: (request: FastifyRequest) => Error | undefined
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

type Methods = { GET?: Endpoint; POST?: Endpoint; DELETE?: Endpoint }

/** Registers all methods of one path; any other method is answered 405 with `Allow`. HEAD is wherever GET is. */
export function resource(app: FastifyInstance, url: string, methods: Methods): void {
  for (const [method, { operation, accepts, handler }] of Object.entries(methods))
    app.route({
      method: method as HTTPMethods,
      url,
      config: { operationId: operation },
      handler,
      ...(accepts && { onRequest: (request, _reply, done) => done(accepts(request)) }),
    })
  const allowed = Object.keys(methods).flatMap(method =>
    method === 'GET' ? ['GET', 'HEAD'] : method,
  )
  const allow = allowed.join(', ')
  app.route({
    method: METHODS.filter(method => !allowed.includes(method)),
    url,
    onRequest: async (request, reply) => {
      void reply.header('allow', allow)
      throw methodNotAllowed(methodOf(request), allow)
    },
    handler: async () => {},
  })
}

/** A parameter of the path, as text; '' for text that no database can look for. */
export function pathParam(request: FastifyRequest, name: string): string {
  const text = (request.params as Record<string, string>)[name] ?? '' // Fastify types parameters as unknown
  return isStorable(text) ? text : ''
}
