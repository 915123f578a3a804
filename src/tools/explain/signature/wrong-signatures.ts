/** The signatures that code with one known mistake computes of a message. */
import { isWrong } from './advice.ts'
import { signatureOf, wrongDigests } from './digests.ts'
import type { KnownSignatures, Recipe } from './known-signatures.ts'
import { type Mistake, mistakesOfSignature } from './mistakes.ts'

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
  'key:other-webhook',
  'digest:base64',
  'digest:upper',
  'body:printed-pretty-2',
  'body:printed-python',
  'key:newline',
  'body:latin-1',
  'body:printed-php',
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

/**
 * Those with one mistake, the likeliest first; before them the keys of other webhooks, in their order. Without those whose
 * signature is right, such as reading plain ASCII as Latin-1.
 */
export function wrongSignatures(
  { body, key, owner }: Truth,
  { ways }: KnownSignatures,
): WrongSignature[] {
  const right = signatureOf(body, key)
  const rightWay = ways.get(right)
  if (!rightWay) throw new Error('the signature without a mistake is among those that are known')
  const all = [
    ...ways,
    ...wrongDigests(body, key).map(
      ({ text, ...digest }) => [text, { ...rightWay, digest }] as const,
    ),
  ]
  return all
    .flatMap(([text, way]) => {
      const mistakes = mistakesIn(way, owner)
      return mistakes.length === 1
        ? mistakes.map(each => ({ ...each, text, short: shortOf(way) }))
        : []
    })
    .sort((a, b) => rankOf(a) - rankOf(b))
}

function shortOf({ body, key, digest }: Recipe): string {
  if (isWrong(body)) return `the body ${body.words}`
  return isWrong(key) ? `the key ${key.words}` : `the signature ${digest.words}`
}

/** The mistakes of a receiver that computes such a signature. */
export const mistakesIn = (recipe: Recipe, owner: string): Mistake[] =>
  mistakesOfSignature(recipe, { subject: 'what it computes', owner, except: [] })

function rankOf({ cause }: Mistake): number {
  const rank = likeliest.indexOf(cause)
  return rank === -1 ? likeliest.length : rank
}
