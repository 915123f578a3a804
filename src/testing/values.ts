import { boolean, integer, oneOf as oneOfTexts, type Reader, textUpTo } from '../core/values.ts'
import type { Moment } from './public.d.ts'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?:Z|[+-]\d\d:\d\d)$/

/** A test that holds for right values, and the problem of all others as the end of a sentence. */
export type Rule = readonly [holds: (value: unknown) => boolean, problem: string]

const ruleOf = ({ read, rule }: Reader): Rule => [
  value => read(value) !== undefined,
  `is not ${rule}`,
]

export const duration: Rule = [
  value => Number.isFinite(milliseconds(value)),
  "is not a duration: give milliseconds or text such as '5s' or '7d'",
]
export const moment: Rule = [
  value => Number.isFinite(timeOf(value)),
  'is not a time: give a Date, or ISO 8601 text with seconds and a zone such as 2026-03-29T00:59:58Z',
]
export const anyText: Rule = ruleOf(textUpTo(Infinity))
export const text: Rule = [
  value => typeof value === 'string' && value !== '',
  'is empty or not text',
]

/** The rule for a value that the service, or other code here, checks. */
export const unchecked: Rule = [() => true, '']

export const whole = (least: number, most: number): Rule => ruleOf(integer(least, most))
export const oneOf = (values: readonly string[]): Rule => ruleOf(oneOfTexts(values))
export const flag: Rule = ruleOf(boolean())

/** Throws a TypeError for a value that breaks its rule. `name`: the call and the value, for the message. */
export function check(name: string, value: unknown, [holds, problem]: Rule): void {
  if (!holds(value))
    throw new TypeError(
      `${name}: ${typeof value === 'string' ? `'${value}'` : String(value)} ${problem}`,
    )
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws a TypeError for anything but an object with these names and right values. */
export function checkFields(call: string, input: unknown, rules: Record<string, Rule>): void {
  const names = Object.keys(rules).join(', ')
  check(call, input, [isObject, `is not an object with any of ${names}`])
  for (const [name, value] of Object.entries(input as object)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!rule) throw new TypeError(`${call}: there is no ${name}: use ${names}`)
    check(`${call}: ${name}`, value, rule)
  }
}

/** As `checkFields`. A field that is undefined counts as absent. */
export function checkOptions(call: string, input: unknown, rules: Record<string, Rule>): void {
  const present = isObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
    : input
  checkFields(call, present, rules)
}

export const waitRules: Record<string, Rule> = {
  timeout: duration,
  signal: [
    value => isObject(value) && 'aborted' in value && 'addEventListener' in value,
    'is not an AbortSignal',
  ],
}

/** In milliseconds; NaN for anything that is not a duration. */
export function milliseconds(value: unknown): number {
  if (typeof value === 'number') return value
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(value)) ?? []
  return unit ? Math.round(Number(count) * UNITS[unit as keyof typeof UNITS]) : Number.NaN
}

/** ISO 8601 text for a `moment`. */
export const isoOf = (value: Moment): string => new Date(timeOf(value)).toISOString()

/** NaN for text without a zone, or with a day or an hour that does not exist: `Date.parse` takes it for another. */
function timeOf(value: unknown): number {
  if (typeof value !== 'string') return isDate(value) ? Number(value) : Number.NaN
  const [, local = ''] = TIME.exec(value) ?? []
  const inUtc = new Date(`${local}Z`)
  const exists =
    Number.isFinite(inUtc.getTime()) && inUtc.toISOString().startsWith(local.slice(0, 19))
  return exists ? Date.parse(value) : Number.NaN
}

const isDate = (value: unknown): boolean => isObject(value) && 'getTime' in value
