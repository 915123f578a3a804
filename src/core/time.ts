import type { Time } from './ports.ts'

/** Milliseconds. */
export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

const ZERO = 48
const printed = Buffer.from('1970-01-01T00:00:00.000Z', 'latin1')
let dayPrinted = 0

/**
 * Formats a time, in milliseconds from 1970 to the year 9999, as Date.toISOString does.
 * Date.prototype.toISOString takes six times as long as this reused buffer (see src/core/flat.ts).
 */
export function iso(time: number): string {
  const day = Math.floor(time / DAY)
  if (day !== dayPrinted) printed.write(new Date(day * DAY).toISOString(), 'latin1')
  dayPrinted = day
  const ms = time - day * DAY
  print2(Math.floor(ms / HOUR), 11)
  print2(Math.floor(ms / MINUTE) % 60, 14)
  print2(Math.floor(ms / SECOND) % 60, 17)
  print2(Math.floor(ms / 10) % 100, 20)
  printed[22] = ZERO + (ms % 10)
  return printed.toString('latin1')
}

function print2(count: number, place: number): void {
  printed[place] = ZERO + Math.floor(count / 10)
  printed[place + 1] = ZERO + (count % 10)
}

/** The real `Time`, or one on another machine clock. Without control nobody could see or move an account's clock. */
export const createTime = (wall: () => number = Date.now, { control = true } = {}): Time => ({
  wall,
  now: control
    ? ({ clock_offset, frozen_at }, at = wall()) => frozen_at ?? at + clock_offset
    : (_account, at: number = wall()) => at,
})
