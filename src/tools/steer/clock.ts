/** Sets and moves the clock of an account. */
import type { Account } from '../../core/account.ts'
import type { AccountTime, MachineTime } from '../../core/ports.ts'
import { untilWritten, whileOverloaded } from '../../core/retry.ts'
import { DAY, iso } from '../../core/time.ts'
import { boolean, either, instant, integer, only } from '../../core/values.ts'
import { doDue } from '../../pay/payments/due-steps.ts'
import { accountOfRoom, moveClock as saveClock } from '../../platform/accounts/store.ts'
import type { ToolContext } from '../context.ts'
import { accountEnded, badField, conflict, missingField } from './errors.ts'
import { body, type Values } from './fields.ts'

/** Milliseconds: ten years, of which three are leap years. */
const LONGEST_ADVANCE = 3_653 * DAY
export const FIRST_TIME = Date.UTC(2001, 0, 1)
const LAST_TIME = Date.UTC(2100, 0, 1)
const IN_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/

/** The field of a time, which is read as milliseconds. */
const timeFrom = (first: number, years: string, about: { description?: string } = {}) => ({
  schema: { type: 'string', format: 'date-time', ...about } as const,
  rule: `a time ${years} such as 2026-09-14T08:20:31.000Z`,
  read(input: unknown) {
    const time = typeof input === 'string' && IN_UTC.test(input) ? instant(input) : Number.NaN
    return time >= first && time < LAST_TIME ? time : undefined
  },
})

/** The clock of a new account or after a reset. */
export const firstClock = {
  at: timeFrom(FIRST_TIME, 'from 2001 to 2099', {
    description: 'The time at which the clock begins, from 2001 to 2099, in UTC',
  }),
  frozen: boolean({ description: 'Whether it stands still: true if `at` is given' }),
}
export const badFirstTime = () => badField('at', `must be ${firstClock.at.rule}`)

export const clockMove = body('ClockMove', {
  advance: integer(0, LONGEST_ADVANCE, { description: 'Milliseconds, at most ten years' }),
  freeze: either(only(true), timeFrom(-Infinity, 'before 2100'), {
    description: 'true, or a later time to which the clock goes',
  }),
  resume: only(true),
})

type ClockMove = Values<typeof clockMove.fields.optional>

type Clock = Pick<Account, 'clock_offset' | 'frozen_at'>

/**
 * Moves the account's clock, which has no effect on any other account. It only moves forward: identifiers begin with
 * the time, so after a step back new rows would sort before old ones. When this resolves, all steps are taken that are
 * due then; all else that depends on time is computed when it is read.
 */
export async function moveClock(
  context: ToolContext,
  { room }: Account,
  move: ClockMove,
): Promise<Account> {
  const { database, time } = context
  const moved = await untilWritten(async () => {
    const account = await accountOfRoom(database, room)
    if (!account) throw accountEnded()
    const moved = { ...account, ...moveOf(move, account, time.now(account), time.wall()) }
    if (time.now(moved) >= LAST_TIME) throw badField('advance', 'must not lead beyond 2099')
    return (await saveClock(database, account, moved)) ? moved : undefined
  })
  // After an answer of 503 a client would move the clock again.
  await whileOverloaded(() => doDue(context, moved))
  await context.deliveries.doDue(moved)
  return moved
}

const moves = () => Object.keys(clockMove.properties).join(', ')
export const noMove = () => missingField('advance', `is missing: give one of ${moves()}`)

/** The clock after the move. Throws an ApiError for a move that is not possible. */
function moveOf(
  body: ClockMove,
  { clock_offset, frozen_at }: Clock,
  now: AccountTime,
  wall: MachineTime,
): Clock {
  const [name, other] = Object.keys(body)
  if (name === undefined) throw noMove()
  if (other !== undefined) throw badField(other, `must be given alone: use one of ${moves()}`)
  const { advance = 0, freeze, resume } = body
  if (freeze !== undefined) {
    const at = freeze === true ? now : freeze
    if (at < now) throw forwardOnly(now)
    return { clock_offset, frozen_at: at }
  }
  if (frozen_at === null) return { clock_offset: clock_offset + advance, frozen_at }
  return resume
    ? { clock_offset: frozen_at - wall, frozen_at: null }
    : { clock_offset, frozen_at: frozen_at + advance }
}

export const forwardOnly = (now: AccountTime) =>
  conflict(
    `time moves forward only, and it is ${iso(now)}: for an earlier time give at to POST /control/reset or to a new account`,
  )

/** `at` is the time at which the clock begins. It stands still there unless `frozen` is false. */
export const firstClockOf = (
  { at, frozen = at !== undefined }: Values<typeof firstClock>,
  wall: MachineTime,
): Clock =>
  frozen
    ? { clock_offset: 0, frozen_at: at ?? wall }
    : { clock_offset: (at ?? wall) - wall, frozen_at: null }
