import { randomBytes, randomUUID } from 'node:crypto'
import type { NewId } from './ports.ts'

/**
 * Identifiers are 26 characters of base32hex: 48 bits of milliseconds since 1970, then 82 random
 * bits. They append to an index instead of scattering over it, and sort by creation.
 */

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'
const LENGTH = 26
const TIME_LENGTH = 9

let pool = Buffer.alloc(0)
let used = 0

/** Five-bit random numbers, drawn from the system a few kilobytes at a time. */
function randomDigits(count: number): number[] {
  const digits: number[] = []
  for (let i = 0; i < count; i++) {
    if (used === pool.length) {
      pool = randomBytes(4096)
      used = 0
    }
    digits.push((pool[used++] ?? 0) & 31)
  }
  return digits
}

const LETTERS = Buffer.from(ALPHABET, 'latin1')
const spelt = Buffer.alloc(LENGTH)

/**
 * The text of digits of base 32. It is made in one piece: texts that are added up letter by letter are
 * put together anew by each that reads them, which is slower than all else here.
 */
function spell(digits: number[]): string {
  for (let i = 0; i < digits.length; i++) spelt[i] = LETTERS[digits[i] ?? 0] ?? 0
  return spelt.toString('latin1', 0, digits.length)
}

function timeDigits(now: number): number[] {
  const digits = Array<number>(TIME_LENGTH)
  let rest = Math.floor(now / 8)
  for (let i = TIME_LENGTH - 1; i >= 0; i--) {
    digits[i] = rest % 32
    rest = Math.floor(rest / 32)
  }
  return digits
}

/** Adds one to the last of `digits` of base 32, from the place `first` on; false when they overflow. */
function increment(digits: number[], first: number): boolean {
  for (let i = digits.length - 1; i >= first; i--) {
    const next = (digits[i] ?? 0) + 1
    digits[i] = next % 32
    if (next < 32) return true
  }
  return false
}

/** What is told to a webhook has the time of its change, which may be a while ago when it gets its identifier. */
const MILLISECONDS_REMEMBERED = 1_000

/** The real `NewId`. Within one millisecond each identifier is greater than those before it. */
export function createNewId(): NewId {
  const latest = new Map<number, number[]>()
  return now => {
    const before = latest.get(now)
    if (before && increment(before, TIME_LENGTH)) return spell(before)
    // The first digit after those of the time carries its last three bits.
    const [chance = 0, ...rest] = randomDigits(LENGTH - TIME_LENGTH)
    const digits = [...timeDigits(now), (now % 8) * 4 + (chance & 3), ...rest]
    latest.set(now, digits)
    if (latest.size > MILLISECONDS_REMEMBERED) latest.delete(latest.keys().next().value ?? 0)
    return spell(digits)
  }
}

/** A secret of 26 characters, 130 random bits. */
export const newSecret = (): string => spell(randomDigits(LENGTH))

/** A random UUID, in one piece as `spell` makes them. */
export const newUuid = (): string => Buffer.from(randomUUID(), 'latin1').toString('latin1')

/** When the identifier's thing was made, in milliseconds since 1970. */
export function timeOf(id: string): number {
  let time = 0
  for (let i = 0; i < TIME_LENGTH; i++) time = time * 32 + ALPHABET.indexOf(id.charAt(i))
  return time * 8 + (ALPHABET.indexOf(id.charAt(TIME_LENGTH)) >> 2)
}

/** Sorts at or before every identifier made at `time` or later, and after every earlier one. */
export function idFloor(time: number): string {
  const whole = Math.max(0, Math.ceil(time))
  return spell([...timeDigits(whole), (whole % 8) * 4])
}
