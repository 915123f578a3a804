import type { Context } from '../../pay/context.ts'
import type { Endpoint, Route } from '../../platform/http/endpoint.ts'
import { messageRoutes } from './message.ts'
import { newerRoute } from './newer.ts'
import { sendNext, visitOf } from './page.ts'
import { paymentRoutes } from './payment-page.ts'
import { paymentsRoute } from './payments.ts'
import { requestRoute } from './request.ts'
import { requestsRoute } from './requests.ts'
import { signInRoutes } from './sign-in.ts'
import { signatureRoutes } from './signature.ts'
import { webhookRoute } from './webhook-page.ts'
import { webhooksRoute } from './webhooks.ts'

/**
 * Everything below /console: one line for each file of pages. There is nothing while the console is off. `operations`
 * are the endpoints whose requests it shows.
 */
export const consoleRoutes = (context: Context, operations: readonly Endpoint[]): Route[] =>
  context.config.console
    ? [
        openConsole(context),
        ...signInRoutes(context),
        newerRoute(context),
        paymentsRoute(context),
        ...paymentRoutes(context),
        requestsRoute(context, operations),
        requestRoute(context),
        webhooksRoute(context),
        webhookRoute(context),
        ...messageRoutes(context),
        ...signatureRoutes(context),
      ]
    : []

/** The console begins with the payments. */
const openConsole = (context: Context): Route => ({
  method: 'GET',
  path: '/console',
  area: 'console',
  handler: async (request, reply) => sendNext(reply, visitOf(request, context), { to: 'payments' }),
})
