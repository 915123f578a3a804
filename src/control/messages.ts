import type { Context } from '../context.ts'
import { findMessages, type KeptMessage } from '../webhooks/message-store.ts'
import { eventTypes, headersOf, signature } from '../webhooks/webhook.ts'
import { presentMessage } from '../webhooks/wire.ts'
import type { ControlEndpoint } from './docs.ts'
import { limit, oneOf, readQuery, text, wait } from './query.ts'
import type { WaitFor } from './wait.ts'

const MOST = 500

const known = {
  message_id: text,
  payment_id: text,
  event_type: oneOf(eventTypes),
  delivery: oneOf(['PENDING', 'SUCCESSFUL', 'FAILED']),
  after: text,
  limit,
  wait,
}

/** The messages of all webhooks of the account, oldest first. */
export const listMessages = ({ database, time }: Context, waitFor: WaitFor): ControlEndpoint => ({
  method: 'GET',
  path: '/control/messages',
  operationId: 'listMessages',
  summary: 'List the webhook messages of the account',
  query: known,
  handler: async request => {
    const { wait: ms = 0, limit: most = MOST, ...filter } = readQuery(request, known)
    const found = await waitFor(request, ms, ({ room }) =>
      findMessages(database, room, filter, most),
    )
    const now = time.now(request.account)
    const results = found.map(message => present(message, now))
    return { results, next: results.at(-1)?.message_id ?? filter.after ?? null }
  },
})

function present(message: KeptMessage, now: number) {
  const { message_id, webhook_id, event_type, payment_id, signing_key } = message
  const shown = presentMessage(message, now)
  const raw = shown.body === null ? null : message.body
  return {
    ...{ message_id, webhook_id, event_type, payment_id },
    at: shown.created_date,
    delivery: shown.last_delivery_status,
    attempts: shown.attempts,
    raw,
    headers: raw === null ? null : headersOf(signature(raw, signing_key)),
  }
}
