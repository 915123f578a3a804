import type { Endpoint, Route } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import { accounts } from './accounts/accounts.ts'
import { agreement } from './agreements/agreement.ts'
import { agreements } from './agreements/list.ts'
import { check } from './check/check.ts'
import { deliveries } from './deliveries/deliveries.ts'
import type { ConsolePage } from './frame/define-page.ts'
import { signInRoutes } from './frame/sign-in.ts'
import { home } from './home/home.ts'
import { payments } from './payments/list.ts'
import { back, newPayment } from './payments/new.ts'
import { payment, reportRoute } from './payments/payment.ts'
import { requests } from './requests/list.ts'
import { request } from './requests/request.ts'
import { signature } from './signature/signature.ts'
import { webhooks } from './webhooks/list.ts'
import { message } from './webhooks/message.ts'
import { newWebhook } from './webhooks/new.ts'
import { webhook } from './webhooks/webhook.ts'

/** Every page. */
export const pages: readonly ConsolePage[] = [
  home,
  payments,
  newPayment,
  payment,
  back,
  agreements,
  agreement,
  deliveries,
  webhooks,
  newWebhook,
  webhook,
  message,
  requests,
  request,
  signature,
  accounts,
  check,
]

/** Everything below /console; nothing while the console is off. `operations` are the endpoints whose requests it shows. */
export function consoleRoutes(context: ToolContext, operations: readonly Endpoint[]): Route[] {
  if (!context.config.console) return []
  const forPages = { ...context, operations }
  return [
    ...signInRoutes(context),
    ...pages.flatMap(page => page.routes(forPages)),
    reportRoute(forPages),
  ]
}
