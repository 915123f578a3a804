import { randomFillSync, randomUUID } from 'node:crypto'
import type { NewId } from './ports.ts'

/**
 * Identifiers are 26 characters of base32hex: 48 bits of milliseconds since 1970, then 82 random
 * bits. They append to an index instead of scattering over it, and sort by creation.
 */

const ALPHABET = '0123456789abcdefghijklmnopqrstuv'
const LENGTH = 26
const TIME_LENGTH = 9

const pool = Buffer.alloc(4096)
let used = pool.length

/** A random number of five bits. They are drawn from the system a few kilobytes at a time. */
function randomDigit(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return (pool[used++] ?? 0) & 31
}

function randomDigits(count: number): number[] {
  const digits: number[] = []
  for (let i = 0; i < count; i++) digits.push(randomDigit())
  return digits
}

const LETTERS = Buffer.from(ALPHABET, 'latin1')
const spelt = Buffer.alloc(LENGTH)

/**
 * The text of digits of base 32. It is made in one piece: texts that are added up letter by letter are
 * put together anew by each that reads them, which is slower than all else here.
 */
function spell(digits: ArrayLike<number>): string {
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

const secret = new Uint8Array(LENGTH)

/** A secret of 26 characters, 130 random bits. */
export function newSecret(): string {
  for (let i = 0; i < LENGTH; i++) secret[i] = randomDigit()
  return spell(secret)
}

/** A random UUID. It has no upper case: looking for some puts the text into one piece, as `spell` makes them. */
export const newUuid = (): string => randomUUID().toLowerCase()

/** The digit that each letter is, by the letter's code. */
const digitOf = new Uint8Array(128)
for (const [digit, code] of LETTERS.entries()) digitOf[code] = digit

/** When the identifier's thing was made, in milliseconds since 1970. */
export function timeOf(id: string): number {
  let time = 0
  for (let i = 0; i < TIME_LENGTH; i++) time = time * 32 + (digitOf[id.charCodeAt(i)] ?? 0)
  return time * 8 + ((digitOf[id.charCodeAt(TIME_LENGTH)] ?? 0) >> 2)
}

/** Sorts at or before every identifier made at `time` or later, and after every earlier one. */
export function idFloor(time: number): string {
  const whole = Math.max(0, Math.ceil(time))
  return spell([...timeDigits(whole), (whole % 8) * 4])
}
