import { randomBytes } from 'node:crypto'
import type { NewId } from './ports.ts'

/**
 * Identifiers are 26 characters of base32hex: 48 bits of milliseconds since 1970, then 82 random
 * bits. They append to an index instead of scattering over it, and sort by creation.
 */

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'
const LENGTH = 26
const TIME_LENGTH = 9

/** Five-bit random numbers, drawn from the system a few kilobytes at a time. */
function randomDigits() {
  let pool = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = randomBytes(4096)
      used = 0
    }
    return (pool[used++] ?? 0) & 31
  }
}

const digit = randomDigits()

function encodeTime(now: number): string {
  let rest = Math.floor(now / 8)
  let text = ''
  for (let i = 0; i < TIME_LENGTH; i++) {
    text = ALPHABET[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** Adds one to a number written in digits of base 32; false when it overflows. */
function increment(digits: number[]): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    const next = (digits[i] ?? 0) + 1
    digits[i] = next % 32
    if (next < 32) return true
  }
  return false
}

/** The real `NewId`. Within one millisecond each identifier is greater than the one before it. */
export function createNewId(): NewId {
  let lastTime = -1
  let tail: number[] = []
  return now => {
    if (now !== lastTime || !increment(tail)) {
      lastTime = now
      // The first of these digits carries the last three bits of the time.
      tail = [(now % 8) * 4 + (digit() & 3), ...Array.from({ length: LENGTH - 10 }, digit)]
    }
    let text = encodeTime(now)
    for (const value of tail) text += ALPHABET[value]
    return text
  }
}

/** A secret of 26 characters, 130 random bits. */
export function newSecret(): string {
  let text = ''
  for (let i = 0; i < LENGTH; i++) text += ALPHABET[digit()]
  return text
}

/** When the identifier's thing was made, in milliseconds since 1970. */
export function timeOf(id: string): number {
  let time = 0
  for (let i = 0; i < TIME_LENGTH; i++) time = time * 32 + ALPHABET.indexOf(id.charAt(i))
  return time * 8 + (ALPHABET.indexOf(id.charAt(TIME_LENGTH)) >> 2)
}

/** Sorts at or before every identifier made at `time` or later, and after every earlier one. */
export function idFloor(time: number): string {
  const whole = Math.max(0, Math.ceil(time))
  return encodeTime(whole) + ALPHABET[(whole % 8) * 4]
}
