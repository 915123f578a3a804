import type { Advice } from './advice.ts'
import type { Analysis, SentMessage } from './analyse.ts'
import { signatureOf } from './digests.ts'
import type { Mistake } from './mistakes.ts'

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
  return {
    verdict: 'mismatch',
    sentence: `${start}${inWords(mistakes.map(({ words }) => words))}.${end}`,
    causes: mistakes.map(({ cause }) => cause),
    advice: [...new Set(mistakes.flatMap(({ advice }) => advice))],
    ...ofOthers(mistakes.flatMap(({ messages = [] }) => messages)),
  }
}

const ofOthers = (messages: string[]) => messages.length > 0 && { messages }

/** A signature that no known mistake explains. It may be that of another message. */
export function unexplained(
  subject: string,
  text: string,
  messages: readonly SentMessage[],
  advice: readonly Advice[],
): Mistake {
  const owners = messages.filter(
    ({ body, signing_key }) => text === signatureOf(body, Buffer.from(signing_key)),
  )
  const [owner] = owners
  if (!owner) return { cause: 'unknown', words: `no known mistake explains ${subject}`, advice }
  return {
    cause: 'other-message',
    words: `${subject} is the signature of another message, to ${owner.webhook}`,
    advice: [],
    messages: owners.map(({ message_id }) => message_id),
  }
}
