import type { Account } from '../accounts/account.ts'
import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { countPlans } from '../plans/store.ts'
import { version } from '../version.ts'
import { presentClock } from './clock.ts'
import { docsOf } from './docs.ts'
import { readQuery } from './query.ts'

export const readOverview = (context: Context): Endpoint => ({
  method: 'GET',
  path: '/control',
  area: 'control',
  operationId: 'readControl',
  summary: 'Read what the control API has',
  docs: docsOf('readControl'),
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
