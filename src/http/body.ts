import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { parse } from 'secure-json-parse'
import { type BodyCode, notAnObject, notJson, wrongMediaType } from '../errors.ts'
import { isObject, type Json } from './fields.ts'

/** The most bytes that a request body may have. */
export const MAX_BODY = 65_536

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'
const IS_JSON = /^application\/(json|[^;\s]+\+json)\s*(;|$)/i
const IS_FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** The media types that an endpoint takes. A missing body or Content-Type is always accepted. */
export type Accepts = 'json' | 'form' | 'json or form'

const typesOf: Record<Accepts, string[]> = {
  json: [JSON_TYPE],
  form: [FORM_TYPE],
  'json or form': [JSON_TYPE, FORM_TYPE],
}

export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isEncoded = ({ headers }: FastifyRequest): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity'

export const isForm = (request: FastifyRequest): boolean =>
  IS_FORM.test(request.headers['content-type'] ?? '')

/** The 415 for a body of another media type, or with a Content-Encoding; undefined when it may be read. */
export function wrongMediaTypeOf(request: FastifyRequest, accepts: Accepts): Error | undefined {
  if (!hasBody(request)) return undefined
  const type = request.headers['content-type']
  const isJson = accepts !== 'form' && (!type || IS_JSON.test(type))
  const isAccepted = isJson || (accepts !== 'json' && isForm(request))
  return isAccepted && !isEncoded(request) ? undefined : wrongMediaType(...typesOf[accepts])
}

/**
 * The JSON object in the body. Throws an ApiError with `code` for anything else, and for a key `__proto__` at any
 * depth. Of equal keys the last counts.
 */
export function jsonBody({ body }: FastifyRequest, code: BodyCode): Json {
  if (!Buffer.isBuffer(body)) throw notAnObject(code)
  const value = isUtf8(body) ? parseJson(body) : undefined
  if (value === undefined) throw notJson(code)
  if (!isObject(value)) throw notAnObject(code)
  return value
}

/** undefined for what is not JSON, or would set a prototype. */
function parseJson(body: Buffer): unknown {
  try {
    return parse(body, undefined, { protoAction: 'error', constructorAction: 'ignore' })
  } catch {
    return undefined
  }
}

/** The fields of a form. Bytes that are not UTF-8 read as U+FFFD. */
export const formBody = ({ body }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(Buffer.isBuffer(body) ? body.toString('utf8') : '')
