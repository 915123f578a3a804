/** A question about a signature, and its answer. */
import type { Advice } from './advice.ts'

/** A signing key of the account, and the webhook that has it. */
export type NamedKey = { name: string; key: string }

export type SentMessage = {
  message_id: string
  body: Buffer
  signing_key: string
  /** The name of its webhook for the user. */
  webhook: string
}

/** The values that a user has, and others to compare them with. */
export type Input = {
  /** The header Pay-Signature as the receiver got it. */
  header?: string | undefined
  /** The signature that the receiver's code computed. */
  computed?: string | undefined
  /** The bytes whose signature was checked. */
  body?: Buffer | undefined
  /** The signing key of the receiver, never trimmed. */
  key?: string | undefined
  /** The body was typed into a form, which turns each LF into CRLF. */
  typed?: boolean | undefined
  keys?: readonly NamedKey[] | undefined
  /** API keys of the account, which a receiver may use by mistake. */
  apiKeys?: readonly string[] | undefined
  /** Other messages that a signature may belong to. */
  messages?: readonly SentMessage[] | undefined
}

export type BodyAndKey = { body: Buffer; key: string }

/** With a message, body and key are needed only if the receiver may have other ones. At least one value is needed. */
export type Question = Input & ({ message: SentMessage } | (BodyAndKey & { message?: undefined }))

export type Analysis = {
  /** `no-mistake`: there was no signature to compare, and the other values are right. */
  verdict: 'match' | 'no-mistake' | 'mismatch'
  /** The result in one or two sentences. */
  sentence: string
  /** Each mistake that was found, as `body:newline`, `key:other-webhook` or `digest:base64`. */
  causes: string[]
  advice: Advice[]
  difference?: Difference
  /** Identifiers of other messages whose signature was entered. */
  messages?: string[]
  /** The key of this message, if the receiver most likely has another one. */
  keyToCompare?: Pick<SentMessage, 'webhook' | 'signing_key'>
}

/** The first byte in which the body differs from that of the message, with up to 8 bytes before and after it. */
export type Difference = ReturnType<typeof differenceOf>

const AROUND = 8

/** The bodies must differ. Their first difference may be the end of one. */
export function differenceOf(sent: Buffer, received: Buffer) {
  let offset = 0
  while (offset < sent.length && sent[offset] === received[offset]) offset += 1
  const excerpt = (bytes: Buffer) => {
    const part = bytes.subarray(Math.max(0, offset - AROUND), offset + AROUND)
    return { hex: part.toString('hex').replace(/..(?=.)/g, '$& '), text: part.toString('utf8') }
  }
  return { offset, sent: excerpt(sent), given: excerpt(received) }
}
