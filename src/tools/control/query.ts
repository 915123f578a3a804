import type { FastifyRequest } from 'fastify'
import { isCursor, isEdge } from '../../platform/database/follow.ts'
import { isStorable } from '../../platform/http/fields.ts'
import type { Parameter, Schema } from '../../platform/http/openapi.ts'
import { instant as instantOf } from '../../platform/http/search.ts'
import { badField, noSuchField } from './errors.ts'
import { nullable } from './schemas.ts'
import { LONGEST_WAIT } from './wait.ts'

export type Parse<Value> = {
  parse: (text: string) => Value | undefined
  rule: string
  /** For /control/openapi.json. */
  schema: Schema
  description: string
}

/** Of a payment, a message or an exchange. */
export const ID = '06h3k9v0u2j4m5n6p7q8r9s0t1'

export const anyText = (description: string, example: string): Parse<string> => ({
  description,
  parse: given => (isStorable(given) ? given : undefined),
  rule: 'must be text',
  schema: { type: 'string', examples: [example] },
})

export const whole = (least: number, most: number, description: string): Parse<number> => ({
  description,
  parse: given =>
    /^\d{1,9}$/.test(given) && Number(given) >= least && Number(given) <= most
      ? Number(given)
      : undefined,
  rule: `must be a whole number from ${least} to ${most}`,
  schema: { type: 'integer', minimum: least, maximum: most, examples: [most] },
})

export const flag = (description: string): Parse<boolean> => ({
  description,
  parse: given => (/^(true|false)$/.test(given) ? given === 'true' : undefined),
  rule: 'must be true or false',
  schema: { type: 'boolean', examples: [true] },
})

export const instant = (description: string): Parse<number> => ({
  description,
  parse: given => {
    const time = instantOf(given)
    return Number.isNaN(time) ? undefined : time
  },
  rule: 'must be a time such as 2026-09-14T08:20:31.000Z',
  schema: { type: 'string', format: 'date-time', examples: ['2026-09-14T08:20:31.000Z'] },
})

export const oneOf = (values: readonly string[], description: string): Parse<string> => ({
  description,
  parse: given => (values.includes(given) ? given : undefined),
  rule: `must be one of ${values.join(', ')}`,
  schema: { type: 'string', enum: values, examples: values.slice(0, 1) },
})

const edge = (
  name: string,
  isValid: (text: string) => boolean,
  description: string,
): Parse<string> => ({
  ...anyText(description, ID),
  parse: given => (isValid(given) ? given : undefined),
  rule: `must be the ${name} of an earlier response`,
})

/** The most results of a list. */
export const MOST_LISTED = 500

export const payment_id = anyText('Only results of this payment', ID)
export const reference = anyText(
  'Only results of payments with this reference, in any case',
  'PITCH-41',
)
export const wait = whole(
  0,
  LONGEST_WAIT,
  'Milliseconds to wait for a first result, if there is none',
)
export const paging = {
  after: edge('next', isCursor, 'What comes after `next` of an earlier response'),
  before: edge('previous', isEdge, 'What comes before `previous` of an earlier response'),
  limit: whole(1, MOST_LISTED, 'How many results at most'),
  wait,
}

/** Where a list begins and ends. */
export const ends = {
  next: { ...nullable, description: 'For `after`' },
  previous: { ...nullable, description: 'For `before`: the identifier of the first result' },
}

export const queryParameters = (parameters: Parameters): Parameter[] =>
  Object.entries(parameters).map(([name, { schema, description }]) => ({
    name,
    in: 'query',
    schema,
    description,
  }))

/** Query parameters by their names. */
export type Parameters = Record<string, Parse<unknown>>

export type Values<Known> = {
  [Name in keyof Known]?: Known[Name] extends Parse<infer Value> ? Value : never
}

/** Reads the query parameters. Throws a 422 for the first that is unknown or not valid. */
export function readQuery<Known extends Parameters>(
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

/** Takes the parameters of a list apart: how long it may wait, which page, and the filter. */
export function listQuery<Query extends Values<typeof paging>>(query: Query) {
  const { wait: ms = 0, after, before, limit = MOST_LISTED, ...filter } = query
  return { ms, paging: { after, before, limit }, filter }
}
