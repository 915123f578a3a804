/** An address in one piece: JSON.stringify takes twice as long over texts that were added up. */
export const addressOf = (...parts: string[]): string => parts.join('')

/** SPEC *Links*: a link as it is printed. Addresses are absolute. */
export const getLink = (href: string) => ({ href, method: 'GET' }) as const

/** One to post a form to; `params` are the form's fields. */
export const postLink = (href: string, params: Record<string, string> = {}) =>
  ({ href, method: 'POST', type: 'application/x-www-form-urlencoded', params }) as const
