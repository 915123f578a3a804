import { webhooksByControl } from '../../pay/webhooks/routes.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { createAccount, endAccount, listAccounts, resetAccount } from './accounts.ts'
import { buildPayment } from './build.ts'
import { readCheck } from './check.ts'
import type { ControlContext } from './endpoint.ts'
import { enterConsole } from './enter.ts'
import { giveResult, startListening, stopListening, takeNext } from './listeners.ts'
import { listMessages } from './messages.ts'
import { readClock, readOverview, setClock } from './overview.ts'
import { completePayment, findPayments } from './payments.ts'
import { createPlan, listPlans, removePlan, removePlans } from './plans.ts'
import { listRequests } from './requests.ts'
import { askAboutMessage, probeWebhook, sendMessage } from './send.ts'

/** Endpoints that read the record. There are none without a recorder. */
const reading = [listRequests, listMessages, readCheck, sendMessage, askAboutMessage, probeWebhook]
/** Endpoints that need the console too. */
const forConsole = [startListening, takeNext, giveResult, stopListening, enterConsole]
/** Endpoints that change payments, clocks and accounts. There are none without FARTHING_CONTROL=true. */
const steering = [
  createAccount,
  listAccounts,
  endAccount,
  resetAccount,
  buildPayment,
  completePayment,
  findPayments,
  readClock,
  setClock,
  createPlan,
  listPlans,
  removePlans,
  removePlan,
]

/** Everything below /control. It has no endpoints while both of its halves are off. */
export function controlEndpoints(context: ControlContext): Endpoint[] {
  const { config, recorder } = context
  const endpoints = [
    ...(recorder ? reading : []),
    ...(recorder && config.console ? forConsole : []),
    ...(config.control ? steering : []),
  ]
  if (endpoints.length === 0) return []
  const built = [readOverview, ...endpoints].map(endpoint => endpoint(context))
  return config.control ? [...built, ...webhooksByControl(context)] : built
}
