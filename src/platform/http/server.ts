import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify'
import { BODY_BYTES } from '../../core/budgets.ts'
import { unexpectedFault } from '../../core/errors.ts'
import { type Areas, hasEmptySegment, isBelow } from './areas.ts'
import { JSON_TYPE } from './body.ts'
import { createHttpServer } from './connections.ts'
import { errorBodyOf } from './errors.ts'
import { adjustFastify, fastifyOptions, foldMethod, hasTwoHosts, methodOf } from './fastify.ts'
import { areaOf, createRefuse } from './without-endpoint.ts'

/** The route of the files that pages link to. Each page loads several, so their lines are for debugging only. */
const ASSETS = '/assets/:name'

type ServerOptions = {
  /** The address that the router uses for a request. By default it is the request's own. */
  routedAs?: (raw: IncomingMessage) => string
  /** Another app, which handles the requests below its prefixes. */
  lazyApp?: ReturnType<typeof createLazyApp>
}

/** An HTTP server without endpoints: its limits, its headers, its errors and its log line. */
export function createServer(
  logger: FastifyBaseLogger | undefined,
  areas: Areas,
  { routedAs, lazyApp }: ServerOptions,
): FastifyInstance {
  const app = fastify({
    ...fastifyOptions,
    serverFactory: handle =>
      createHttpServer((raw, response) => {
        if (!lazyApp?.takes(raw, response)) handle(raw, response)
      }),
    rewriteUrl: raw => {
      foldMethod(raw)
      return routedAs?.(raw) ?? raw.url ?? ''
    },
    ...(logger && { loggerInstance: logger }),
    bodyLimit: BODY_BYTES,
    // A path that cannot be decoded is an unknown one.
    frameworkErrors: (_error, request, reply) => {
      setCommonHeaders(reply)
      refuse(request, reply, error => areaOf(areas, request).sendError(error, request, reply))
    },
  })
  if (lazyApp) app.addHook('preClose', async () => lazyApp.close())
  adjustFastify(app)
  const refuse = createRefuse(app, areas)
  app.addHook('onRequest', (request, reply, done) => {
    if (hasTwoHosts(request)) {
      reply.hijack()
      reply.raw.writeHead(400, { connection: 'close', 'content-length': 0 }).end()
      return
    }
    setCommonHeaders(reply)
    // Here, because Fastify's handler of such requests would run after the body is read.
    if (request.is404) refuse(request, reply, done)
    else done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) =>
    areaOf(areas, request).sendError(error, request, reply),
  )
  return app
}

/** Logs nothing that a client sent: `field` and `header` are names that the service knows. */
function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { refusal } = request
  const route = routeOf(request) ?? null
  const line = {
    method: methodOf(request),
    route,
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(refusal && { code: refusal.code, ...refusal.at }),
  }
  if (route === ASSETS) request.log.debug(line)
  else request.log.info(line)
}

/** The route's pattern, for logs and metrics: URLs contain tokens, and there are as many URLs as payments. */
export const routeOf = (request: FastifyRequest): string | undefined =>
  hasEmptySegment(request.url)
    ? undefined
    : (request.routeOptions.url ?? request.withoutEndpoint?.route)

/** True for a GET of a path without endpoint by a browser, whose Accept header prefers HTML to JSON. */
export const isLostInBrowser = (request: FastifyRequest): boolean =>
  methodOf(request) === 'GET' &&
  routeOf(request) === undefined &&
  prefersHtml(request.headers.accept)

/** RFC 9110, section 12.5.1. A wildcard counts for JSON, because command-line clients send nothing else. */
function prefersHtml(accept = ''): boolean {
  const weights = new Map<string, number>()
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim())
    const weight = parameters.find(parameter => parameter.startsWith('q='))
    weights.set(type, Number(weight?.slice(2) ?? 1))
  }
  const json = ['application/json', 'application/*', '*/*'].find(type => weights.has(type)) ?? ''
  return (weights.get('text/html') ?? 0) > (weights.get(json) ?? 0)
}

/** Header names are in lower case, as Fastify keeps them. For other spellings it makes a new string each time. */
function setCommonHeaders(reply: FastifyReply): void {
  void reply.header('x-content-type-options', 'nosniff')
}

export function setApiHeaders(_request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store')
  void reply.header('pragma', 'no-cache')
}

/** Builds an app at the first request for it: a service that only takes payments starts faster (benchmarks P7, P8). */
export function createLazyApp(
  prefixes: readonly string[],
  make: () => Promise<FastifyInstance>,
  onFault: (error: unknown) => void,
) {
  let lazyApp: Promise<FastifyInstance> | undefined
  async function makeReady(): Promise<FastifyInstance> {
    const app = await make()
    await app.ready()
    return app
  }
  return {
    /** Handles a request below its prefixes. Returns false for any other. */
    takes(raw: IncomingMessage, response: ServerResponse): boolean {
      const { url = '' } = raw
      if (!prefixes.some(prefix => isBelow(prefix, url))) return false
      lazyApp ??= makeReady()
      lazyApp.then(
        app => app.routing(raw, response),
        error => {
          lazyApp = undefined // the next request tries again
          onFault(error)
          response
            .writeHead(500, { 'content-type': JSON_TYPE })
            .end(JSON.stringify(errorBodyOf(unexpectedFault())))
        },
      )
      return true
    },
    close: () =>
      lazyApp?.then(
        app => app.close(),
        () => {},
      ),
  }
}
