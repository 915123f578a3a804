import { hash, randomFillSync, randomUUID } from 'node:crypto'
import { flat } from './flat.ts'
import type { NewId, Secrets } from './ports.ts'
import { remember } from './remember.ts'

/** 26 characters of base32hex: 48 bits of milliseconds, 82 random bits. They sort by time, so inserts append. */

const LENGTH = 26
const TIME_LENGTH = 9
const RANDOM_LENGTH = LENGTH - TIME_LENGTH

const pool = Buffer.alloc(4096)
let used = pool.length

/** `count` digits of five random bits each. Asks the operating system for 4,096 bytes at a time. */
function randomDigits(count: number): number[] {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const digits: number[] = []
  for (let i = 0; i < count; i++) digits.push((pool[used++] ?? 0) & 31)
  return digits
}

const LETTERS = Buffer.from('0123456789abcdefghijklmnopqrstuv')
const spelt = Buffer.alloc(LENGTH)

/** The text of base-32 digits. A buffer makes it flat (src/core/flat.ts): with `newUuid` some 4 % of benchmark P1. */
function spell(digits: number[]): string {
  for (let i = 0; i < digits.length; i++) spelt[i] = LETTERS[digits[i] ?? 0] ?? 0
  return spelt.toString('latin1', 0, digits.length)
}

/** The first digits of an identifier: the time without its last three bits. */
const timeText = (now: number): string =>
  Math.floor(now / 8)
    .toString(32)
    .padStart(TIME_LENGTH, '0')

/** Times whose newest identifier is kept: a message has the earlier time of its change, and clocks may stand still. */
const MILLISECONDS_REMEMBERED = 20_000

/**
 * The real `NewId`. Within one millisecond each identifier is greater than the ones before it. With `digits`, each call
 * draws the same number of digits, so that later identifiers do not depend on the time.
 */
export function createNewId(digits?: typeof randomDigits): NewId {
  const latest = new Map<number, string>()
  return now => {
    const drawn = digits?.(RANDOM_LENGTH)
    const before = latest.get(now)
    const id = before ? idAfter(before) : firstId(now, drawn ?? randomDigits(RANDOM_LENGTH))
    remember(latest, now, id, MILLISECONDS_REMEMBERED)
    return id
  }
}

function firstId(now: number, digits: number[]): string {
  // The tenth digit has the last three bits of the time and two random bits.
  const [chance = 0, ...rest] = digits
  return flat(timeText(now), spell([(now % 8) * 4 + (chance & 3), ...rest]))
}

/** Adds one. It never carries into the time, because 16 random digits would all have to be `v` for that. */
function idAfter(id: string): string {
  let end = id.length - 1
  while (id[end] === 'v') end -= 1
  const digit = Number.parseInt(id.charAt(end), 32) + 1
  return flat(id.slice(0, end), digit.toString(32), '0'.repeat(id.length - 1 - end))
}

/** A secret of 26 characters, 130 random bits. */
export const newSecret = (): string => spell(randomDigits(LENGTH))

/** toLowerCase changes no character, but flattens the rope that randomUUID returns. */
const newUuid = (): string => randomUUID().toLowerCase()

export const secrets: Secrets = { secret: newSecret, uuid: newUuid }

/** Identifiers and secrets that are the same in each run, for tests only: anyone who knows the seed can guess them. */
export function createSeededIds(seed: string): { newId: NewId; secrets: Secrets } {
  const rooms = new Map<string, ReturnType<typeof seededRoom>>()
  function of(room = '') {
    const ids = rooms.get(room) ?? seededRoom(seed, room)
    rooms.set(room, ids)
    return ids
  }
  return {
    newId: (now, room) => of(room).newId(now),
    secrets: {
      secret: room => spell(of(room).digits(LENGTH)),
      uuid(room) {
        const digits = of(room).digits(30)
        const hex = digits.map(digit => (digit & 15).toString(16)).join('')
        const [version, variant] = [`4${hex.slice(12, 15)}`, `8${hex.slice(15, 18)}`]
        return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(18)].join('-')
      },
    },
  }
}

function seededRoom(seed: string, room: string) {
  let blocks = 0
  let left: number[] = []
  const digits = (count: number): number[] => {
    while (left.length < count) {
      const block = hash('sha256', JSON.stringify([seed, room, blocks++]), 'buffer')
      left = left.concat(Array.from(block, byte => byte & 31))
    }
    const taken = left.slice(0, count)
    left = left.slice(count)
    return taken
  }
  return { newId: createNewId(digits), digits }
}

/** The time in an identifier, in milliseconds since 1970. */
export const timeOf = (id: string): number =>
  Number.parseInt(id.slice(0, TIME_LENGTH), 32) * 8 +
  (Number.parseInt(id.charAt(TIME_LENGTH), 32) >> 2)

/** A text that sorts at or before every identifier made at `time` or later, and after every earlier one. */
export function idFloor(time: number): string {
  const whole = Math.max(0, Math.ceil(time))
  return timeText(whole) + spell([(whole % 8) * 4])
}
