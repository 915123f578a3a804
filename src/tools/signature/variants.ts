/** One way in which a body, a key or a signature can be wrong. */
export type Variant<Value> = {
  /** Stable, for programs. */
  cause: string
  /** Completes a sentence that begins with "the body", "the key" or "the signature". */
  words: string
  value: Value
}

/** undefined where the mistake is not possible. */
export type Given = [cause: string, words: string, value: Buffer | string | undefined]

/** Of variants with equal values, keeps the first. */
export function distinct(given: readonly Given[]): Variant<Buffer>[] {
  const variants: Variant<Buffer>[] = []
  for (const [cause, words, made] of given) {
    const value = typeof made === 'string' ? Buffer.from(made) : made
    if (value && !variants.some(known => known.value.equals(value)))
      variants.push({ cause, words, value })
  }
  return variants
}
