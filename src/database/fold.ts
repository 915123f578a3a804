/** Text folded for comparisons that ignore case; done here, because databases fold differently. */
export const fold = (text: string): string => text.toLowerCase()

/** A LIKE pattern, with `escape '\'`, for texts that contain this one ignoring case. */
export const containing = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`
