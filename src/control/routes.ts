import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { version } from '../version.ts'
import { presentClock, readClock, setClock } from './clock.ts'
import { enterConsole } from './enter.ts'
import { listenerEndpoints } from './listeners.ts'
import { listMessages } from './messages.ts'
import { completePayment, listPayments } from './payments.ts'
import { readQuery } from './query.ts'
import { listRequests } from './requests.ts'
import { sendMessage } from './send.ts'

/** What reads the record below /control. Without a recorder there is none of it. */
export const readingEndpoints = (context: Context, stopped: () => boolean): Endpoint[] =>
  context.recorder
    ? [
        listRequests(context, stopped),
        listMessages(context, stopped),
        sendMessage(context),
        ...listenerEndpoints(context, stopped),
        enterConsole(context),
      ]
    : []

/** What changes payments and clocks below /control. Without FARTHING_CONTROL=true there is none of it. */
export const steeringEndpoints = (context: Context, stopped: () => boolean): Endpoint[] =>
  context.config.control
    ? [
        completePayment(context),
        listPayments(context, stopped),
        readClock(context),
        setClock(context),
      ]
    : []

/** What this version of the control API has. There is none while both of its halves are off. */
export const overview = (context: Context): Endpoint[] =>
  context.recorder || context.config.control ? [readOverview(context)] : []

const readOverview = ({ config, recorder, time }: Context): Endpoint => ({
  method: 'GET',
  path: '/control',
  area: 'control',
  operationId: 'readControl',
  summary: 'Read what the control API has',
  docs: () => ({ responses: {} }),
  handler: async request => {
    readQuery(request, {})
    const { account } = request
    return {
      version,
      account: account.name,
      clock: presentClock(account, time),
      has: [
        ...(config.control ? ['clock', 'payments'] : []),
        ...(recorder ? ['listeners', 'messages', 'requests'] : []),
      ],
    }
  },
})
