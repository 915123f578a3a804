import type { Advice } from './advice.ts'

/** One way in which a body, a key or a signature can be wrong. */
export type Way = {
  /** Stable, for programs. */
  cause: string
  /** Completes a sentence that begins with "the body", "the key" or "the signature". */
  words: string
  /** What to change. */
  advice: Advice
}

/** `value` is undefined where it would have more bytes than the budget leaves. */
export type Variant = Way & { value: Buffer | undefined }

/** The cause of a variant without a mistake. */
export const AS_IS = 'as-is'

export const isWrong = ({ cause }: { cause: string }): boolean => cause !== AS_IS
