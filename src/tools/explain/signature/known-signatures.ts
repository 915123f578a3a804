/** The signatures that known mistakes give, so that any text can be looked up among them. */

import { PAIR_BYTES } from '../../../core/budgets.ts'
import type { Pause } from '../../../core/turns.ts'
import { AS_IS, isWrong, type Variant, type Way } from './advice.ts'
import { cutOff, type Digest, inHex, others, rewritten, signatureOf } from './digests.ts'

/** How a signature was made: of which body, with which key, and how it was computed and written. */
export type Recipe = { body: Way; key: Way; digest: Digest }

/** By the digest in hexadecimal. */
type Ways = ReadonlyMap<string, Recipe>

export type KnownSignatures = Awaited<ReturnType<typeof knownSignatures>>

/** What is computed of a pair of a body and a key. */
type Kind = 'single' | 'other digests' | 'both wrong'

const asIs: Digest = { cause: AS_IS, words: 'as it is' }

/** `bodies` makes them anew, one after the other: none is kept. */
export async function knownSignatures(
  bodies: () => Iterable<Variant>,
  keys: readonly Variant[],
  pause: Pause,
) {
  const made = new Map<Kind, Awaited<ReturnType<typeof waysOf>>>()
  const waysOfKind = async (kind: Kind, pause: Pause) => {
    const all = made.get(kind) ?? (await waysOf(bodies(), keys, kind, pause))
    made.set(kind, all)
    return all.ways
  }
  return {
    /** Made as they should be of a body and a key of which one may be wrong. */
    ways: await waysOfKind('single', pause),
    /**
     * The way to this text with the fewest mistakes. The first that needs another digest, or a wrong body with a wrong key,
     * has to wait for these.
     */
    async find(text: string, pause: Pause): Promise<Recipe | undefined> {
      for (const kind of ['single', 'other digests', 'both wrong'] as const) {
        const recipe = lookUp(await waysOfKind(kind, pause), text)
        if (recipe) return recipe
      }
      return undefined
    },
    /** Whether some were left out until now, because the body is large. */
    isPartial: () => made.values().some(({ isPartial }) => isPartial),
  }
}

async function waysOf(
  bodies: Iterable<Variant>,
  keys: readonly Variant[],
  kind: Kind,
  pause: Pause,
) {
  const ways = new Map<string, Recipe>()
  const add = (hex: string, recipe: Recipe) => void (ways.has(hex) || ways.set(hex, recipe))
  let left = PAIR_BYTES
  let isPartial = false
  for (const { value: body, ...ofBody } of bodies) {
    if (!body) isPartial = true
    for (const { value: key, ...ofKey } of body ? keys : []) {
      const areBothWrong = isWrong(ofBody) && isWrong(ofKey)
      if (!body || !key || areBothWrong !== (kind === 'both wrong')) continue
      if (areBothWrong) left -= body.length
      if (left < 0) return { ways, isPartial: true }
      if (kind === 'other digests')
        for (const { digest, ...other } of others)
          add(digest(body, key), { body: ofBody, key: ofKey, digest: other })
      else add(signatureOf(body, key), { body: ofBody, key: ofKey, digest: asIs })
      await pause()
    }
  }
  return { ways, isPartial }
}

const mistakesOf = ({ body, key, digest }: Recipe): number =>
  [body, key, digest].filter(isWrong).length

function lookUp(ways: Ways, text: string): Recipe | undefined {
  const exact = ways.get(text)
  const other = ways.get(inHex(text))
  const start = exact ? undefined : cutOff(text)
  const whole =
    start && ways.entries().find(([hex, way]) => hex.startsWith(start) && !isWrong(way.digest))
  const recipes = [
    exact,
    ...rewritten(text).map(({ hex, ...digest }) => writtenAs(ways.get(hex), digest)),
    other && isWrong(other.digest) ? other : undefined,
    whole &&
      writtenAs(whole[1], { cause: 'cut-off', words: `cut off after ${start.length} digits` }),
  ]
  return recipes
    .filter(each => each !== undefined && each !== '')
    .toSorted((a, b) => mistakesOf(a) - mistakesOf(b))
    .at(0)
}

const writtenAs = (recipe: Recipe | undefined, digest: Digest): Recipe | undefined =>
  recipe && !isWrong(recipe.digest) ? { ...recipe, digest } : undefined
