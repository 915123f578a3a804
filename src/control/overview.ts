import type { Account } from '../accounts/account.ts'
import type { Context } from '../context.ts'
import { countPlans } from '../plans/store.ts'
import { version } from '../version.ts'
import { presentClock } from './clock.ts'
import type { ControlEndpoint } from './docs.ts'
import { readQuery } from './query.ts'

export const readOverview = (context: Context): ControlEndpoint => ({
  method: 'GET',
  path: '/control',
  operationId: 'readControl',
  summary: 'Read what the control API has',
  handler: async request => {
    readQuery(request, {})
    return presentOverview(context, request.account)
  },
})

export const presentOverview = async (
  { config, database, recorder, time }: Context,
  account: Account,
) => ({
  version,
  account: account.name,
  parent: account.parent,
  epoch: account.epoch,
  plans: config.control ? await countPlans(database, account.room) : 0,
  clock: presentClock(account, time),
  has: [
    ...(config.control ? ['accounts', 'clock', 'payments', 'plans'] : []),
    ...(recorder ? ['listeners', 'messages', 'requests'] : []),
  ],
})
