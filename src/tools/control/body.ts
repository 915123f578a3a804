/** Reads fields of bodies. Throws an error for the first that is not valid. */
import type { Json } from '../../platform/http/fields.ts'
import { badField } from './errors.ts'

/** True for a whole number in this range. */
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** Text without half of a surrogate pair, or text that matches `pattern`, which `rule` describes. */
export function textIn(
  body: Json,
  name: string,
  { pattern = /^/, rule = 'must be text' } = {},
): string | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.isWellFormed() && pattern.test(value)) return value
  throw badField(name, rule)
}

export function flagIn(body: Json, name: string, absent = false): boolean {
  const { [name]: value = absent } = body
  if (typeof value !== 'boolean') throw badField(name, 'must be true or false')
  return value
}

export function choiceIn<Choice extends string>(
  body: Json,
  name: string,
  choices: readonly Choice[],
  rule = `must be one of ${choices.join(', ')}`,
): Choice | undefined {
  const choice = choices.find(each => each === body[name])
  if (choice !== undefined || body[name] === undefined) return choice
  throw badField(name, rule)
}

export function trueIn(body: Json, name: string): boolean {
  const value = body[name]
  if (value !== undefined && value !== true) throw badField(name, 'must be true')
  return value === true
}

export function integerIn(
  body: Json,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = body[name]
  if (value === undefined || isWhole(value, least, most)) return value
  throw badField(name, `must be a whole number from ${least} to ${most}`)
}
