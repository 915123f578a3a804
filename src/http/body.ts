import { isUtf8 } from 'node:buffer'
import { finished, Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyCode, notAnObject, notJson, unreadable, wrongMediaType } from '../errors.ts'
import { isObject, type Json } from './fields.ts'

/** The most bytes that a request body may have. */
export const LARGEST_BODY = 65_536

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'
const IS_JSON = /^application\/(json|[^;\s]+\+json)\s*(;|$)/i
const IS_FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** What bodies but forms count as for Fastify, which finds the parser of a type it knows without reading the type anew. */
const BYTES_TYPE = 'application/octet-stream'

/**
 * Bodies arrive as bytes whatever their Content-Type: which types an endpoint takes is its own matter,
 * and some do not look at it at all, so that a malformed one must not be Fastify's concern.
 */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.raw.headers['content-type'] = isForm(request) ? FORM_TYPE : BYTES_TYPE
    const body = isUnheard(request) ? Readable.from([]) : payload
    // A client that has left before its body is read would never be heard of again.
    done(request.socket.destroyed ? unreadable() : null, body)
  })
  // Fastify would cut off who is still sending, and whoever sends much could not read why it was too much.
  app.addHook('onError', (_request, reply, error, done) => {
    if (error.statusCode === 413) reply.removeHeader('connection')
    done()
  })
  app.addContentTypeParser([BYTES_TYPE, FORM_TYPE], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
}

/**
 * Of a request that asks for another protocol, as Java's client does with each, Node forgets after its
 * answer what comes right behind the body: so the answer waits for the body.
 */
export function answerBehindBody(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { raw } = request
    if (raw.complete || raw.headers.upgrade === undefined || !hasBody(request)) done(null, payload)
    else finished(raw.resume(), () => done(null, payload))
  })
}

/** True where Fastify would wait for ever: Node, set to save what an empty body costs, never tells of its end. */
const isUnheard = ({ method, raw }: FastifyRequest): boolean =>
  raw.readableEnded && method !== 'GET' && method !== 'HEAD'

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity'

export const isForm = (request: FastifyRequest): boolean =>
  IS_FORM.test(request.headers['content-type'] ?? '')

/** True when a body is given and it is not a form. */
export const isWrongForm = (request: FastifyRequest): boolean =>
  hasBody(request) && (!isForm(request) || isEncoded(request))

/** True for what may be read as JSON: also a body without Content-Type, and none at all. */
function mayBeJson(request: FastifyRequest): boolean {
  const type = request.headers['content-type']
  const isJson = !type || IS_JSON.test(type)
  return !hasBody(request) || (isJson && !isEncoded(request))
}

/** The error for other media types, to be thrown before the body is read. */
export const requireJson = (request: FastifyRequest): Error | undefined =>
  mayBeJson(request) ? undefined : wrongMediaType(JSON_TYPE)

/** As `requireJson`, for the one endpoint that takes forms too. */
export const requireJsonOrForm = (request: FastifyRequest): Error | undefined =>
  mayBeJson(request) || (isForm(request) && !isEncoded(request))
    ? undefined
    : wrongMediaType(JSON_TYPE, FORM_TYPE)

/** The one JSON object that the body is; throws `code` for anything else. Of equal keys the last counts. */
export function jsonBody(request: FastifyRequest, code: BodyCode): Json {
  const { body } = request
  if (!Buffer.isBuffer(body)) throw notAnObject(code)
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  const value = isUtf8(body) ? parseJson(text) : undefined
  if (value === undefined) throw notJson(code)
  if (!isObject(value) || (/__proto__|\\u/.test(text) && setsPrototype(value)))
    throw notAnObject(code)
  return value
}

/** A form's fields. Bytes that are no UTF-8 read as U+FFFD. */
export const formBody = (request: FastifyRequest): URLSearchParams =>
  new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** That is nothing that a client may do. Looked for without recursion: nesting may be deep. */
function setsPrototype(value: unknown): boolean {
  const parts = [value]
  for (const part of parts)
    if (typeof part === 'object' && part !== null) {
      if (Object.hasOwn(part, '__proto__')) return true
      for (const inner of Object.values(part)) parts.push(inner)
    }
  return false
}
