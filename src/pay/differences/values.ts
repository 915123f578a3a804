/** Values that GOV.UK Pay accepts, refuses or prints as null. */
import { HOUR } from '../../core/time.ts'

/** The texts in a JSON value, with the names of its fields. Not recursive: it can be nested too deep for the stack. */
export function textsIn(value: unknown): string[] {
  const left = [value]
  for (const part of left)
    if (typeof part === 'object' && part !== null)
      for (const item of Array.isArray(part) ? part : Object.entries(part)) left.push(item)
  return left.filter(part => typeof part === 'string')
}

/** A weight of 0 excludes a media type. */
export const takesJson = (accept = ''): boolean =>
  accept.trim() === '' ||
  accept
    .split(',')
    .some(
      range =>
        /^\s*(?:\*\/\*|application\/\*|application\/json)\s*(?:;|$)/i.test(range) &&
        !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range),
    )

export const isJsonType = (type = ''): boolean => /^application\/json\s*(?:;|$)/i.test(type)

/** The Luhn check. */
export const hasCheckDigit = (number: string): boolean =>
  [...number].reverse().reduce((sum, character, place) => {
    const digit = Number(character) * (place % 2 === 0 ? 1 : 2)
    return sum + (digit > 9 ? digit - 9 : digit)
  }, 0) %
    10 ===
  0

/** A date MM/YY is over 12 hours after the end of its month. `now` in milliseconds. */
export function isExpired(expiry_date: string, now: number): boolean {
  const [month = NaN, year = NaN] = expiry_date.split('/').map(Number)
  return Date.UTC(2000 + year, month, 1) + 12 * HOUR <= now
}

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const LARGEST_INTEGER = 2_147_483_647

/** The integer that the library of GOV.UK Pay reads from a JSON value: 0 for a value that is no number. */
export function asInteger(value: unknown): number {
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'boolean') return Number(value)
  const text = typeof value === 'string' ? value.trim() : ''
  if (INTEGER.test(text)) return Math.abs(Number(text)) > LARGEST_INTEGER ? 0 : Number(text)
  return DECIMAL.test(text) ? Math.trunc(Number(text)) : 0
}

/** Whether a text of the request could have <, >, |, " or \. In JSON " and \ have a backslash, as has \u003c for <. */
export const mayHold = ({ query, text }: { query: URLSearchParams; text: string }): boolean =>
  query.size > 0 || /[<>|\\%]/.test(text)

/** resource_type of a message: see `messageHead`. */
export const typeOfResource = { specification: 'payment', 'govuk-pay': 'PAYMENT' } as const

/** The fields of card_details that GOV.UK Pay always prints, as null if they are not known. */
export const cardFields = [
  'last_digits_card_number',
  'first_digits_card_number',
  'cardholder_name',
  'expiry_date',
  'billing_address',
  'card_brand',
  'card_type',
] as const

export const withNulls = <Name extends string>(
  names: readonly Name[],
  known: Partial<Record<Name, unknown>>,
) => Object.fromEntries(names.map(name => [name, known[name] ?? null]))

/** Finds scheme and host of the hosted pages in a response. */
const PAYMENT_PAGE = /"next_url":\{"href":"(https?:\/\/(?:\[[^\]"]*\]|[^/:"]+))/

/**
 * Whether return_url is at the host of the payment's pages. A browser then sends it every cookie, whatever the port.
 * Other hosts of its domain are the same site too, but only a list of all public suffixes tells which hosts those are.
 */
export function isOfPages({ return_url }: { return_url?: unknown }, response: string): boolean {
  const site = PAYMENT_PAGE.exec(response)?.[1]
  if (site === undefined || typeof return_url !== 'string') return false
  const isSite = return_url.slice(0, site.length).toLowerCase() === site
  return isSite && /^(?:[:/?#]|$)/.test(return_url.slice(site.length))
}
