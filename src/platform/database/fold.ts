/**
 * Folds text for comparisons that ignore case, which databases do differently. Texts with the same capitals (ß and ss)
 * fold alike. A Greek sigma has one form, unlike in toLowerCase, so that part of a text folds like the whole.
 */
export const fold = (text: string): string =>
  text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')

/** Escapes text for LIKE patterns that are used with `escape '\'`. */
const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const containing = (text: string): string => containingExactly(fold(text))

export const beginning = (text: string): string => `${literal(fold(text))}%`

/** Matches texts that contain this one as it is. SQLite ignores the case of ASCII letters here, PostgreSQL does not. */
export const containingExactly = (text: string): string => `%${literal(text)}%`

export const GROUPS = 8

/** From 0 to 7. An index by group and time appends to eight pages; an index by the text would write to random pages. */
export function groupOf(folded: string): number {
  let hash = 0
  for (let i = 0; i < folded.length; i++) hash = (hash * 31 + folded.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 15)) & (GROUPS - 1)
}
