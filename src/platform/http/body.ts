import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { parse } from 'secure-json-parse'
import { FORM_BYTES, FORM_FIELDS } from '../../core/budgets.ts'
import {
  type BodyCode,
  bodyTooLarge,
  notAnObject,
  notJson,
  tooManyFields,
  wrongMediaType,
} from '../../core/errors.ts'
import { isObject, type Json } from './fields.ts'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

const INTEGER = /^-?\d+$/
const MAYBE_FRACTION = /\d[.e]/i

/** The media types that count as each kind. A body without Content-Type counts as JSON. */
const patterns = {
  [JSON_TYPE]: /^(application\/(json|[^;\s]+\+json)\s*(;|$)|$)/i,
  [FORM_TYPE]: /^application\/x-www-form-urlencoded\s*(;|$)/i,
  'multipart/form-data': /^multipart\/form-data\s*(;|$)/i,
}

/** The bodies that an endpoint takes, and the status for a body of any other type. */
const accepted = {
  json: { types: [JSON_TYPE], status: 400 },
  form: { types: [FORM_TYPE], status: 415 },
  'json or form': { types: [JSON_TYPE, FORM_TYPE], status: 400 },
  multipart: { types: ['multipart/form-data'], status: 415 },
} as const

export type Accepts = keyof typeof accepted

export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

type Typed = { headers: { 'content-type'?: string | undefined } }

const isOfType = ({ headers }: Typed, type: keyof typeof patterns): boolean =>
  patterns[type].test(headers['content-type'] ?? '')

export const isForm = (request: Typed): boolean => isOfType(request, FORM_TYPE)

/** The Content-Type as the client sent it. In a handler the headers have another type: http/fastify.ts. */
export const sentType = ({ raw }: FastifyRequest): string =>
  raw.headersDistinct['content-type']?.[0] ?? ''

/** The error for a body of another media type, or with a Content-Encoding; undefined when it may be read. */
export function wrongMediaTypeOf(request: FastifyRequest, accepts: Accepts): Error | undefined {
  if (!hasBody(request)) return undefined
  const { types, status } = accepted[accepts]
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const isPlain = encoding.toLowerCase() === 'identity'
  if (isPlain && types.some(type => isOfType(request, type))) return undefined
  return wrongMediaType(status, ...types)
}

/** Reads a body that is not one JSON object. `value` is undefined for text that is not JSON. Most readers throw. */
export type ReadOther = (code: BodyCode, text: string, value: unknown) => Json

export const refuseOther: ReadOther = (code, _text, value) => {
  throw value === undefined ? notJson(code) : notAnObject(code)
}

/**
 * The JSON object in the body. `readOther` decides on anything else and on a key `__proto__`. Of a key that occurs twice
 * the last counts. A number in a field of `integers` that is written as 1.0 or 1e3 is returned as its text.
 */
export function jsonBody(
  { body }: FastifyRequest,
  code: BodyCode,
  integers: readonly string[] = [],
  readOther = refuseOther,
): Json {
  if (!Buffer.isBuffer(body)) return readOther(code, '', null)
  const text = body.toString()
  const value = isUtf8(body) ? parseJson(text, integers) : undefined
  return isObject(value) ? value : readOther(code, text, value)
}

/** undefined for text that is not JSON, or that would set a prototype. */
function parseJson(text: string, integers: readonly string[]): unknown {
  const written = new Map<unknown, Json>()
  function keepText(this: unknown, name: string, value: unknown, literal?: { source?: string }) {
    const { source = '' } = literal ?? {}
    if (typeof value === 'number' && integers.includes(name) && !INTEGER.test(source))
      written.set(this, { ...written.get(this), [name]: source })
    return value
  }
  try {
    // JSON.parse is slower with a reviver.
    const reviver = MAYBE_FRACTION.test(text) ? keepText : undefined
    const value = parse(text, reviver, { protoAction: 'error', constructorAction: 'ignore' })
    return isObject(value) ? Object.assign(value, written.get(value)) : value
  } catch {
    return undefined
  }
}

const AMPERSAND = Buffer.from('&')

const FORM = Symbol('form')
/** Plans, the handler and the record read the same form, so its bytes keep it once parsed. A WeakMap costs more. */
type FormBytes = Buffer & { [FORM]?: URLSearchParams }

/** A form's fields, none without a body; undefined beyond FORM_BYTES or FORM_FIELDS. Reads invalid UTF-8 as U+FFFD. */
export function formOf(body: unknown): URLSearchParams | undefined {
  if (!Buffer.isBuffer(body)) return new URLSearchParams()
  const bytes: FormBytes = body
  const isTooLong = body.length > FORM_BYTES || hasMore(body, AMPERSAND, FORM_FIELDS - 1)
  if (isTooLong) return undefined
  bytes[FORM] ??= new URLSearchParams(body.toString('utf8'))
  return bytes[FORM]
}

/** The fields of a form. Throws an ApiError where `formOf` returns undefined. */
export function formBody({ body }: FastifyRequest): URLSearchParams {
  const form = formOf(body)
  if (form) return form
  throw Buffer.isBuffer(body) && body.length > FORM_BYTES
    ? bodyTooLarge(FORM_BYTES)
    : tooManyFields()
}

function hasMore(bytes: Buffer, text: Buffer, most: number): boolean {
  // Most forms are too short to have more, and need no search.
  if (bytes.length <= most * text.length) return false
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) {
    count += 1
    if (count > most) return true
  }
  return false
}

/** The headers of each field of a form with files contain this text, written exactly so. */
const FIELD = Buffer.from('form-data; name="')

/** The fields of a form with files; undefined if they cannot be read, or are too many. */
export async function multipartBody(request: FastifyRequest): Promise<FormData | undefined> {
  const { body } = request
  if (!Buffer.isBuffer(body) || hasMore(body, FIELD, FORM_FIELDS)) return undefined
  const response = new Response(new Uint8Array(body), {
    headers: { 'Content-Type': sentType(request) },
  })
  return response.formData().catch(() => undefined)
}
