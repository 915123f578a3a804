import type { Context } from '../context.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { listMessages } from './messages.ts'
import { listRequests } from './requests.ts'
import { sendMessage } from './send.ts'

/** What reads the record below /control. Without a recorder there is none of it. */
export const readingEndpoints = (context: Context, stopped: () => boolean): Endpoint[] =>
  context.recorder
    ? [listRequests(context, stopped), listMessages(context, stopped), sendMessage(context)]
    : []
