import { submittedCard } from '../../../pay/card.ts'
import type { RequestToJudge } from '../../record/exchange.ts'
import type { RequestFacts } from './rule.ts'

/** Reads what the rules look at from a request. */
export function factsOf({ query, body, ...rest }: RequestToJudge): RequestFacts {
  return { ...rest, query: new URLSearchParams(query), body: fieldsOf(rest.headers, body) }
}

function fieldsOf(
  headers: RequestFacts['headers'],
  body: RequestToJudge['body'],
): RequestFacts['body'] {
  if (body === undefined || body.length === 0) return {}
  const text = body.toString()
  if (isForm(headers)) return Object.fromEntries(new URLSearchParams(text))
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}

export const isForm = (headers: RequestFacts['headers']): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')

/** The texts in a JSON value, the names of its fields included. It may be nested deeper than functions can call. */
export function textsIn(value: unknown): string[] {
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

/** MM/YY is over when its month is. */
export function isExpired(expiry_date: string, at: number): boolean {
  const [month = NaN, year = NaN] = expiry_date.split('/').map(Number)
  return Date.UTC(2000 + year, month, 1) <= at
}
