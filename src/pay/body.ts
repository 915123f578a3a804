import type { FastifyRequest } from 'fastify'
import { type BodyCode, blocked } from '../core/errors.ts'
import { jsonBody } from '../platform/http/body.ts'
import type { Json } from '../platform/http/fields.ts'
import { blockedText } from './differences/arriving.ts'
import { otherBody } from './differences/errors.ts'
import { FORBIDDEN } from './refusals.ts'

/** The JSON object in the body, as the behaviour of the account reads it. Otherwise as `jsonBody`. */
export function bodyOf(
  request: FastifyRequest,
  code: BodyCode,
  integers: readonly string[] = [],
): Json {
  const { behaviour } = request.account
  const body = jsonBody(request, code, integers, otherBody[behaviour].read)
  if (blockedText[behaviour](body)) throw blocked(FORBIDDEN)
  return body
}
