import type { Time } from './ports.ts'

/** Milliseconds. */
export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

let latest = { time: 0, text: new Date(0).toISOString() }

/** The text of a time in responses. Throws a RangeError for NaN. Keeps the last: many responses share a millisecond. */
export function iso(time: number): string {
  if (time !== latest.time) latest = { time, text: new Date(time).toISOString() }
  return latest.text
}

/** The real `Time`; `wall` replaces the machine's clock. Without control, accounts have the machine's time. */
export const createTime = (wall: () => number = Date.now, { control = true } = {}): Time => ({
  wall,
  now: control
    ? ({ clock_offset, frozen_at }, at = wall()) => frozen_at ?? at + clock_offset
    : (_account, at: number = wall()) => at,
})
