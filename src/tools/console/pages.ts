import type { Endpoint, Route } from '../../platform/http/endpoint.ts'
import { WITHOUT_ENDPOINT } from '../../platform/http/without-endpoint.ts'
import type { ToolContext } from '../context.ts'
import { accounts } from './accounts/accounts.ts'
import { agreement, agreements, newAgreement } from './agreements/agreements.ts'
import { check } from './check/check.ts'
import { deliveries } from './deliveries/deliveries.ts'
import { disputes } from './disputes/disputes.ts'
import type { ConsolePage } from './frame/define-page.ts'
import type { Section } from './frame/visit.ts'
import { home } from './home/home.ts'
import { back, newPayment } from './payments/new.ts'
import { payment, reportRoute } from './payments/payment.ts'
import { payments } from './payments/payments.ts'
import { requests } from './requests/list.ts'
import { request } from './requests/request.ts'
import { signInRoutes } from './sign-in/sign-in.ts'
import { signature } from './signature/signature.ts'
import { newWebhook, webhooks } from './webhooks/list.ts'
import { message } from './webhooks/message.ts'
import { webhook } from './webhooks/webhook.ts'

export const pages: readonly ConsolePage[] = [
  home,
  payments,
  newPayment,
  payment,
  back,
  deliveries,
  webhooks,
  newWebhook,
  webhook,
  message,
  signature,
  requests,
  request,
  check,
  agreements,
  newAgreement,
  agreement,
  disputes,
  accounts,
]

const entryOf = ({ path, navigation = path }: ConsolePage) => ({ path, text: navigation })
const alone = (page: ConsolePage): Section => ({ ...entryOf(page), pages: [entryOf(page)] })

/** The navigation: an entry for each page or group of pages, which leads to the first of them. */
export const sections: readonly Section[] = [
  ...[home, payments, agreements].map(alone),
  { text: 'Webhooks', pages: [deliveries, webhooks, signature].map(entryOf) },
  alone(requests),
  { ...alone(check), isCounted: true },
  {
    text: 'More',
    pages: [accounts, disputes].map(entryOf),
    others: [{ path: '/docs', text: 'API' }],
  },
]

/** All routes below /console; none while the console is off. `operations` are the endpoints whose requests it shows. */
export function consoleRoutes(context: ToolContext, operations: readonly Endpoint[]): Route[] {
  if (!context.config.console) return []
  const summaries = new Map([
    ...operations.map(({ operationId, summary }): [string, string] => [operationId, summary]),
    ...WITHOUT_ENDPOINT.map(({ operation, summary }): [string, string] => [operation, summary]),
  ])
  const forPages = { ...context, operations, summaries, sections }
  return [
    ...signInRoutes(forPages),
    ...pages.flatMap(page => page.routes(forPages)),
    reportRoute(forPages),
  ]
}
