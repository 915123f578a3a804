import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { parse } from 'node:querystring'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { acceptBytes, LARGEST_BODY } from './body.ts'
import { sendApiError } from './errors.ts'
import { http } from './node-http.ts'

/** Milliseconds. A client that is slower than this is cut off with 408. */
const HEADERS_TIMEOUT = 10_000
const REQUEST_TIMEOUT = 15_000
const KEEP_ALIVE_TIMEOUT = 30_000
/** And one that neither sends nor takes what it is sent is cut off. */
const QUIET_TIMEOUT = 30_000

/** Answers a request whose path no endpoint has, or that cannot be decoded. */
export type AnswerUnknownPath = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/**
 * No route has a schema for Fastify: what a body may hold is checked by each endpoint, in the order of its
 * rules. That there are compilers, which are never asked for, keeps Fastify from loading its own.
 */
const noCompiler = (): never => {
  throw new Error('no route has a schema')
}
const compilersFactory = { buildValidator: noCompiler, buildSerializer: noCompiler }

/** Half of a surrogate pair, which no parameter may contain. */
const UNREADABLE = '\uD800'

/** A parameter that is not percent-encoded UTF-8 is a wrong one; Node would take it literally. */
const querystringParser = (query: string) =>
  parse(query, '&', '=', {
    maxKeys: 0, // no limit but that of the whole address
    decodeURIComponent: decode,
  })

/** Instead of an exception, which would cost more than all else where an address has thousands of them. */
function decode(text: string): string {
  if (!text.includes('%')) return text
  if (/%(?![\da-f]{2})/i.test(text)) return UNREADABLE
  const bytes = text
    .replace(/[^\0-\x7f]/g, '?')
    .replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return isUtf8(Buffer.from(bytes, 'latin1')) ? decodeURIComponent(text) : UNREADABLE
}

/** An HTTP server with the service's manners and no endpoints: limits, errors, what every answer carries. */
export function createServer(
  logger: FastifyBaseLogger | undefined,
  answerUnknownPath: AnswerUnknownPath,
): FastifyInstance {
  const app = fastify({
    ...(logger ? { loggerInstance: logger } : {}),
    childLoggerFactory: parent => parent,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LARGEST_BODY,
    requestTimeout: REQUEST_TIMEOUT,
    connectionTimeout: QUIET_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    http: {
      headersTimeout: HEADERS_TIMEOUT,
      connectionsCheckingInterval: 1_000,
      optimizeEmptyRequests: true,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 20_000, querystringParser },
    schemaController: { compilersFactory },
    rewriteUrl: foldMethod,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (_error, request, reply) => {
      setCommonHeaders(reply)
      answerUnknownPath(request, reply).catch(error => sendApiError(error, request, reply))
    },
  })
  // What a client expects beside 100-continue, which Node sees to, is nobody's concern; Node would refuse it.
  app.server.on('checkExpectation', (...request) => app.server.emit('request', ...request))
  acceptBytes(app)
  app.decorateRequest('account', '')
  // Hooks of every request call back: a promise each would cost more than what they do.
  app.addHook('onRequest', (request, reply, done) => {
    if (hasTwoHosts(request)) {
      reply.hijack()
      reply.raw.writeHead(400, { connection: 'close', 'content-length': 0 }).end()
      return
    }
    setCommonHeaders(reply)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const method = methodOf(request)
    const route = routeOf(request) ?? null
    const ms = Math.round(reply.elapsedTime * 10) / 10
    request.log.info({ method, route, status: reply.statusCode, ms })
    done()
  })
  app.setErrorHandler(sendApiError)
  app.setNotFoundHandler(answerUnknownPath)
  return app
}

/** Before the body is read: that there is no such endpoint counts before anything about a body. */
export function answerUnknownPaths(app: FastifyInstance, answer: AnswerUnknownPath): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && !hasEmptyName(request)) return done()
    answer(request, reply).catch(done)
  })
}

/** The route's pattern, for logs and metrics: URLs carry tokens, and there are as many as payments. */
export const routeOf = (request: FastifyRequest): string | undefined =>
  hasEmptyName(request) ? undefined : request.routeOptions.url

/** Two slashes in a row in the path: the router takes the nothing between them for a parameter, no endpoint does. */
const hasEmptyName = ({ url }: FastifyRequest): boolean =>
  url.includes('//') && /^[^?#]*\/\//.test(url.replace(/^https?:\/\//i, ''))

/** HTTP wants 400 then: a proxy may mean the one and the service the other. Node would take the first. */
function hasTwoHosts({ raw: { rawHeaders } }: FastifyRequest): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1
  return hosts > 1
}

/** Names of headers are in small letters everywhere, as Fastify keeps them: of others it makes a new text each time. */
function setCommonHeaders(reply: FastifyReply): void {
  void reply.header('x-content-type-options', 'nosniff')
}

/** What every answer under /v1 carries. */
export function setApiHeaders(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store')
  void reply.header('pragma', 'no-cache')
}

/** True for the path itself and all below it, also percent-encoded or as a whole address. */
export function isUnder(prefix: string, { url }: FastifyRequest): boolean {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  const decoded = path.replace(/%([0-7][0-9a-f])/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return decoded === prefix || decoded.startsWith(`${prefix}/`)
}

declare module 'node:http' {
  interface IncomingMessage {
    /** What the client wrote, where a request goes the way of another method. */
    givenMethod?: string
  }
}

/** The methods that endpoints have. */
const USED = ['GET', 'HEAD', 'POST', 'DELETE'] as const
/** No endpoint has it. */
const UNUSED = 'PUT'

export const METHODS = [...USED, UNUSED] as const

/**
 * Lets a request of any method that HTTP has reach the routes, so that a wrong one is told which are right.
 * All that are never right go the way of one: the router keeps a tree for each, and thirty more for every
 * path would take an eighth of the start and 4 MB. Answers the URL, as it came.
 */
export function foldMethod(raw: IncomingMessage): string {
  if (!USED.some(method => method === raw.method)) {
    raw.givenMethod = raw.method ?? ''
    raw.method = UNUSED
  }
  return raw.url ?? ''
}

/** The method that the client wrote. */
export const methodOf = ({ raw, method }: FastifyRequest): string => raw.givenMethod ?? method

/** What Node calls the faults that are not simply a bad request. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/**
 * Answers what is no HTTP, is too long or comes too slowly with a bare status, and closes the
 * connection. Says nothing to the log: the error holds the bytes that came, keys and tokens among them.
 */
export function refuseUnreadable({ code = '' }: { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = statuses[code] ?? 400
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`
  socket.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
