import { type FieldCodes, invalid, missing, outsideLimit } from '../../core/errors.ts'
import { isStorable } from '../../core/values.ts'
import { plainText } from './schema.ts'

export type Json = Record<string, unknown>

/** The keywords of a property's JSON schema that decide whether a value is accepted. */
type Limits = {
  readonly enum?: readonly unknown[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  /** The rule of the pattern in words, if there is a pattern. */
  readonly description?: string
}
type BodySchema = { readonly properties: Readonly<Record<string, Limits | object>> }

/** How null or blank text counts: as a missing required field, as an absent optional field, or as an invalid one. */
type Blank = 'missing' | 'absent' | 'invalid'

const BLANK = /^\s*$/
const FORBIDDEN = new RegExp(plainText.not.pattern)

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Node reads the bytes of a header as Latin-1; clients write UTF-8. */
export const inUtf8 = (header: string): string => Buffer.from(header, 'latin1').toString('utf8')

export const PENCE_RULE =
  'must be a whole number of pence, written as an integer, without a point or exponent'

export const STORABLE_RULE = 'must not contain U+0000 or half of a surrogate pair'

/**
 * Reads the fields of a body in the order in which the caller asks for them. The first error is thrown with the
 * endpoint's codes. The caller names each field's type, and calls `checkLimits` when the types are right: lengths,
 * ranges and allowed values are those of the schema that /openapi.json prints.
 */
export class FieldReader {
  readonly #body: Json
  readonly #schema: BodySchema
  readonly #codes: FieldCodes

  constructor(body: Json, schema: BodySchema, codes: FieldCodes) {
    this.#body = body
    this.#schema = schema
    this.#codes = codes
  }

  #limitsOf(name: string): Limits {
    const limits = this.#schema.properties[name]
    if (!limits) throw new Error(`the schema has no property ${name}`)
    return limits
  }

  /** Returns undefined when the field is absent, or is null and may be null. */
  #present(name: string, whenNull: Blank): unknown {
    const field = this.#body[name]
    const value = field ?? undefined
    if (value === undefined && whenNull === 'missing') throw missing(this.#codes, name)
    if (field === null && whenNull === 'invalid')
      throw invalid(this.#codes, name, 'must not be null')
    return value
  }

  #rawText(name: string, whenNull: Blank): string | undefined {
    const value = this.#present(name, whenNull)
    if (value !== undefined && typeof value !== 'string')
      throw invalid(this.#codes, name, 'must be a string')
    return value
  }

  #text(name: string, whenBlank: Blank): string | undefined {
    const value = this.#rawText(name, whenBlank)
    if (value === undefined || !BLANK.test(value)) return value
    if (whenBlank === 'missing') throw missing(this.#codes, name)
    if (whenBlank === 'invalid') throw invalid(this.#codes, name, 'must not be blank')
    return undefined
  }

  /** An amount in pence. A number too large for JavaScript still counts as whole, unless it is beyond `largest`. */
  pence(name: string, largest = Infinity): number {
    const value = this.#present(name, 'missing')
    if (!isWholeNumber(value) || Math.abs(value) > largest)
      throw invalid(this.#codes, name, PENCE_RULE)
    return value + 0
  }

  /** false when it is absent. */
  boolean(name: string): boolean {
    const value = this.#present(name, 'invalid')
    if (value !== undefined && typeof value !== 'boolean')
      throw invalid(this.#codes, name, 'must be true or false')
    return value ?? false
  }

  text(name: string): string {
    return this.#text(name, 'missing') ?? ''
  }

  /** Blank text counts as absent. */
  optionalText(name: string): string | undefined {
    return this.#text(name, 'absent')
  }

  /** Optional, and blank text is invalid. */
  filledText(name: string): string | undefined {
    return this.#text(name, 'invalid')
  }

  /** Optional; `checkLimits` checks blank text too. */
  optionalRawText(name: string): string | undefined {
    return this.#rawText(name, 'absent')
  }

  /** Required text without the characters < > and |. */
  plainText(name: string): string {
    const value = this.text(name)
    if (FORBIDDEN.test(value)) throw invalid(this.#codes, name, 'must not contain <, > or |')
    return value
  }

  /** One of the schema's values. Another value is outside the limits; another type is invalid. */
  choice<Choice extends string>(name: string): Choice | undefined {
    const value = this.filledText(name)
    const allowed = this.#limitsOf(name).enum ?? []
    if (value !== undefined && !allowed.includes(value))
      throw outsideLimit(this.#codes, name, `must be one of ${allowed.join(', ')}`)
    return value as Choice | undefined // the line above has checked it
  }

  /** Optional. A value of another type is outside the limits. */
  object(name: string): Json | undefined {
    const value = this.#body[name]
    if (value !== undefined && !isObject(value))
      throw outsideLimit(this.#codes, name, 'must be an object')
    return value
  }

  /** A value of another type counts as absent. */
  optionalObject(name: string): Json | undefined {
    const value = this.#body[name]
    return isObject(value) ? value : undefined
  }

  /** Checks lengths and ranges in the order of `names`, or of the schema. */
  checkLimits(names = Object.keys(this.#schema.properties)): void {
    for (const name of names) checkLimit(this.#codes, name, this.#body[name], this.#limitsOf(name))
  }
}

/** Each pattern of a schema is compiled once. */
const patterns = new Map<string, RegExp>()

function compiled(pattern: string): RegExp {
  const compiledPattern = patterns.get(pattern) ?? new RegExp(pattern)
  patterns.set(pattern, compiledPattern)
  return compiledPattern
}

const isWholeNumber = (value: unknown): value is number =>
  typeof value === 'number' && (Number.isInteger(value) || !Number.isFinite(value))

/** Throws when a string or number is outside the limits. Any other type passes. */
export function checkLimit(codes: FieldCodes, name: string, value: unknown, limits: Limits): void {
  const fail = (rule: string) => {
    throw outsideLimit(codes, name, rule)
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = limits
    if (value < minimum) fail(`must be at least ${minimum}`)
    if (value > maximum) fail(`must be at most ${maximum}`)
  }
  if (typeof value !== 'string') return
  const { minLength = 0, maxLength = Infinity, pattern } = limits
  // Blank text counts as absent, unless the schema has a least length or a pattern.
  if (limits.minLength === undefined && pattern === undefined && BLANK.test(value)) return
  if (minLength === maxLength && value.length !== maxLength)
    fail(`must be exactly ${maxLength} characters long`)
  if (value.length < minLength)
    fail(minLength === 1 ? 'must not be empty' : `must be at least ${minLength} characters long`)
  if (value.length > maxLength) fail(`must be at most ${maxLength} characters long`)
  if (pattern && !compiled(pattern).test(value)) fail(`must be ${limits.description ?? pattern}`)
  if (!isStorable(value)) fail(STORABLE_RULE)
}
