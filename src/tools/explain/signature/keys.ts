import { inDigits } from '../../../core/money.ts'
import { type Advice, AS_IS, apiKey, missingKey, otherKey, theKey, type Variant } from './advice.ts'
import type { Input, NamedKey } from './question.ts'

export const PREFIX = 'webhook_test_'

/** The keys of the other webhooks. These may have the same name as the webhook with the key `own`. */
export const otherKeys = (keys: readonly NamedKey[], own: string, owner?: string): NamedKey[] =>
  keys
    .filter(({ key }) => key !== own)
    .map(({ name, key }) => ({
      key,
      name: name === owner ? `another webhook that is named ${name} too` : name,
    }))

/** The form of Farthing's signing keys. */
export const isSigningKey = (key: string): boolean => /^webhook_test_[0-9a-v]{26}$/.test(key)

/** The most bytes of a key that is compared. */
const LONGEST_KEY = 1_024

/** The reason why a key is not compared, as a sentence; undefined if it is. */
export const keyProblem = (key: string): string | undefined =>
  Buffer.byteLength(key) > LONGEST_KEY
    ? `The key has more than ${inDigits(LONGEST_KEY)} bytes: a signing key has 39`
    : undefined

/** The form of the API keys of GOV.UK Pay. Farthing's API keys may have any form. */
export const isApiKey = (key: string): boolean => /^api_(test|live)_/.test(key)

/** Default advice: theKey. */
type Row = [cause: string, words: string, value: Buffer | string, advice?: Advice]

/**
 * The key unchanged, other keys that are used by mistake, and the key as common mistakes change it, the likeliest
 * first. Of equal keys only the first is kept.
 */
export function keyVariants(
  key: Buffer,
  { keys = [], apiKeys = [] }: Pick<Input, 'keys' | 'apiKeys'> = {},
): Variant[] {
  const text = key.toString('utf8')
  const bare = text.replace(PREFIX, '')
  const rows: Row[] = [
    [AS_IS, 'as it is', key],
    ...keys.map(({ name, key }): Row => ['other-webhook', `of ${name}`, key, otherKey]),
    ...apiKeys.map((key): Row => ['api-key', 'replaced by an API key', key, apiKey]),
    ['newline', 'with a newline at its end', `${text}\n`],
    ['undefined', 'replaced by the word undefined', 'undefined', missingKey],
    ['no-prefix', `without ${PREFIX}`, bare],
    ['empty', 'left empty', '', missingKey],
    ['None', 'replaced by the word None', 'None', missingKey],
    ['quotes', 'with double quotes around it', `"${text}"`],
    ['single-quotes', 'with single quotes around it', `'${text}'`],
    ['space', 'with a space at its end', `${text} `],
    ['crlf', 'with CRLF at its end', `${text}\r\n`],
    ['base64-decoded', 'decoded from base64', Buffer.from(text, 'base64')],
    ['bare-base64-decoded', `decoded from base64 without ${PREFIX}`, Buffer.from(bare, 'base64')],
    ['hex-decoded', 'decoded from hexadecimal', Buffer.from(bare, 'hex')],
    ['prefix', `with ${PREFIX} before it`, PREFIX + text],
    ['upper', 'in upper case', text.toUpperCase()],
    ['lower', 'in lower case', text.toLowerCase()],
    ['no-space', 'without the white space around it', text.trim()],
    ['no-quotes', 'without the quotes around it', text.replace(/^(["'])(.*)\1$/s, '$2')],
  ]
  const variants = rows.map(([cause, words, value, advice = theKey]) => ({
    cause,
    words,
    advice,
    value: Buffer.from(value),
  }))
  const equal = Map.groupBy(variants, ({ value }) => value.toString('latin1')).values()
  return [...equal].flatMap(same => same.slice(0, 1))
}
