import { createDigestSearch, type Digest } from './digests.ts'
import { AS_IS, type Variant } from './variants.ts'

/** How a signature was made: of which body, with which key, and how it was computed and written. */
export type Found = { body: Variant<Buffer>; key: Variant<Buffer>; digest: Digest }

/** Bytes of bodies that are hashed for pairs of a wrong body and a wrong key: some 50 ms. */
const MOST_FOR_PAIRS = 16 * 1024 * 1024

export const isWrong = ({ cause }: { cause: string }): boolean => cause !== AS_IS

/**
 * The combination with the fewest mistakes whose signature is `text`; the first of equal ones. Body and key are not
 * both changed where that would take long.
 */
export function find(
  text: string,
  bodies: readonly Variant<Buffer>[],
  keys: readonly Variant<Buffer>[],
): Found | undefined {
  const bytes = bodies.reduce((sum, { value }) => sum + value.length, 0)
  const most = bytes * keys.length > MOST_FOR_PAIRS ? 1 : 2
  const digestOf = createDigestSearch(text)
  let best: (Found & { mistakes: number }) | undefined
  // Most have made one mistake, so what differs in one is tried before hundreds of pairs.
  for (let differing = 0; differing <= most; differing++) {
    if (best && best.mistakes <= differing) break
    for (const body of bodies)
      for (const key of keys) {
        if (Number(isWrong(body)) + Number(isWrong(key)) !== differing) continue
        if (best && best.mistakes <= differing) continue
        const digest = digestOf(body.value, key.value, differing === 2)
        if (!digest) continue
        const mistakes = differing + Number(isWrong(digest))
        if (!best || mistakes < best.mistakes) best = { body, key, digest, mistakes }
      }
  }
  return best
}
