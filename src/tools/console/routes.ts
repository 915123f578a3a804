import type { Endpoint, Route } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import { accountsRoute } from './accounts/accounts.ts'
import { agreementRoutes } from './agreements/agreement.ts'
import { agreementsRoute } from './agreements/list.ts'
import { checkRoute } from './check/check.ts'
import { deliveriesRoutes } from './deliveries/list.ts'
import { signInRoutes } from './frame/sign-in.ts'
import { homeRoute } from './home/home.ts'
import { newsRoute } from './news.ts'
import { paymentsRoute } from './payments/list.ts'
import { newPaymentRoutes } from './payments/new.ts'
import { paymentRoutes } from './payments/payment.ts'
import { readOperations } from './payments/rows.ts'
import { requestsRoute } from './requests/list.ts'
import { requestRoute } from './requests/request.ts'
import { signatureRoutes } from './signature/signature.ts'
import { webhooksRoute } from './webhooks/list.ts'
import { messageRoutes } from './webhooks/message.ts'
import { newWebhookRoutes } from './webhooks/new.ts'
import { probeRoute } from './webhooks/probe.ts'
import { webhookRoute } from './webhooks/webhook.ts'
import { webhookActionRoutes } from './webhooks/webhook-actions.ts'

/**
 * Everything below /console: one line for each file of pages. There is nothing while the console is off. `operations`
 * are the endpoints whose requests it shows.
 */
export function consoleRoutes(context: ToolContext, operations: readonly Endpoint[]): Route[] {
  if (!context.config.console) return []
  return [
    ...signInRoutes(context),
    homeRoute(context),
    newsRoute(context),
    paymentsRoute(context),
    ...newPaymentRoutes(context),
    ...paymentRoutes(context, readOperations(operations)),
    requestsRoute(context, operations),
    requestRoute(context, operations),
    agreementsRoute(context),
    ...agreementRoutes(context),
    ...deliveriesRoutes(context),
    webhooksRoute(context),
    ...newWebhookRoutes(context),
    webhookRoute(context),
    ...webhookActionRoutes(context),
    probeRoute(context),
    ...messageRoutes(context),
    ...signatureRoutes(context),
    checkRoute(context),
    accountsRoute(context),
  ]
}
