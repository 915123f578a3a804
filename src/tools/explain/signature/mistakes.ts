import type { Pause } from '../../../core/turns.ts'
import { signature } from '../../../pay/webhooks/webhook.ts'
import {
  type Advice,
  apiKey,
  isWrong,
  otherKey,
  rawBody,
  theDigest,
  type Variant,
  type Way,
} from './advice.ts'
import { bodyVariants } from './bodies.ts'
import { isApiKey, keyVariants, PREFIX } from './keys.ts'
import type { Recipe } from './known-signatures.ts'
import type { Analysis, NamedKey, SentMessage } from './question.ts'

export type Mistake = {
  /** Stable, for programs: `body:newline`, `key:other-webhook`, `digest:base64`. */
  cause: string
  words: string
  advice: readonly Advice[]
  /** Identifiers of the messages that the mistake concerns. */
  messages?: string[]
  /** Further sentences. */
  more?: readonly string[]
  /** The right key, if the receiver most likely has another one. */
  keyToCompare?: Pick<SentMessage, 'webhook' | 'signing_key'>
}

/** A value that the user entered, and the right one. */
type Comparison = { input: Buffer; right: Buffer }

export const mistakeOfBody = async (compared: Comparison, pause: Pause): Promise<Mistake> =>
  (await mistakeOf('body', compared, bodyVariants, pause)) ?? {
    cause: 'body:unknown',
    words: 'the body given is not that of the message',
    advice: [rawBody],
  }

/** The mistake in a key that differs from the true key. `owner` is the name of the webhook with the true key. */
export async function mistakeOfKey(
  compared: Comparison,
  keys: readonly NamedKey[],
  owner: string | undefined,
  pause: Pause,
): Promise<Mistake> {
  if (isApiKey(compared.input.toString())) {
    const words = `the key given is an API key, which signs nothing${signedWith(owner)}`
    return { cause: 'key:api-key', words, advice: [apiKey] }
  }
  const found = await mistakeOf('key', compared, bytes => keyVariants(bytes, { keys }), pause)
  const words = `the key given is not that of ${owner ?? 'the message'}`
  if (!found) return { cause: 'key:unknown', words, advice: [otherKey] }
  const needed = found.cause === 'key:other-webhook' ? signedWith(owner) : ''
  return { ...found, words: found.words + needed }
}

const signedWith = (owner: string | undefined): string =>
  owner === undefined ? '' : `, and the message is signed with the key of ${owner}`

/** Whether the input is a variant of the right value, or the reverse. */
async function mistakeOf(
  part: 'body' | 'key',
  { input, right }: Comparison,
  variantsOf: (value: Buffer) => Iterable<Variant>,
  pause: Pause,
): Promise<Mistake | undefined> {
  const [what, name] = [`the ${part} given`, part === 'body' ? 'the message' : 'the signing key']
  for (const [from, to, is, not] of [
    [right, input, `${what} is ${name}`, ''],
    [input, right, `${name} is ${what}`, 'not-'],
  ] as const)
    for (const { value, cause, words, advice } of variantsOf(from)) {
      if (value?.equals(to))
        return { cause: `${part}:${not}${cause}`, words: `${is} ${words}`, advice: [advice] }
      await pause()
    }
  return undefined
}

/**
 * The mistakes of a signature, without the causes `except`. `subject` names the signature, and `owner` the webhook with
 * whose key it should be made.
 */
export function mistakesOfSignature(
  { body, key, digest }: Recipe,
  { subject, owner, except }: { subject: string; owner: string | undefined; except: string[] },
): Mistake[] {
  const needed = key.cause === 'other-webhook' ? signedWith(owner) : ''
  const parts: [part: string, variant: Pick<Way, 'cause' | 'advice'>, words: string][] = [
    ['body', body, `is made of the body ${body.words}`],
    ['key', key, `is made with the key ${key.words}${needed}`],
    ['digest', { ...digest, advice: theDigest }, `is the signature ${digest.words}`],
  ]
  return parts
    .filter(([part, { cause }]) => isWrong({ cause }) && !except.includes(`${part}:${cause}`))
    .map(([part, { cause, advice }, words], i) => ({
      cause: `${part}:${cause}`,
      words: `${i === 0 ? subject : 'it'} ${words}`,
      advice: [advice],
    }))
}

export const HEADER = 'the header'
export const COMPUTED = 'what your code computed'

export const inWords = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

export const match = (sentence: string): Analysis => ({
  verdict: 'match',
  sentence,
  causes: [],
  advice: [],
})

/** `start` begins the sentence, which names the mistakes; `end` follows it. */
export function mismatch(mistakes: readonly Mistake[], start: string, end = ''): Analysis {
  const sentences = [
    `${start}${inWords(mistakes.map(({ words }) => words))}.`,
    ...mistakes.flatMap(({ more = [] }) => more),
    end,
  ]
  const messages = mistakes.flatMap(mistake => mistake.messages ?? [])
  const keyToCompare = mistakes.find(mistake => mistake.keyToCompare)?.keyToCompare
  return {
    verdict: 'mismatch',
    sentence: sentences.filter(text => text !== '').join(' '),
    causes: mistakes.map(({ cause }) => cause),
    advice: [...new Set(mistakes.flatMap(({ advice }) => advice))],
    ...(messages.length > 0 && { messages }),
    ...(keyToCompare && { keyToCompare }),
  }
}

/** The consequences of a signature that no known mistake explains: what is likely, in a sentence, and what to do. */
export type Follows = Pick<Mistake, 'advice' | 'keyToCompare'> & { likely: string }

const TOO_MANY = 'Not all combinations of mistakes were tried, because the body is large.'

/** A signature that no known mistake explains: it may belong to one of these messages, or be no signature. */
export function unexplained(
  subject: string,
  text: string,
  { messages, isPartial }: { messages: readonly SentMessage[]; isPartial: boolean },
  { likely, ...follows }: Follows,
): Mistake {
  const owners = messages.filter(({ body, signing_key }) => text === signature(body, signing_key))
  const [owner] = owners
  const is = (cause: string, words: string, ...advice: Advice[]): Mistake => ({
    cause,
    words: `${subject} is ${words}`,
    advice,
  })
  if (owner)
    return {
      ...is('other-message', `the signature of another message, to ${owner.webhook}`),
      messages: owners.map(({ message_id }) => message_id),
    }
  if (text.startsWith(PREFIX)) return is('digest:key', 'no signature: this is a key', theDigest)
  if (isApiKey(text)) return is('digest:api-key', 'no signature: this is an API key', apiKey)
  if (!/^[0-9a-f]{64}$/i.test(text))
    return is(
      'digest:unknown',
      'not 64 hexadecimal digits, and no known mistake explains it',
      theDigest,
    )
  const words = `no known mistake explains ${subject}`
  return { cause: 'unknown', words, more: [isPartial ? TOO_MANY : '', likely], ...follows }
}

/** Shows only as much of a signing key as a comparison needs. */
export const likelyOtherKey = (key: string, webhook: string): string =>
  `Most likely your receiver has another signing key. That of ${webhook} has ${key.length} characters and ends with ${key.slice(-4)}: let your receiver print the length and the last four characters of the key that it reads.`
