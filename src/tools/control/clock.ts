import type { Account } from '../../core/account.ts'
import type { Time } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import { clockMove, FIRST_TIME, forwardOnly, moveClock, noMove } from '../steer/clock.ts'
import { badField } from '../steer/errors.ts'
import { defineEndpoint } from './endpoint.ts'

export const clock = object('Clock', {
  now: { ...timestamp, description: "The account's time" },
  frozen: { type: 'boolean', description: 'Whether it stands still' },
})

export const presentClock = (account: Account, time: Time) => ({
  now: iso(time.now(account)),
  frozen: account.frozen_at !== null,
})

export const readClock = defineEndpoint({
  route: 'GET /control/clock',
  operationId: 'readClock',
  summary: "Read the account's clock",
  response: [200, 'The clock', clock],
  handler: async ({ time }, { account }) => presentClock(account, time),
})

export const setClock = defineEndpoint({
  route: 'POST /control/clock',
  operationId: 'setClock',
  summary: "Advance, freeze or resume the account's clock",
  body: clockMove,
  needsBody: true,
  description:
    'Give exactly one of the fields. Time goes forward only. Under govuk-pay the response comes when all that fell due is done, in order.',
  response: [200, 'The clock', clock],
  errors: () => [
    noMove(),
    badField('advance', 'must be whole milliseconds'),
    forwardOnly(FIRST_TIME),
  ],
  handler: async (context, { account, body }) =>
    presentClock(await moveClock(context, account, body), context.time),
})
