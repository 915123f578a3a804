import type { Advice } from './advice.ts'

/** One way in which a body, a key or a signature can be wrong. */
export type Variant<Value> = {
  /** Stable, for programs. */
  cause: string
  /** Completes a sentence that begins with "the body", "the key" or "the signature". */
  words: string
  /** What to change. */
  advice: Advice
  value: Value
}

/** The cause, the words and the value, which is undefined where the mistake is not possible. */
export type Given = [cause: string, words: string, value: Buffer | string | undefined]

/** The cause of a variant without a mistake. */
export const AS_IS = 'as-is'

/** Mistakes that the same change mends. */
export const withAdvice = (advice: Advice, given: readonly Given[]): Variant<Buffer>[] =>
  given.flatMap(([cause, words, value]) =>
    value === undefined ? [] : [{ cause, words, advice, value: Buffer.from(value) }],
  )

/** Of variants with equal values, keeps the first. */
export function distinct(given: readonly Variant<Buffer>[]): Variant<Buffer>[] {
  const variants: Variant<Buffer>[] = []
  for (const variant of given)
    if (!variants.some(({ value }) => value.equals(variant.value))) variants.push(variant)
  return variants
}
