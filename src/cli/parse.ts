/** Readers of arguments and options. */

import { parseAddress } from '../app/settings.ts'
import { isAccountName } from '../core/account.ts'
import { nearestOf } from '../core/nearest.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../core/time.ts'
import { wrongUsage } from './command-error.ts'

/** `unit` has a colon at its end. */
export const numberFrom =
  (least: number, most: number, unit = '') =>
  (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw wrongUsage(`It must be ${unit}a number from ${least} to ${most}.`)
  }

export function didYouMean(word: string, words: readonly string[]): string {
  const nearest = nearestOf(word, words)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

export const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): Value => {
    const found = values.find(value => value === text)
    if (found !== undefined) return found
    throw wrongUsage(`It must be one of ${values.join(', ')}.${didYouMean(text, values)}`)
  }

export function parseUrl(text: string): string {
  const url = parseAddress(text)
  if (typeof url === 'string') return url
  throw wrongUsage(`It ${url?.message.trim() ?? 'must be an http or https address'}.`)
}

export function parseAccount(name: string): string {
  if (isAccountName(name)) return name
  throw wrongUsage('It must be 1 to 64 letters, digits, spaces, dots, hyphens or underscores.')
}

const UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }

/** Milliseconds. */
export function parseAge(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = UNITS[unit]
  if (ms !== undefined) return Number(count) * ms
  throw wrongUsage('It must be a number with s, m, h or d, such as 10m.')
}
