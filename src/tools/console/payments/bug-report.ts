import type { Exchange, KeptBody } from '../../../core/exchange.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import { attemptsOf } from '../../../pay/webhooks/message-store.ts'
import { createMask } from '../../recorder/mask.ts'
import type { Rows } from './timeline.ts'

/** Characters of bodies in one report, so that a page stays below 400 KB. What exceeds them is left out, the newest first. */
const MOST_BODIES = 24_000

/**
 * All that is known about a payment as JSON, to be pasted where somebody else looks into it. Recorded exchanges were
 * masked when they were written; `shown` is the payment with its token masked.
 */
export function bugReport({ exchanges, messages, refunds, webhooks }: Rows, shown: object): string {
  const mask = createMask([])
  let left = MOST_BODIES
  const bodyOf = (body: KeptBody | undefined) => {
    if (!body) return null
    left -= body.text.length
    return left >= 0 ? body : { left_out: body.text.length }
  }
  const exchangeOf = (exchange: Exchange) => {
    const { room, payment_id, at, refused, request_body, response_body, ...rest } = exchange
    return {
      at: iso(at),
      ...rest,
      request_body: bodyOf(request_body),
      response_body: bodyOf(response_body),
    }
  }
  const report = {
    farthing: version,
    payment: shown,
    refunds: refunds.map(({ refund_id, amount }) => ({ refund_id, amount })),
    exchanges: exchanges.map(exchangeOf),
    messages: messages.map(message => {
      const { message_id, webhook_id, event_type, status } = message
      return { message_id, webhook_id, event_type, status, attempts: attemptsOf(message) }
    }),
    webhooks: webhooks.map(webhook => ({
      webhook_id: webhook.webhook_id,
      description: webhook.description,
      callback_url: mask.url(webhook.callback_url),
      status: webhook.status,
      subscriptions: webhook.subscriptions,
    })),
  }
  return JSON.stringify(report, null, 2)
}
