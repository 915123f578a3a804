import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { messageEndpoints } from './message.ts'
import { newerEndpoint } from './newer.ts'
import { sendNext, visitOf } from './page.ts'
import { paymentEndpoints } from './payment-page.ts'
import { paymentsEndpoints } from './payments.ts'
import { requestEndpoints } from './request.ts'
import { requestsEndpoints } from './requests.ts'
import { signInEndpoints } from './sign-in.ts'
import { signatureEndpoints } from './signature.ts'
import { webhookEndpoints } from './webhook-page.ts'
import { webhooksEndpoints } from './webhooks.ts'

/** Everything below /console: one line for each file of pages. There is nothing while the console is off. */
export const consoleEndpoints = (context: Context): Endpoint[] =>
  context.config.console
    ? [
        openConsole(context),
        ...signInEndpoints(context),
        newerEndpoint(context),
        ...paymentsEndpoints(context),
        ...paymentEndpoints(context),
        ...requestsEndpoints(context),
        ...requestEndpoints(context),
        ...webhooksEndpoints(context),
        ...webhookEndpoints(context),
        ...messageEndpoints(context),
        ...signatureEndpoints(context),
      ]
    : []

/** The console begins with the payments. */
const openConsole = (context: Context): Endpoint => ({
  method: 'GET',
  path: '/console',
  area: 'console',
  operationId: 'openConsole',
  summary: 'Go to the first page',
  docs: () => ({ responses: {} }),
  handler: async (request, reply) => sendNext(reply, visitOf(request, context), { to: 'payments' }),
})
