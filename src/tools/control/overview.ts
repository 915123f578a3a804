import { type Account, behaviours, givenName } from '../../core/account.ts'
import { version } from '../../core/version.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { countPlans } from '../plans/store.ts'
import { count, nullable, text } from '../steer/schemas.ts'
import { clock, presentClock } from './clock.ts'
import { defineEndpoint } from './endpoint.ts'

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
