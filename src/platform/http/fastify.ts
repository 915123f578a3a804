/** Our changes to Fastify, each with its reason, and the test below test/ that fails without it or a benchmark. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import { finished, Readable } from 'node:stream'
import { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { type Account, ownerOf } from '../../core/account.ts'
import { overloaded, unreadable } from '../../core/errors.ts'
import { FORM_TYPE, hasBody, isForm, JSON_TYPE } from './body.ts'
import { refuseUnreadable } from './connections.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The method that the client sent, where `foldMethod` replaced it. */
    givenMethod?: string
  }
}

/** Never called, as no route has a schema. It keeps Fastify from loading its own compilers: 12 % of benchmark P7. */
const noCompiler = (): never => {
  throw new Error('no route has a schema')
}

export const fastifyOptions = {
  // A child logger for each request would add a reqId to its one line: log.
  childLoggerFactory: <Logger>(parent: Logger): Logger => parent,
  logController: new LogController({ disableRequestLogging: true }),
  schemaController: {
    compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
  },
  // One slash at the end of a path is accepted: "every page accepts one slash at the end of its path". An identifier
  // may be as long as a URL: "a path with a very long identifier reaches its route, which returns its own 404".
  routerOptions: { ignoreTrailingSlash: true, maxParamLength: 20_000, querystringParser },
  exposeHeadRoutes: false, // foldMethod
  clientErrorHandler: refuseUnreadable,
} as const

/** Adds all hooks; call it before there are routes. */
export function adjustFastify(app: FastifyInstance): void {
  ignoreExpectations(app)
  readBodiesAsBytes(app)
  respondAfterUpgradeBodies(app)
  sendJsonWithoutCharset(app)
}

/** Ignores unknown Expect values; Node would respond 417: "a request with an unknown Expect value is answered as without it". */
function ignoreExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (...request) => app.server.emit('request', ...request))
}

/** Fastify sees this type for every body that is not a form: it finds the parser of a known type faster. */
const BYTES_TYPE = 'application/octet-stream'

/**
 * Bodies are read as bytes whatever their Content-Type: each endpoint decides on the types, and some ignore the type.
 * Fastify would refuse a malformed one: contract/http/order-of-checks.
 */
function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.raw.headers['content-type'] = isForm(request) ? FORM_TYPE : BYTES_TYPE
    const account: Account | undefined = request.account // there is none without a key
    if (account) request.raw.arriveFor?.(ownerOf(account))
    const body = hasEndedUnseen(request) ? Readable.from([]) : payload
    // A client that left before its body is read emits no further event: faults/process/overload.
    const error = request.socket.destroyed ? unreadable() : null
    done(request.raw.isCut ? overloaded() : error, body)
  })
  // Fastify would close the connection of a client that is still sending, which then cannot read the 413:
  // "a connection carries the next request after a body of 5 MB was refused, and its client receives the 413".
  app.addHook('onError', (_request, reply, error, done) => {
    if (error.statusCode === 413) reply.removeHeader('connection')
    done()
  })
  app.addContentTypeParser([BYTES_TYPE, FORM_TYPE], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
}

/**
 * With `optimizeEmptyRequests` Node emits no end event for an empty body, and Fastify would wait for it: "a request
 * without Content-Length and Transfer-Encoding is answered without waiting for a body".
 */
const hasEndedUnseen = ({ method, raw }: FastifyRequest): boolean =>
  raw.readableEnded && method !== 'GET'

/**
 * After the response to a request with an Upgrade header, which Java's client sends with every request, Node drops the
 * bytes that follow the body. So the response waits for the end of the body: contract/http/upgrade.
 */
function respondAfterUpgradeBodies(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { raw } = request
    if (raw.complete || raw.headers.upgrade === undefined || !hasBody(request)) done(null, payload)
    else finished(raw.resume(), () => done(null, payload))
  })
}

/** GOV.UK Pay sends the bare media type, and JSON has no charset parameter. */
function sendJsonWithoutCharset(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      void reply.header('content-type', JSON_TYPE)
    done(null, payload)
  })
}

/** Half of a surrogate pair, which no parameter may contain. */
const INVALID = '\uD800'

/** A parameter that is not percent-encoded UTF-8 is invalid; Node would take it literally: contract/payments/search-parameters. */
function querystringParser(query: string) {
  return parse(query, '&', '=', { maxKeys: 0, decodeURIComponent: decodeParameter })
}

/** Returns INVALID instead of throwing: an exception for each of thousands of parameters would take milliseconds. */
function decodeParameter(text: string): string {
  if (!text.includes('%')) return text
  if (/%(?![\da-f]{2})/i.test(text)) return INVALID
  if (!/%[89a-f]/i.test(text)) return decodeURIComponent(text) // all ASCII, such as thousands of spaces
  const bytes = text
    .replace(/[^\0-\x7f]/g, '?')
    .replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return isUtf8(Buffer.from(bytes, 'latin1')) ? decodeURIComponent(text) : INVALID
}

const ROUTED = ['GET', 'POST', 'PUT', 'DELETE']
const UNUSED_METHOD = 'PATCH'

/**
 * HEAD becomes GET, because HEAD routes for all would take 4 MB. Node already knows then that the response has no body.
 * Every other method becomes a method that Fastify knows, so that it reaches the hooks: contract/http/routes.
 */
export function foldMethod(raw: IncomingMessage): void {
  const { method = '' } = raw
  if (ROUTED.includes(method)) return
  raw.givenMethod = method
  raw.method = method === 'HEAD' ? 'GET' : UNUSED_METHOD
}

export const methodOf = ({ raw, method }: FastifyRequest): string => raw.givenMethod ?? method

/** HTTP requires 400 for two Host headers, as a proxy may use another of them than Node: contract/http/connections. */
export function hasTwoHosts({ raw: { rawHeaders } }: FastifyRequest): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1
  return hosts > 1
}
