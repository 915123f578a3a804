import type { Context } from '../../../pay/context.ts'
import { listPayments } from '../../../pay/payments/list-store.ts'
import { messagesOfWebhook } from '../../../pay/webhooks/list-store.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import type { Route } from '../../../platform/http/endpoint.ts'
import { countExchanges } from '../../recorder/store.ts'
import { type AccountVisit, accountVisitOf, notFound, textsIn } from './page.ts'

/** Nobody reads more than "100 or more". */
const MOST = 100

/** How many entries a list has that are newer than those on a page. Its script asks every two seconds. */
export const newerRoute = (context: Context): Route => ({
  method: 'GET',
  path: '/console/newer.json',
  area: 'console',
  handler: async request => {
    const visit = accountVisitOf(request, context)
    const { list, after } = textsIn(visit, ['list', 'after'])
    return { newer: await count(context, visit, list, after) }
  },
})

async function count(
  { database }: Context,
  { account, now }: AccountVisit,
  list: string,
  after: string,
): Promise<number> {
  const { room } = account
  const newest = { limit: MOST, order: 'newest' } as const
  if (list === 'payments')
    return (await listPayments(database, room, { after }, { now, ...newest })).length
  if (list === 'requests')
    return countExchanges(database, room, { after, kinds: ['api', 'page'] }, MOST)
  const [, webhook_id] = /^webhook:([0-9a-v]{26})$/.exec(list) ?? []
  const webhook = webhook_id && (await findWebhook(database, room, webhook_id))
  if (!webhook) throw notFound()
  return (await messagesOfWebhook(database, webhook.webhook_id, { after }, newest)).length
}
