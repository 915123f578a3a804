import type { Route } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import { agreementNews } from './agreements/agreement.ts'
import { agreementsNews } from './agreements/list.ts'
import { deliveriesNews } from './deliveries/list.ts'
import type { News } from './frame/live.ts'
import { type AccountVisit, accountVisitOf, notFound, textsIn } from './frame/page.ts'
import { ACCOUNT_FIELD } from './frame/parts.ts'
import { homeNews } from './home/home.ts'
import { paymentsNews } from './payments/list.ts'
import { paymentNews } from './payments/payment.ts'
import { requestsNews } from './requests/list.ts'
import { webhooksNews } from './webhooks/list.ts'
import { messageNews } from './webhooks/message.ts'
import { webhookNews } from './webhooks/webhook.ts'

type Look = (context: ToolContext, visit: AccountVisit, id: string) => Promise<News>

/** By the name of the page; those that have one are followed by an identifier, as in `payment:06h3k`. */
const pages: Record<string, Look> = {
  home: homeNews,
  payments: paymentsNews,
  payment: paymentNews,
  requests: requestsNews,
  agreements: agreementsNews,
  agreement: agreementNews,
  deliveries: deliveriesNews,
  webhooks: webhooksNews,
  webhook: webhookNews,
  message: messageNews,
}

/**
 * A version of what a page shows, and the account that is signed in. The other parameters are those of the page: it
 * is asked for what it shows.
 */
export const newsRoute = (context: ToolContext): Route => ({
  method: 'GET',
  path: '/console/newer.json',
  area: 'console',
  handler: async request => {
    const visit = accountVisitOf(request, context)
    const { list, [ACCOUNT_FIELD]: of } = textsIn(visit, ['list', ACCOUNT_FIELD])
    const account = visit.account.name
    // Of the page of another account there is nothing to tell.
    if (of !== '' && of !== account) return { account }
    const [page = '', id = ''] = list.split(':', 2)
    const look = Object.hasOwn(pages, page) ? pages[page] : undefined
    if (!look) throw notFound()
    return { account, ...(await look(context, visit, id)) }
  },
})
