/** Values that GOV.UK Pay takes, those that it refuses, and those that it prints as null. */
import { HOUR } from '../../core/time.ts'
import { submittedCard } from '../card.ts'

/** The texts in a JSON value, the names of its fields included. It may be nested deeper than functions can call. */
export function textsIn(value: unknown): string[] {
  const left = [value]
  for (const part of left)
    if (typeof part === 'object' && part !== null)
      for (const item of Array.isArray(part) ? part : Object.entries(part)) left.push(item)
  return left.filter(part => typeof part === 'string')
}

/** A weight of 0 takes a media type out. */
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

export const isOfKnownBrand = (number: string): boolean =>
  submittedCard(number, '', '').card_brand !== undefined

/** MM/YY is over half a day after its month. `now` in milliseconds. */
export function isExpired(expiry_date: string, now: number): boolean {
  const [month = NaN, year = NaN] = expiry_date.split('/').map(Number)
  return Date.UTC(2000 + year, month, 1) + 12 * HOUR <= now
}

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const LARGEST_INTEGER = 2_147_483_647

/** A JSON value as the library of GOV.UK Pay reads an integer: 0 for a value that is none. */
export function asInteger(value: unknown): number {
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value === 'boolean') return Number(value)
  const text = typeof value === 'string' ? value.trim() : ''
  if (INTEGER.test(text)) return Math.abs(Number(text)) > LARGEST_INTEGER ? 0 : Number(text)
  return DECIMAL.test(text) ? Math.trunc(Number(text)) : 0
}

/** Whether `textsIn` its fields could have one of <, >, |, " and \. In JSON the last two, and \u003c, have a backslash. */
export const mayHold = ({ query, text }: { query: URLSearchParams; text: string }): boolean =>
  query.size > 0 || /[<>|\\%]/.test(text)

/** resource_type of a message: see `messageHead`. */
export const typeOfResource = { specification: 'payment', 'govuk-pay': 'PAYMENT' } as const

/** The fields of card_details that GOV.UK Pay always prints, null where they are not known. */
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

/** Scheme and host of the pages. */
const PAYMENT_PAGE = /"next_url":\{"href":"(https?:\/\/(?:\[[^\]"]*\]|[^/:"]+))/

/**
 * Whether a browser sends each cookie of a site back there from the payment's pages. Cookies ignore the port, so it may
 * differ. Hosts of one domain are one site too; only a list of all public suffixes tells which.
 */
export function isOfPages({ return_url }: { return_url?: unknown }, response: string): boolean {
  const site = PAYMENT_PAGE.exec(response)?.[1]
  if (site === undefined || typeof return_url !== 'string') return false
  const isSite = return_url.slice(0, site.length).toLowerCase() === site
  return isSite && /^(?:[:/?#]|$)/.test(return_url.slice(site.length))
}
