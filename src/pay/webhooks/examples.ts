/** An example webhook and its message for /openapi.json. */

import { timeOf } from '../../core/ids.ts'
import { pathParameter, type Schema } from '../../platform/http/openapi.ts'
import { deliveryStatus, type EventType, messagesFor, type Webhook } from './webhook.ts'
import { presentMessage } from './wire.ts'

/** The payment that messages are about: its schema, and an example that was just captured. */
export type Resource = { schema: Schema; example: { payment_id: string } }

export const request = {
  callback_url: 'https://ledger.example.org/payments',
  description: 'Ledger',
  subscriptions: ['card_payment_captured', 'card_payment_refunded'] satisfies EventType[],
}

export const webhook: Webhook = {
  webhook_id: '06glkd1835oa9lg4ivrt1l7qjo',
  room: 'example',
  status: 'ACTIVE',
  ...request,
  signing_key: 'webhook_test_5b0gjvo83fdsn2f65acga88uog',
}

/** It contains no address, so it is the same for every reader. */
export const SHORT_BODY = '{"api_version":1}'
const MESSAGE_ID = '06gq1chf6o28tvbu9983l9j660'

export const webhookId = pathParameter('webhook_id', 'A webhook of the account', webhook.webhook_id)

export function message({ example }: Resource) {
  const news = {
    payment_id: example.payment_id,
    at: timeOf(MESSAGE_ID),
    eventTypes: ['card_payment_captured'] satisfies EventType[],
    resource: example,
  }
  const [first] = messagesFor(news, [webhook], () => MESSAGE_ID)
  if (!first) throw new Error('the example webhook is not subscribed')
  return first
}

/** The message in the delivery history, after a time-out and a second attempt. */
export function deliveredMessage(resource: Resource) {
  const sent = message(resource)
  const attempts = [
    {
      at: sent.created + 6,
      status: 'FAILED',
      status_code: null,
      response_time: 2001,
      result: 'timeout',
    },
    {
      at: sent.created + 2009,
      status: 'SUCCESSFUL',
      status_code: 200,
      response_time: 38,
      result: '200 OK',
    },
  ] as const
  const row = { ...sent, status: deliveryStatus(attempts), attempts: JSON.stringify(attempts) }
  return presentMessage(row, sent.created)
}
