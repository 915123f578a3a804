/** Readers of arguments and options. */

import { parseAddress } from '../app/settings.ts'
import { nearestOf } from '../core/nearest.ts'
import { fromText, type Reader } from '../core/values.ts'
import { wrongUsage } from './command-error.ts'

export function didYouMean(word: string, words: readonly string[]): string {
  const nearest = nearestOf(word, words)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

/** Reads an option. If only certain words are allowed, its error names the most similar word. */
export const option =
  <Read>(value: Reader<Read> & { schema: { enum?: readonly string[] } }) =>
  (text: string): Read => {
    const read = fromText(value, text)
    if (read !== undefined) return read
    throw wrongUsage(`It must be ${value.rule}.${didYouMean(text, value.schema.enum ?? [])}`)
  }

export function parseUrl(text: string): string {
  const url = parseAddress(text)
  if (typeof url === 'string') return url
  throw wrongUsage(`It ${url?.message.trim() ?? 'must be an http or https address'}.`)
}
