import type { Duration, Moment } from './public.d.ts'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?)(?:Z|[+-]\d\d:\d\d)$/

/** In milliseconds. Throws a TypeError for text that is not a duration. */
export function milliseconds(duration: Duration): number {
  if (typeof duration === 'number' && Number.isFinite(duration)) return duration
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? []
  if (!unit)
    throw new TypeError(
      `${String(duration)} is not a duration: give milliseconds or text such as '5s' or '7d'`,
    )
  return Math.round(Number(count) * UNITS[unit as keyof typeof UNITS])
}

/** ISO 8601 text, also for a Date of another realm. Throws a TypeError for anything that is not a time. */
export function isoOf(moment: Moment): string {
  const time = timeOf(moment)
  if (!Number.isFinite(time))
    throw new TypeError(
      `${String(moment)} is not a time: give a Date, or ISO 8601 text with seconds and a zone such as 2026-03-29T00:59:58Z`,
    )
  return new Date(time).toISOString()
}

/** NaN for text without a zone, or with a day or an hour that does not exist: `Date.parse` makes another of it. */
function timeOf(moment: unknown): number {
  if (typeof moment !== 'string') return isDate(moment) ? Number(moment) : Number.NaN
  const [, local = ''] = TIME.exec(moment) ?? []
  const inUtc = new Date(`${local}Z`)
  const exists =
    Number.isFinite(inUtc.getTime()) && inUtc.toISOString().startsWith(local.slice(0, 19))
  return exists ? Date.parse(moment) : Number.NaN
}

const isDate = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'getTime' in value

/** `5 s`, `250 ms`. */
export const spoken = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`)
