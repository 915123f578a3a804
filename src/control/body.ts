import type { FastifyRequest } from 'fastify'
import { jsonBody } from '../http/body.ts'
import type { Json } from '../http/fields.ts'
import { noSuchField } from './errors.ts'

/** True for a whole number in this range. */
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** The JSON object in the body; a missing body counts as an empty one. Throws for a field that is not in `known`. */
export function readBody(request: FastifyRequest, known: readonly string[]): Json {
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0
  const given = isEmpty ? {} : jsonBody(request, 'C0197')
  const unknown = Object.keys(given).find(name => !known.includes(name))
  if (unknown !== undefined) throw noSuchField(unknown, known)
  return given
}
