/** The signatures that code with one known mistake computes for a message. */
import { signature } from '../../../pay/webhooks/webhook.ts'
import { isWrong } from './advice.ts'
import { wrongDigests } from './digests.ts'
import type { KnownSignatures, Recipe } from './known-signatures.ts'
import { type Mistake, mistakesOfSignature } from './mistakes.ts'

/** The right body and key, and the name of the webhook that has the key. */
export type Truth = { body: Buffer; key: Buffer; owner: string }

export type WrongSignature = ReturnType<typeof wrongSignatures>[number]

/**
 * Signatures with one mistake. First the keys of other webhooks, in order, then in turn the likeliest mistakes with the
 * key, the digest and the body. Leaves out mistakes without an effect, such as plain ASCII read as Latin-1. `text`: the
 * value of the header Pay-Signature. `short`: the mistake in short, such as `the key with a newline at its end`.
 */
export function wrongSignatures({ body, key, owner }: Truth, { ways }: KnownSignatures) {
  const rightWay = ways.get(signature(body, key))
  if (!rightWay) throw new Error('the signature without a mistake is among those that are known')
  const all: [string, Recipe][] = [...ways]
  for (const { text, ...digest } of wrongDigests(body, key))
    all.push([text, { ...rightWay, digest }])
  const wrong = all.flatMap(([text, recipe]) => {
    const [mistake, ...more] = mistakesIn(recipe, owner)
    return mistake && more.length === 0 ? [{ ...mistake, text, short: shortOf(recipe) }] : []
  })
  const ofPart = (part: RegExp) => wrong.filter(({ cause }) => part.test(cause))
  const parts = [ofPart(/^key:(?!other-webhook)/), ofPart(/^digest:/), ofPart(/^body:/)]
  return [
    ...ofPart(/^key:other-webhook/),
    ...wrong.flatMap((_, place) => parts.flatMap(part => part.slice(place, place + 1))),
  ]
}

function shortOf({ body, key, digest }: Recipe): string {
  if (isWrong(body)) return `the body ${body.words}`
  return isWrong(key) ? `the key ${key.words}` : `the signature ${digest.words}`
}

/** The mistakes of a receiver that computes this signature. */
export const mistakesIn = (recipe: Recipe, owner: string): Mistake[] =>
  mistakesOfSignature(recipe, { subject: 'what it computes', owner, except: [] })
