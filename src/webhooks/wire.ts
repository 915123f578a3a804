import { timeOf } from '../ids.ts'
import { oldestKept } from '../retention.ts'
import { iso } from '../time.ts'
import type { AttemptBody, ListedWebhookBody, WebhookBody, WebhookMessageBody } from './schema.ts'
import type { MessageRow } from './store.ts'
import type { Attempt, Webhook } from './webhook.ts'

/** A webhook as lists show it: without its signing key. */
export function presentListed(webhook: Webhook): ListedWebhookBody {
  const { webhook_id, callback_url, description, subscriptions, status } = webhook
  return {
    external_id: webhook_id,
    callback_url,
    ...(description !== undefined && { description }),
    subscriptions: [...subscriptions],
    status,
    created_date: iso(timeOf(webhook_id)),
  }
}

/** As registering and reading one show it. */
export const present = (webhook: Webhook): WebhookBody => ({
  ...presentListed(webhook),
  signing_key: webhook.signing_key,
})

const presentAttempt = ({ at, ...outcome }: Attempt): AttemptBody => ({
  created_date: iso(at),
  send_at: iso(at),
  ...outcome,
})

/** A message of the delivery history. `now` in milliseconds: once its payment is gone it has no body and is never sent. */
export function presentMessage(row: MessageRow, now: number): WebhookMessageBody {
  const gone = row.payment_id < oldestKept(now)
  const attempts = (JSON.parse(row.attempts) as Attempt[]).map(presentAttempt).reverse() // written by recordAttempts
  return {
    webhook_message_id: row.message_id,
    external_id: row.message_id,
    created_date: iso(row.created),
    event_date: iso(row.created),
    event_type: row.event_type,
    resource_id: row.payment_id,
    resource_type: 'payment',
    last_delivery_status: gone && row.status === 'PENDING' ? 'FAILED' : row.status,
    latest_attempt: attempts[0] ?? null,
    attempts,
    body: gone || row.body === null ? null : JSON.parse(row.body),
  }
}
