import type { Endpoint } from '../../platform/http/endpoint.ts'
import type { ToolContext } from '../context.ts'
import { accountEndpoints, resetAccount } from './accounts.ts'
import { buildPayment } from './build.ts'
import { readCheck } from './check.ts'
import { readClock, setClock } from './clock.ts'
import { enterConsole } from './enter.ts'
import { listenerEndpoints } from './listeners.ts'
import { listMessages } from './messages.ts'
import { readOverview } from './overview.ts'
import { completePayment, findPayments } from './payments.ts'
import { planEndpoints } from './plans.ts'
import { listRequests } from './requests.ts'
import { askAboutMessage, sendMessage } from './send.ts'
import type { WaitFor } from './wait.ts'
import { probeWebhook, setWebhookShape } from './webhooks.ts'

type ControlPorts = {
  waitFor: WaitFor
  stopped: () => boolean
  /** The endpoints whose requests are recorded, and that plans can name. */
  operations: readonly Endpoint[]
}

/** Everything below /control. It has no endpoints while both of its halves are off. */
export const controlEndpoints = (context: ToolContext, ports: ControlPorts): Endpoint[] => {
  const endpoints = [...readingEndpoints(context, ports), ...steeringEndpoints(context, ports)]
  return endpoints.length > 0 ? [readOverview(context), ...endpoints] : []
}

/** Endpoints that read the record. There are none without a recorder. */
const readingEndpoints = (
  context: ToolContext,
  { waitFor, stopped, operations }: ControlPorts,
): Endpoint[] =>
  context.recorder
    ? [
        listRequests(context, waitFor, operations),
        listMessages(context, waitFor),
        readCheck(context),
        sendMessage(context),
        askAboutMessage(context, stopped),
        probeWebhook(context, stopped),
        ...(context.config.console
          ? [...listenerEndpoints(context, stopped), enterConsole(context)]
          : []),
      ]
    : []

/** Endpoints that change payments, clocks and accounts. There are none without FARTHING_CONTROL=true. */
const steeringEndpoints = (
  context: ToolContext,
  { waitFor, operations }: ControlPorts,
): Endpoint[] =>
  context.config.control
    ? [
        ...accountEndpoints(context),
        resetAccount(context),
        buildPayment(context),
        completePayment(context),
        findPayments(context, waitFor),
        readClock(context),
        setClock(context),
        ...planEndpoints(context, operations),
        setWebhookShape(context),
      ]
    : []
