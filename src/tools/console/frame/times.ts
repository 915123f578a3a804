/** Times in sentences, and those that a person types into a filter. All are in UTC. */
import { DAY, iso, MINUTE, SECOND } from '../../../core/time.ts'

/** `16:15` if it is of the day of `now`, otherwise `2026-09-14 16:15`; with seconds if asked for. */
export function shortTime(at: number, now: number, seconds?: 'seconds'): string {
  const [day = '', time = ''] = iso(at).split('T')
  const clock = time.slice(0, seconds ? 8 : 5)
  return iso(now).startsWith(day) ? clock : `${day} ${clock}`
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS =
  'January February March April May June July August September October November December'.split(' ')

/** Such as `Monday 14 September 2026`. By hand, because Intl takes 50 ms for its first day, at one go. */
export function dayName(at: number): string {
  const day = new Date(at)
  return `${DAYS[day.getUTCDay()]} ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`
}

export const TIME_RULE =
  'Enter a day such as 14/09/2026, 2026-09-14, today or yesterday, a time such as 08:20, or both'

/** Characters of a day and a time with their milliseconds, and of some spaces. */
const LONGEST = 40
const TEXT = /^(?:(\d{4}-\d\d-\d\d)(?:[T\s]+|$))?(?:(\d\d?:\d\d)(?::(\d\d)(?:\.(\d{3}))?)?\s*)?Z?$/i

const WORDS = ['today', 'yesterday']

/** Days as people write them: `14/9/2026`, `14 09 2026` and `today` become `2026-09-14`. */
const withPlainDay = (text: string, now: number): string =>
  text
    .replace(/^(today|yesterday)\b/i, word =>
      iso(now - WORDS.indexOf(word.toLowerCase()) * DAY).slice(0, 10),
    )
    .replace(
      /^(\d\d?)[/. -](\d\d?)[/. -](\d{4})\b/,
      (_, day: string, month: string, year: string) =>
        `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    )

/**
 * All that the text may mean, in milliseconds: a day or a minute, for example. `end` is excluded. The text is
 * `2026-09-14`, `14/09/2026`, `today`, `08:20` (of the day of `now`), both, or a time as the API prints it. undefined for
 * any other text.
 */
export function spanIn(text: string, now: number) {
  if (text.length > LONGEST) return undefined
  const [, day, minute, second, ms] = TEXT.exec(withPlainDay(text.trim(), now)) ?? []
  if (day === undefined && minute === undefined) return undefined
  const date = day ?? new Date(now).toISOString().slice(0, 10)
  const time = `${(minute ?? '0:00').padStart(5, '0')}:${second ?? '00'}.${ms ?? '000'}`
  const begin = Date.parse(`${date}T${time}Z`)
  // 31 February is read as a day of March.
  if (Number.isNaN(begin) || !new Date(begin).toISOString().startsWith(date)) return undefined
  const length = ms ? 1 : second ? SECOND : minute ? MINUTE : DAY
  return { begin, end: begin + length }
}
