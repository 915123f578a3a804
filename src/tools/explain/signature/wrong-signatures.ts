/** The signatures that code with one known mistake computes of a message. */
import { bodyVariants } from './bodies.ts'
import { signatureOf, wrongDigests } from './digests.ts'
import type { Found } from './find.ts'
import { keyVariants, type OtherKeys } from './keys.ts'
import { type Mistake, mistakesOfSignature } from './mistakes.ts'
import { AS_IS } from './variants.ts'

/** A body and a key that are right, and the name of the webhook that has the key. */
export type Truth = { body: Buffer; key: Buffer; owner: string }

export type WrongSignature = Mistake & {
  /** The value of the header Pay-Signature. */
  text: string
  /** What is wrong, in short: `the key with a newline at its end`. */
  short: string
}

/** Causes in the order in which they are tried. The others follow. */
const likeliest = [
  'digest:base64',
  'digest:upper',
  'body:printed-pretty-2',
  'body:printed-python',
  'key:newline',
  'body:latin-1',
  'body:printed-php',
  'key:other-webhook',
  'body:empty',
  'body:object',
  'key:undefined',
  'key:no-prefix',
  'body:newline',
  'body:printed-ascii',
  'body:printed-html',
  'body:printed-php-array',
  'body:printed-php-unicode',
  'body:printed-python-unicode',
  'body:printed-sorted',
  'body:string',
  'body:resource',
  'digest:prefixed',
  'digest:no-key',
  'digest:sha1',
  'digest:sha512',
  'digest:plain',
  'key:empty',
  'key:None',
  'key:quotes',
  'key:single-quotes',
  'key:space',
  'key:crlf',
  'key:api-key',
  'body:printed-go',
  'body:printed-gson',
  'body:printed-dotnet',
  'body:in-latin-1',
  'body:python-bytes',
  'key:base64-decoded',
  'key:bare-base64-decoded',
]

/** Keys of other webhooks that are tried, so that they do not displace everything else. */
const MOST_OTHER_KEYS = 5

/**
 * The likeliest mistakes first. Without those whose signature is right, such as reading plain ASCII as Latin-1, or
 * equals another's.
 */
export function wrongSignatures(
  { body, key, owner }: Truth,
  { webhooks, api }: OtherKeys,
): WrongSignature[] {
  const [rightBody, ...bodies] = bodyVariants(body)
  const others = { webhooks: webhooks.slice(0, MOST_OTHER_KEYS), api }
  const [rightKey, ...keys] = keyVariants(key, others)
  if (!rightBody || !rightKey) throw new Error('the variants begin with the value itself')
  const digest = { cause: AS_IS, words: 'as it is' }
  const signed = (found: Omit<Found, 'digest'>, short: string): WrongSignature[] =>
    mistakesIn({ ...found, digest }, owner).map(mistake => ({
      ...mistake,
      short,
      text: signatureOf(found.body.value, found.key.value),
    }))
  const all = [
    ...bodies.flatMap(each => signed({ body: each, key: rightKey }, `the body ${each.words}`)),
    ...keys.flatMap(each => signed({ body: rightBody, key: each }, `the key ${each.words}`)),
    ...wrongDigests(body, key).flatMap(({ text, ...written }) =>
      mistakesIn({ body: rightBody, key: rightKey, digest: written }, owner).map(mistake => ({
        ...mistake,
        short: `the signature ${written.words}`,
        text,
      })),
    ),
  ]
  const seen = new Set([signatureOf(body, key)])
  return all
    .sort((a, b) => rankOf(a) - rankOf(b))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
}

/** The mistakes of a receiver that computes such a signature. */
export const mistakesIn = (found: Found, owner: string): Mistake[] =>
  mistakesOfSignature(found, { subject: 'what it computes', owner, known: [] })

function rankOf({ cause }: Mistake): number {
  const rank = likeliest.indexOf(cause)
  return rank === -1 ? likeliest.length : rank
}
