/**
 * Text folded for comparisons that ignore case; done here, because databases fold differently. It goes by way of
 * capitals, since what has the same ones (ß and ss, µ and μ) is the same. A Greek sigma has two small forms, of which
 * toLowerCase chooses by its place in the word: here it has one, so that a part of a text folds like the whole.
 */
export const fold = (text: string): string =>
  text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')

/** A LIKE pattern, with `escape '\'`, for texts that contain this one ignoring case. */
export const containing = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`

/**
 * The group of a folded text, of eight: an index by group and time is appended to in eight places,
 * where an index by the text itself would be written to all over.
 */
export function groupOf(folded: string): number {
  let hash = 0
  for (let i = 0; i < folded.length; i++) hash = (hash * 31 + folded.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 15)) & 7
}
