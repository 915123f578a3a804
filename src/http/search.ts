/** What the query parameters of searches may hold. The rules are in docs/spec-gaps.md. */

export const LARGEST_DISPLAY_SIZE = 500
const LARGEST_PAGE = 2_147_483_647

/** `rule` says what `valid` checks to who broke it, `schema` to who reads first. */
export type Filter = {
  valid: (text: string) => boolean
  rule: string
  schema: object
  description: string
}

const count = (least: number, most: number, otherwise: number, description: string): Filter => ({
  valid: text => /^[0-9]+$/.test(text) && Number(text) >= least && Number(text) <= most,
  rule: `a whole number from ${least} to ${most}`,
  schema: { type: 'integer', minimum: least, maximum: most, default: otherwise },
  description,
})

const dateTime = (description: string): Filter => ({
  valid: isDateTime,
  rule: 'a time such as 2026-09-14T08:20:31Z (in a query + is written %2B)',
  schema: { type: 'string', format: 'date-time' },
  description: `${description}: an ISO 8601 time with Z or an offset`,
})

const day = (description: string): Filter => ({
  valid: isDate,
  rule: 'a day such as 2026-09-14',
  schema: { type: 'string', format: 'date' },
  description: `${description}, as YYYY-MM-DD`,
})

/** Which page of what was found: every search has them. */
export const paging = {
  page: count(1, LARGEST_PAGE, 1, 'The page to show'),
  display_size: count(1, LARGEST_DISPLAY_SIZE, LARGEST_DISPLAY_SIZE, 'Results on a page'),
} satisfies Record<string, Filter>

/** What several searches have; all of them, in this order, are those of refunds. */
export const filters = {
  from_date: dateTime('Created at or after this time'),
  to_date: dateTime('Created before this time'),
  from_settled_date: day('Settled on or after this day'),
  to_settled_date: day('Settled before this day'),
  ...paging,
} satisfies Record<string, Filter>

/** Exactly one of `values`, in their case. */
export const anyOf = (values: readonly string[], description: string): Filter => ({
  valid: text => values.includes(text),
  rule: `one of ${values.join(', ')}`,
  schema: { type: 'string', enum: values },
  description,
})

/** Any text of at most `length` UTF-16 code units. */
export const textUpTo = (length: number, description: string): Filter => ({
  valid: text => text.length <= length,
  rule: length < Infinity ? `text of at most ${length} characters` : 'text',
  schema: { type: 'string', ...(length < Infinity && { maxLength: length }) },
  description,
})

/** That many digits, no more and no fewer. */
export const exactly = (digits: number, description: string): Filter => {
  const pattern = `^[0-9]{${digits}}$`
  const shape = new RegExp(pattern)
  return {
    valid: text => shape.test(text),
    rule: `${digits} digits`,
    schema: { type: 'string', pattern },
    description,
  }
}

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(:(\d\d)(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i

function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text)
  return match !== null && isDate(match[1] ?? '') && !Number.isNaN(Date.parse(text))
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** In milliseconds, rounded up, so that a whole one compares with it as with the exact time. */
export const instant = (text: string): number =>
  Date.parse(text) + (/\.\d{3}\d*[1-9]/.test(text) ? 1 : 0)
