import type { Account } from '../../core/account.ts'
import type { AccountTime, MachineTime, Time } from '../../core/ports.ts'
import { untilWritten } from '../../core/retry.ts'
import { DAY, iso } from '../../core/time.ts'
import { accountOfName, moveClock } from '../../platform/accounts/store.ts'
import type { Json } from '../../platform/http/fields.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { flagIn, isWhole } from './body.ts'
import { defineEndpoint } from './endpoint.ts'
import { accountEnded, badField, conflict, missingField } from './errors.ts'

/** Milliseconds: ten years, of which three are leap years. */
const LONGEST_ADVANCE = 3_653 * DAY
const FIRST_TIME = Date.UTC(2001, 0, 1)
const LAST_TIME = Date.UTC(2100, 0, 1)
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/

export const clock = object('Clock', {
  now: { ...timestamp, description: "The account's time" },
  frozen: { type: 'boolean', description: 'Whether it stands still' },
})

export const firstClock = {
  at: {
    type: 'string',
    format: 'date-time',
    description: 'The time at which the clock begins, from 2001 to 2099, in UTC',
  },
  frozen: { type: 'boolean', description: 'Whether it stands still: true if `at` is given' },
} as const

const clockMove = object(
  'ClockMove',
  {},
  {
    advance: {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_ADVANCE,
      description: 'Milliseconds, at most ten years',
    },
    freeze: {
      anyOf: [{ const: true }, { type: 'string', format: 'date-time' }],
      description: 'true, or a later time to which the clock goes',
    },
    resume: { const: true },
  },
)

type Clock = Pick<Account, 'clock_offset' | 'frozen_at'>

export const presentClock = (account: Account, time: Time) => ({
  now: iso(time.now(account)),
  frozen: account.frozen_at !== null,
})

export const readClock = ({ time }: ToolContext) =>
  defineEndpoint({
    method: 'GET',
    path: '/control/clock',
    operationId: 'readClock',
    summary: "Read the account's clock",
    response: [200, 'The clock', clock],
    handler: async ({ account }) => presentClock(account, time),
  })

/**
 * Moves the account's clock, which has no effect on any other account. It only moves forward: identifiers begin with
 * the time, so after a step back new rows would sort before old ones. Everything that depends on time is computed
 * when it is read, so the move has taken effect when the response arrives.
 */
export const setClock = (context: ToolContext) =>
  defineEndpoint({
    method: 'POST',
    path: '/control/clock',
    operationId: 'setClock',
    summary: "Advance, freeze or resume the account's clock",
    body: clockMove,
    needsBody: true,
    description: 'Give exactly one of the fields. Time goes forward only.',
    response: [200, 'The clock', clock],
    errors: () => [
      noMove(),
      badField('advance', 'must be whole milliseconds'),
      forwardOnly(FIRST_TIME),
    ],
    handler: async (request, { body }) => {
      const { database, time } = context
      return untilWritten(async () => {
        const account = await accountOfName(database, request.account.name)
        if (!account) throw accountEnded()
        const moved = {
          ...account,
          ...moveOf(body, account, time.now(account), time.wall()),
        }
        if (time.now(moved) >= LAST_TIME) throw badField('advance', 'must not lead beyond 2099')
        return (await moveClock(database, account, moved)) ? presentClock(moved, time) : undefined
      })
    },
  })

const moves = () => Object.keys(clockMove.properties).join(', ')
const noMove = () => missingField('advance', `is missing: give one of ${moves()}`)

/** How the clock stands after the move. Throws an ApiError for one that is not possible. */
function moveOf(
  body: Json,
  { clock_offset, frozen_at }: Clock,
  now: AccountTime,
  wall: MachineTime,
): Clock {
  const { advance, freeze, resume } = body
  const [name, other] = Object.keys(body)
  if (name === undefined) throw noMove()
  if (other !== undefined) throw badField(other, `must be given alone: use one of ${moves()}`)
  if (advance !== undefined) {
    if (!isWhole(advance, 0, LONGEST_ADVANCE))
      throw badField('advance', `must be whole milliseconds from 0 to ${LONGEST_ADVANCE}`)
    return frozen_at === null
      ? { clock_offset: clock_offset + advance, frozen_at }
      : { clock_offset, frozen_at: frozen_at + advance }
  }
  if (freeze !== undefined) {
    const at = freeze === true ? now : readTime(freeze)
    if (at === undefined) throw badField('freeze', FREEZE_RULE)
    if (at < now) throw forwardOnly(now)
    return { clock_offset, frozen_at: at }
  }
  if (resume !== true) throw badField('resume', 'must be true')
  return { clock_offset: frozen_at === null ? clock_offset : frozen_at - wall, frozen_at: null }
}

const FREEZE_RULE = 'must be true or a time before 2100 such as 2026-09-14T08:20:31.000Z'

const forwardOnly = (now: AccountTime) =>
  conflict(
    `time moves forward only, and it is ${iso(now)}: for an earlier time give at to POST /control/reset or to a new account`,
  )

function readTime(text: unknown): number | undefined {
  if (typeof text !== 'string' || !TIME.test(text)) return undefined
  const time = Date.parse(text)
  const exists = time < LAST_TIME && iso(time).startsWith(text.slice(0, 19))
  return exists ? time : undefined
}

export const badFirstTime = () =>
  badField('at', 'must be a time from 2001 to 2099 such as 2026-09-14T08:20:31.000Z')

/** The clock of a new account or after a reset: `at` is a time to begin with, where it stands still unless `frozen` is false. */
export function readFirstClock(body: Json, wall: MachineTime): Clock {
  const { at } = body
  const frozen = flagIn(body, 'frozen', at !== undefined)
  const time = at === undefined ? wall : (readTime(at) ?? Number.NaN)
  if (!(time >= FIRST_TIME)) throw badFirstTime()
  return frozen
    ? { clock_offset: 0, frozen_at: time }
    : { clock_offset: time - wall, frozen_at: null }
}
