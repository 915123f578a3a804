import type { Account } from '../accounts/account.ts'
import { accountOfName, moveClock } from '../accounts/store.ts'
import type { Context } from '../context.ts'
import type { Json } from '../http/fields.ts'
import type { Time } from '../ports.ts'
import { untilWritten } from '../retry.ts'
import { iso } from '../time.ts'
import { flagIn, isWhole, readBody } from './body.ts'
import type { ControlEndpoint } from './docs.ts'
import { badField, conflict } from './errors.ts'

/** Milliseconds: ten years. */
const LONGEST_ADVANCE = 10 * 366 * 24 * 60 * 60 * 1000
const FIRST_TIME = Date.UTC(2001, 0, 1)
const LAST_TIME = Date.UTC(2100, 0, 1)
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/
const FIELDS = ['advance', 'freeze', 'resume']

type Clock = Pick<Account, 'clock_offset' | 'frozen_at'>
/** Returns how the clock stands after the move. May throw an ApiError. */
type Move = (clock: Clock, now: number, wall: number) => Clock

export const presentClock = (account: Account, time: Time) => ({
  now: iso(time.now(account)),
  frozen: account.frozen_at !== null,
})

export const readClock = ({ time }: Context): ControlEndpoint => ({
  method: 'GET',
  path: '/control/clock',
  operationId: 'readClock',
  summary: "Read the account's clock",
  handler: async request => presentClock(request.account, time),
})

/**
 * Moves the account's clock, which has no effect on any other account. It only moves forward: identifiers begin with
 * the time, so after a step back new rows would sort before old ones. Everything that depends on time is computed
 * when it is read, so the move has taken effect when the response arrives.
 */
export const setClock = (context: Context): ControlEndpoint => ({
  method: 'POST',
  path: '/control/clock',
  operationId: 'setClock',
  summary: "Advance, freeze or resume the account's clock",
  accepts: 'json',
  handler: async request => {
    const move = readMove(readBody(request, FIELDS))
    const { database, time } = context
    return untilWritten(async () => {
      const account = await accountOfName(database, request.account.name)
      if (!account) throw conflict('the account has ended')
      const moved = { ...account, ...move(account, time.now(account), time.wall()) }
      if (time.now(moved) >= LAST_TIME) throw badField('advance', 'must not lead beyond 2099')
      return (await moveClock(database, account, moved)) ? presentClock(moved, time) : undefined
    })
  },
})

function readMove(given: Json): Move {
  const [name, ...more] = Object.keys(given)
  if (name === undefined || more.length > 0)
    throw badField(more[0] ?? 'advance', `must be given alone: use one of ${FIELDS.join(', ')}`)
  if (name === 'advance') return advanceBy(given.advance)
  if (name === 'freeze') return freezeAt(given.freeze)
  if (given.resume !== true) throw badField('resume', 'must be true')
  return ({ clock_offset, frozen_at }, _now, wall) => ({
    clock_offset: frozen_at === null ? clock_offset : frozen_at - wall,
    frozen_at: null,
  })
}

function advanceBy(ms: unknown): Move {
  if (!isWhole(ms, 0, LONGEST_ADVANCE))
    throw badField('advance', `must be whole milliseconds from 0 to ${LONGEST_ADVANCE}`)
  return ({ clock_offset, frozen_at }) =>
    frozen_at === null
      ? { clock_offset: clock_offset + ms, frozen_at }
      : { clock_offset, frozen_at: frozen_at + ms }
}

function freezeAt(at: unknown): Move {
  const time = at === true ? undefined : parseTime(at)
  return ({ clock_offset }, now) => {
    if (time !== undefined && time < now)
      throw conflict(`time moves forward only, and it is ${iso(now)}`)
    return { clock_offset, frozen_at: time ?? now }
  }
}

function parseTime(at: unknown): number {
  const time = readTime(at)
  if (time === undefined)
    throw badField('freeze', 'must be true or a time before 2100 such as 2026-09-14T08:20:31.000Z')
  return time
}

function readTime(given: unknown): number | undefined {
  const time = typeof given === 'string' && TIME.test(given) ? Date.parse(given) : Number.NaN
  return time < LAST_TIME ? time : undefined
}

/** The clock of a new account or after a reset: `at` is a time to begin with, where it stands still unless `frozen` is false. */
export function readFirstClock(given: Json, wall: number): Clock {
  const { at } = given
  const frozen = flagIn(given, 'frozen', at !== undefined)
  const time = at === undefined ? wall : (readTime(at) ?? Number.NaN)
  if (!(time >= FIRST_TIME))
    throw badField('at', 'must be a time from 2001 to 2099 such as 2026-09-14T08:20:31.000Z')
  return frozen
    ? { clock_offset: 0, frozen_at: time }
    : { clock_offset: time - wall, frozen_at: null }
}
