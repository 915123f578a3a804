import type { FastifyRequest } from 'fastify'
import { isStorable } from '../http/fields.ts'
import type { Schema } from '../http/openapi.ts'
import { badField, noSuchField } from './errors.ts'
import { LONGEST_WAIT } from './wait.ts'

export type Parse<Value> = {
  parse: (text: string) => Value | undefined
  rule: string
  /** For /control/openapi.json. */
  schema: Schema
}

export const text: Parse<string> = {
  parse: given => (isStorable(given) ? given : undefined),
  rule: 'must be text',
  schema: { type: 'string' },
}

export const whole = (least: number, most: number): Parse<number> => ({
  parse: given =>
    /^\d{1,9}$/.test(given) && Number(given) >= least && Number(given) <= most
      ? Number(given)
      : undefined,
  rule: `must be a whole number from ${least} to ${most}`,
  schema: { type: 'integer', minimum: least, maximum: most },
})

export const flag: Parse<boolean> = {
  parse: given => (/^(true|false)$/.test(given) ? given === 'true' : undefined),
  rule: 'must be true or false',
  schema: { type: 'boolean' },
}

export const instant: Parse<number> = {
  parse: given =>
    /^\d{4}-\d\d-\d\dT/.test(given) && !Number.isNaN(Date.parse(given))
      ? Date.parse(given)
      : undefined,
  rule: 'must be a time such as 2026-09-14T08:20:31.000Z',
  schema: { type: 'string', format: 'date-time' },
}

export const oneOf = (values: readonly string[]): Parse<string> => ({
  parse: given => (values.includes(given) ? given : undefined),
  rule: `must be one of ${values.join(', ')}`,
  schema: { type: 'string', enum: values },
})

export const wait = whole(0, LONGEST_WAIT)
export const limit = whole(1, 500)

type Values<Known> = {
  [Name in keyof Known]?: Known[Name] extends Parse<infer Value> ? Value : never
}

/** Reads the query parameters. Throws a 422 for the first that is unknown or not valid. */
export function readQuery<Known extends Record<string, Parse<unknown>>>(
  { query }: FastifyRequest,
  known: Known,
): Values<Known> {
  const read: Record<string, unknown> = {}
  for (const [name, given] of Object.entries(query as Record<string, string | string[]>)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined
    if (!kind) throw noSuchField(name, Object.keys(known))
    const value = typeof given === 'string' ? kind.parse(given) : undefined
    if (value === undefined) throw badField(name, kind.rule)
    read[name] = value
  }
  return read as Values<Known> // each was parsed by its own kind
}
