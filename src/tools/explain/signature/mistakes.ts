import type { Pause } from '../../../core/turns.ts'
import { type Advice, apiKey, otherKey, rawBody, theDigest } from './advice.ts'
import { bodyVariants } from './bodies.ts'
import { isApiKey, keyVariants, type NamedKey, noKeys } from './keys.ts'
import type { Found } from './known-signatures.ts'
import { isWrong, type Variant, type Way } from './variants.ts'

export type Mistake = {
  /** Stable, for programs: `body:newline`, `key:other-webhook`, `digest:base64`. */
  cause: string
  words: string
  /** The changes to make. */
  advice: readonly Advice[]
  /** Identifiers of the messages that it concerns. */
  messages?: string[]
  /** Sentences that follow. */
  more?: readonly string[]
  /** Most likely the receiver has another key. */
  isOfKey?: true
}

/** The mistake in a body that differs from the true one. */
export async function mistakeOfBody(body: Buffer, truth: Buffer, pause: Pause): Promise<Mistake> {
  const known = await firstEqual(bodyVariants(truth), body, pause)
  if (known) return named('body', known, `the body given is the message ${known.words}`)
  const back = await firstEqual(bodyVariants(body), truth, pause)
  if (back) return named('body:not', back, `the message is the body given ${back.words}`, '-')
  return {
    cause: 'body:unknown',
    words: 'the body given is not that of the message',
    advice: [rawBody],
  }
}

async function firstEqual(
  variants: Iterable<Variant>,
  to: Buffer,
  pause: Pause,
): Promise<Variant | undefined> {
  for (const variant of variants) {
    if (variant.value?.equals(to)) return variant
    await pause()
  }
  return undefined
}

/** The mistake in a key that differs from the true one. `owner` is the name of the webhook with the true one. */
export function mistakeOfKey(
  key: Buffer,
  truth: Buffer,
  webhooks: readonly NamedKey[],
  owner: string | undefined,
): Mistake {
  const needed = owner === undefined ? '' : `, and the message is signed with the key of ${owner}`
  if (isApiKey(key.toString()))
    return {
      cause: 'key:api-key',
      words: `the key given is an API key, which signs nothing${needed}`,
      advice: [apiKey],
    }
  const equal = (to: Buffer) => (variant: Variant) => variant.value?.equals(to)
  const known = keyVariants(truth, { webhooks, api: [] }).find(equal(key))
  if (known?.cause === 'other-webhook')
    return named('key', known, `the key given is that ${known.words}${needed}`)
  if (known) return named('key', known, `the key given is the signing key ${known.words}`)
  const back = keyVariants(key, noKeys).find(equal(truth))
  if (back) return named('key:not', back, `the signing key is the key given ${back.words}`, '-')
  return {
    cause: 'key:unknown',
    words: `the key given is not that of ${owner ?? 'the message'}`,
    advice: [otherKey],
  }
}

/**
 * How a signature was made wrongly, but for the causes that are known already. `subject` names the signature, and
 * `owner` the webhook whose key it should be made with.
 */
export function mistakesOfSignature(
  { body, key, digest }: Found,
  {
    subject,
    owner,
    known,
  }: { subject: string; owner: string | undefined; known: readonly string[] },
): Mistake[] {
  const needed =
    key.cause === 'other-webhook' && owner !== undefined
      ? `, and the message is signed with the key of ${owner}`
      : ''
  const parts: [part: string, variant: Pick<Way, 'cause' | 'advice'>, words: string][] = [
    ['body', body, `is made of the body ${body.words}`],
    ['key', key, `is made with the key ${key.words}${needed}`],
    ['digest', { ...digest, advice: theDigest }, `is the signature ${digest.words}`],
  ]
  return parts
    .filter(([, variant]) => isWrong(variant))
    .map(([part, variant, words]) => named(part, variant, words))
    .filter(
      ({ cause }) => !known.includes(cause) && cause !== 'body:given' && cause !== 'key:given',
    )
    .map((mistake, i) => ({ ...mistake, words: `${i === 0 ? subject : 'it'} ${mistake.words}` }))
}

function named(
  part: string,
  { cause, advice }: Pick<Way, 'cause' | 'advice'>,
  words: string,
  separator = ':',
): Mistake {
  return { cause: `${part}${separator}${cause}`, words, advice: [advice] }
}
