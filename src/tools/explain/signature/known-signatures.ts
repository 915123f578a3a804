/** The signatures of known mistakes, so that any text can be looked up among them. */
import { PAIR_BYTES } from '../../../core/budgets.ts'
import type { Pause } from '../../../core/turns.ts'
import { signature } from '../../../pay/webhooks/webhook.ts'
import { AS_IS, isWrong, type Variant, type Way } from './advice.ts'
import { cutOff, type Digest, inHex, others, rewritten } from './digests.ts'

/** How a signature was made: of which body, with which key, and how it was computed and written. */
export type Recipe = { body: Way; key: Way; digest: Digest }

export type KnownSignatures = Awaited<ReturnType<typeof knownSignatures>>

/**
 * The kinds of signatures that are computed from bodies and keys. `single`: the right digest, of a body and a key of
 * which at most one is wrong. A kind is computed only when the kinds before do not explain a text.
 */
const kinds = ['single', 'other digests', 'both wrong'] as const

const asIs: Digest = { cause: AS_IS, words: 'as it is' }

/** `bodies` makes the bodies anew at each call, one after the other, and keeps none. */
export async function knownSignatures(
  bodies: () => Iterable<Variant>,
  keys: readonly Variant[],
  pause: Pause,
) {
  const single = await waysOf(bodies(), keys, 'single', pause)
  const computed = [single]
  return {
    /** The recipes of the kind `single`, by signature. */
    ways: single.ways,
    /** The way to this text with the fewest mistakes. */
    async find(text: string, pause: Pause): Promise<Recipe | undefined> {
      for (const [i, kind] of kinds.entries()) {
        computed[i] ??= await waysOf(bodies(), keys, kind, pause)
        const recipe = lookUp(computed[i].ways, text)
        if (recipe) return recipe
      }
      return undefined
    },
    /** Whether signatures were left out until now, because the body is large. */
    isPartial: () => computed.some(({ isPartial }) => isPartial),
  }
}

async function waysOf(
  bodies: Iterable<Variant>,
  keys: readonly Variant[],
  kind: (typeof kinds)[number],
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
        for (const [cause, words, digest] of others)
          add(digest(body, key), { body: ofBody, key: ofKey, digest: { cause, words } })
      else add(signature(body, key), { body: ofBody, key: ofKey, digest: asIs })
      await pause()
    }
  }
  return { ways, isPartial }
}

const mistakesOf = ({ body, key, digest }: Recipe): number =>
  [body, key, digest].filter(isWrong).length

function lookUp(ways: ReadonlyMap<string, Recipe>, text: string): Recipe | undefined {
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
  const found = recipes.filter(recipe => recipe !== undefined && recipe !== '')
  return found.toSorted((a, b) => mistakesOf(a) - mistakesOf(b))[0]
}

const writtenAs = (recipe: Recipe | undefined, digest: Digest): Recipe | undefined =>
  recipe && !isWrong(recipe.digest) ? { ...recipe, digest } : undefined
