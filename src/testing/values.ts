import type { Duration, Moment } from './public.d.ts'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

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
  const time = typeof moment === 'string' ? Date.parse(moment) : Number(moment)
  if (!Number.isFinite(time))
    throw new TypeError(`${String(moment)} is not a time: give a Date or ISO 8601 text`)
  return new Date(time).toISOString()
}

/** `5 s`, `250 ms`. */
export const spoken = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`)
