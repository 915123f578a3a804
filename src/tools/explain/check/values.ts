/** Values that GOV.UK Pay takes and those that it refuses. */
import { HOUR } from '../../../core/time.ts'
import { submittedCard } from '../../../pay/card.ts'

/** Names that nobody can own. .local, .internal, home.arpa, localhost and addresses are not among them. */
const NO_NAME = /\.(?:test|example|invalid|lan|corp|home)\.?$|_/i
const REFUSED_CHARACTERS = /[{}|<>[\]]/
const BEYOND_ASCII = /[^\0-\x7f]/

export function isNoAddress(return_url: unknown): boolean {
  const { host, path, query } = partsOf(return_url)
  if (NO_NAME.test(host)) return true
  return REFUSED_CHARACTERS.test(path + query) || BEYOND_ASCII.test(path) || climbs(path)
}

/** The parts of an address as they are written, which a parser would encode. `query` is without its question mark. */
export function partsOf(url: unknown): { host: string; path: string; query: string } {
  const [, host = '', path = '', query = ''] =
    /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#:]*)[^/?#]*([^?#]*)\??([^#]*)/i.exec(String(url)) ?? []
  return { host, path, query }
}

/** Scheme and host of the pages. */
const PAYMENT_PAGE = /"next_url":\{"href":"(https?:\/\/(?:\[[^\]"]*\]|[^/:"]+))/

/**
 * Whether a browser sends each cookie of a site back there from the pages of the payment. Their ports may differ. Hosts of
 * one domain are one site too; which these are, only a list of all public suffixes tells.
 */
export function isOfPages({ return_url }: { return_url?: unknown }, response: string): boolean {
  const site = PAYMENT_PAGE.exec(response)?.[1]
  if (site === undefined || typeof return_url !== 'string') return false
  const isSite = return_url.slice(0, site.length).toLowerCase() === site
  return isSite && /^(?:[:/?#]|$)/.test(return_url.slice(site.length))
}

/** Above its root, as /../b does and /a/../b does not. */
function climbs(path: string): boolean {
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1
    else if (part !== '' && part !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}

/** In a JSON value a quotation mark, and what is written as \u003c, has a backslash. */
export const hasText = (
  { body, query, text }: { body: unknown; query: URLSearchParams; text: string },
  pattern: RegExp,
): boolean =>
  (query.size > 0 || /[<>|\\%]/.test(text)) &&
  textsIn([body, ...query]).some(each => pattern.test(each))

/** The texts in a JSON value, the names of its fields included. It may be nested deeper than functions can call. */
function textsIn(value: unknown): string[] {
  const left = [value]
  for (const each of left)
    if (typeof each === 'object' && each !== null)
      for (const entry of Object.entries(each)) left.push(...entry)
  return left.filter(each => typeof each === 'string')
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

/** MM/YY is over half a day after its month, on the clock of GOV.UK Pay: an account's clock may have been moved. */
export function isExpired(expiry_date: string, now: number): boolean {
  const [month = NaN, year = NaN] = expiry_date.split('/').map(Number)
  return Date.UTC(2000 + year, month, 1) + 12 * HOUR <= now
}
