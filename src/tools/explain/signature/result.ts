import type { Advice } from './advice.ts'
import { apiKey, theDigest } from './advice.ts'
import { signatureOf } from './digests.ts'
import { isApiKey, PREFIX } from './keys.ts'
import type { Mistake } from './mistakes.ts'
import type { Analysis, SentMessage } from './question.ts'

export const HEADER = 'the header'
export const COMPUTED = 'what your code computed'

/** The body of a form, whose lines the browser ended with CRLF. */
export const withoutCarriageReturns = (body: Buffer): Buffer =>
  Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')

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
  const more = mistakes.flatMap(({ more = [] }) => more)
  return {
    verdict: 'mismatch',
    sentence: [`${start}${inWords(mistakes.map(({ words }) => words))}.`, ...more, end]
      .filter(each => each !== '')
      .join(' '),
    causes: mistakes.map(({ cause }) => cause),
    advice: [...new Set(mistakes.flatMap(({ advice }) => advice))],
    ...ofOthers(mistakes.flatMap(({ messages = [] }) => messages)),
  }
}

const ofOthers = (messages: string[]) => messages.length > 0 && { messages }

/** What follows where no known mistake explains a signature. */
export type Unexplained = {
  /** Other messages that a signature may belong to. */
  messages: readonly SentMessage[]
  isPartial: boolean
  /** What is likely, in a sentence. */
  likely: string
  advice: readonly Advice[]
  /** Most likely the receiver has another key. */
  isOfKey?: true
}

const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text)

const TOO_MANY = 'Not all combinations of mistakes were tried, because the body is large.'

/** A signature that no known mistake explains. It may be that of another message, or no signature. */
export function unexplained(
  subject: string,
  text: string,
  { messages, isPartial, likely, advice, isOfKey }: Unexplained,
): Mistake {
  const owners = messages.filter(
    ({ body, signing_key }) => text === signatureOf(body, Buffer.from(signing_key)),
  )
  const [owner] = owners
  if (owner)
    return {
      cause: 'other-message',
      words: `${subject} is the signature of another message, to ${owner.webhook}`,
      advice: [],
      messages: owners.map(({ message_id }) => message_id),
    }
  if (text.startsWith(PREFIX))
    return {
      cause: 'digest:key',
      words: `${subject} is no signature: this is a key`,
      advice: [theDigest],
    }
  if (isApiKey(text))
    return {
      cause: 'digest:api-key',
      words: `${subject} is no signature: this is an API key`,
      advice: [apiKey],
    }
  if (!isDigest(text))
    return {
      cause: 'digest:unknown',
      words: `${subject} is not 64 hexadecimal digits, and no known mistake explains it`,
      advice: [theDigest],
    }
  return {
    cause: 'unknown',
    words: `no known mistake explains ${subject}`,
    advice,
    more: [...(isPartial ? [TOO_MANY] : []), ...(likely === '' ? [] : [likely])],
    ...(isOfKey && { isOfKey }),
  }
}

/** Says of a signing key as much as is needed to compare it, and no more. */
export const likelyOtherKey = (key: string, webhook: string): string =>
  `Most likely your receiver has another signing key. That of ${webhook} has ${key.length} characters and ends with ${key.slice(-4)}: let your receiver print the length and the last four characters of the key that it reads.`
