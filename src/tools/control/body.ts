import type { FastifyRequest } from 'fastify'
import { jsonBody } from '../../platform/http/body.ts'
import type { Json } from '../../platform/http/fields.ts'
import { badField, noSuchField } from './errors.ts'
import { readQuery } from './query.ts'

/** True for a whole number in this range. */
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/**
 * The JSON object in the body; a missing body counts as an empty one. Throws for a field that the schema does not have,
 * and for a query parameter, so that `POST ...?scenario=declined` is an error and not ignored.
 */
export function readBody(request: FastifyRequest, { properties }: { properties: object }): Json {
  readQuery(request, {})
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0
  const given = isEmpty ? {} : jsonBody(request, 'C0197')
  const known = Object.keys(properties)
  const unknown = Object.keys(given).find(name => !known.includes(name))
  if (unknown !== undefined) throw noSuchField(unknown, known)
  return given
}

/** Text without half of a surrogate pair, or text that matches `pattern`, which `rule` describes. */
export function textIn(
  given: Json,
  name: string,
  { pattern = /^/, rule = 'must be text' } = {},
): string | undefined {
  const value = given[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.isWellFormed() && pattern.test(value)) return value
  throw badField(name, rule)
}

export function flagIn(given: Json, name: string, absent = false): boolean {
  const { [name]: value = absent } = given
  if (typeof value !== 'boolean') throw badField(name, 'must be true or false')
  return value
}

/** A field that is true or absent. */
export function trueIn(given: Json, name: string): boolean {
  const value = given[name]
  if (value !== undefined && value !== true) throw badField(name, 'must be true')
  return value === true
}

export function integerIn(
  given: Json,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = given[name]
  if (value === undefined || isWhole(value, least, most)) return value
  throw badField(name, `must be a whole number from ${least} to ${most}`)
}
