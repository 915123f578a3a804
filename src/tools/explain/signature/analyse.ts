/**
 * Explains why a signature does not match: it tries the common mistakes with the body, the key and the signature,
 * alone and together, and names the nearest. It stores none of its input.
 */
import { inSlices } from '../../../core/slices.ts'
import type { Advice } from './advice.ts'
import { compareGiven } from './compare-given.ts'
import { compareWithMessage } from './compare-with-message.ts'
import type { Difference } from './difference.ts'
import { signatureOf } from './digests.ts'
import type { NamedKey } from './keys.ts'

/** A message as it was sent. */
export type SentMessage = {
  message_id: string
  body: Buffer
  signing_key: string
  /** The name of its webhook for the user. */
  webhook: string
}

/** What somebody has, and what it may be compared with. */
export type Given = {
  /** The header Pay-Signature as the receiver got it. */
  header?: string | undefined
  /** The signature that the receiver's code computed. */
  computed?: string | undefined
  /** The bytes whose signature was checked. */
  body?: Buffer | undefined
  /** As the receiver has it, never trimmed. */
  key?: string | undefined
  /** The body was typed into a form, which turns each LF into CRLF. */
  typed?: boolean | undefined
  /** The signing keys of the account. */
  keys?: readonly NamedKey[] | undefined
  /** API keys of the account, which a receiver may use by mistake. */
  apiKeys?: readonly string[] | undefined
  /** Other messages that a signature may belong to. */
  messages?: readonly SentMessage[] | undefined
}

export type BodyAndKey = { body: Buffer; key: string }

/** With a message, body and key are given only where the receiver may have others. At least one value is given. */
export type Question = Given & ({ message: SentMessage } | (BodyAndKey & { message?: undefined }))

/** `no-mistake`: no signature was given, and what was given is right. */
export type Verdict = 'match' | 'no-mistake' | 'mismatch'

export type Analysis = {
  verdict: Verdict
  /** The result in one or two sentences. */
  sentence: string
  /** Each mistake that was found, as `body:newline`, `key:other-webhook` or `digest:base64`. */
  causes: string[]
  /** The changes to make. */
  advice: Advice[]
  difference?: Difference
  /** Identifiers of other messages whose signature was given. */
  messages?: string[]
  /** Most likely the receiver has another key than this message's. */
  keyToCompare?: Pick<SentMessage, 'webhook' | 'signing_key'>
}

/** Body and key have passed `bodyProblem` and `keyProblem`. */
export function analyse(given: Question): Promise<Analysis> {
  const question = {
    ...given,
    header: withoutName(given.header),
    computed: withoutName(given.computed),
  }
  return inSlices(async pause => {
    if (question.message) return compareWithMessage(question.message, question, pause)
    const message = messageMeant(question)
    return message ? compareWithMessage(message, question, pause) : compareGiven(question, pause)
  })
}

/** A header that was copied with its name. */
const withoutName = (text: string | undefined): string | undefined =>
  text?.replace(/^\s*pay-signature\s*:\s*/i, '')

/** The known message that has the given body, or the given header. */
function messageMeant({ body, key, header, messages = [] }: Given & BodyAndKey) {
  const withBody = messages.filter(message => message.body.equals(body))
  return (
    withBody.find(({ signing_key }) => signing_key === key) ??
    withBody.find(message => isSignatureOf(message, header)) ??
    (withBody.length === 1 ? withBody[0] : undefined) ??
    messages.find(message => isSignatureOf(message, header))
  )
}

const isSignatureOf = ({ body, signing_key }: SentMessage, text: string | undefined): boolean =>
  text === signatureOf(body, Buffer.from(signing_key))
