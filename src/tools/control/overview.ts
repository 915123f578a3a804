import { type Account, behaviours, givenName } from '../../core/account.ts'
import type { Time } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { version } from '../../core/version.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { countPlans } from '../plans/store.ts'
import { clockMove, FIRST_TIME, forwardOnly, moveClock, noMove } from '../steer/clock.ts'
import { badField } from '../steer/errors.ts'
import { count, nullable, text } from '../steer/schemas.ts'
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

export const overview = object('Control', {
  version: { ...text, description: 'The version of this Farthing' },
  account: text,
  parent: { ...nullable, description: 'For a test account, the account that made it' },
  behaviour: {
    type: 'string',
    enum: behaviours,
    description: 'How the account answers where the specification and GOV.UK Pay differ',
  },
  epoch: { ...count, description: 'The number of resets of the account' },
  plans: { ...count, description: 'The number of its plans' },
  clock,
  has: {
    type: 'array',
    items: text,
    description:
      'The features of the control API in this version, and `console` if there are the pages below /console',
  },
})

export const readOverview = defineEndpoint({
  route: 'GET /control',
  operationId: 'readControl',
  summary: 'Read what the control API has',
  response: [200, 'What there is', overview],
  handler: (context, { account }) => presentOverview(context, account),
})

export const presentOverview = async (
  { config, database, recorder, time }: ToolContext,
  account: Account,
) => ({
  version,
  account: givenName(account),
  parent: account.parent,
  behaviour: account.behaviour,
  epoch: account.epoch,
  plans: config.control ? await countPlans(database, account.room) : 0,
  clock: presentClock(account, time),
  has: [
    ...(config.control ? ['accounts', 'clock', 'payments', 'plans'] : []),
    ...(recorder ? ['check', 'listeners', 'messages', 'requests'] : []),
    ...(config.console ? ['console'] : []),
  ],
})
