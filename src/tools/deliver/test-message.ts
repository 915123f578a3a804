import type { Account } from '../../core/account.ts'
import type { SentEventType } from '../../pay/differences/messages.ts'
import { advance } from '../../pay/payments/advance.ts'
import { causedBy, makePayment, messagesOf } from '../../pay/payments/commands.ts'
import type { Payment } from '../../pay/payments/payment.ts'
import { refund } from '../../pay/payments/refund.ts'
import { readNewPayment } from '../../pay/payments/request.ts'
import { insertPayment } from '../../pay/payments/store.ts'
import type { Trigger } from '../../pay/payments/transitions.ts'
import { insertRefund } from '../../pay/refunds/store.ts'
import type { Webhook } from '../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../context.ts'

const PAID: Trigger[] = ['open_page', 'choose_success', 'confirm']

/** The event types that are sent, with the triggers that move the payment there. */
const triggersTo = {
  card_payment_succeeded: PAID,
  card_payment_captured: [...PAID, 'confirm_capture'],
  card_payment_refunded: [...PAID, 'confirm_capture'],
  card_payment_failed: ['open_page', 'choose_declined'],
  card_payment_cancelled: ['cancel'],
  card_payment_expired: ['expire'],
} as const satisfies Record<SentEventType, readonly Trigger[]>

export const testEvents = ({ subscriptions }: Pick<Webhook, 'subscriptions'>): SentEventType[] =>
  (Object.keys(triggersTo) as SentEventType[]).filter(type => subscriptions.includes(type)) // typed string[]

const AMOUNT = 1450

type TestMessageRequest = {
  account: Account
  webhook: Webhook
  event_type: SentEventType
  /** The address at which the client reached the API. */
  address: string
  return_url: string
}

/**
 * Makes a payment that has reached the event, and sends the message about it to this webhook alone. Resolves after the
 * delivery. If the webhook is not active, makes nothing and resolves to undefined.
 */
export async function sendTestMessage(
  context: ToolContext,
  { account, webhook, event_type, address, return_url }: TestMessageRequest,
): Promise<{ message_id: string; refund_id: string | undefined } | undefined> {
  const { config, deliveries, newId, time } = context
  const { room } = account
  const now = time.now(account)
  const fields = readNewPayment({
    amount: AMOUNT,
    reference: 'TEST-MESSAGE',
    description: 'Made for a test message to a webhook',
    return_url,
  })
  const base_url = config.baseUrl === undefined ? address : undefined
  const { after } = makePayment(context, account, now, {
    given: fields,
    base_url,
    origin: 'test message',
    // The capture is held, so that no other message follows.
    applied: { capture: 'held' },
  })
  const ended = triggersTo[event_type].reduce(
    (payment: Payment, trigger) => advance(payment, trigger, now)?.after ?? payment,
    after,
  )
  const refund_id = event_type === 'card_payment_refunded' ? newId(now, room) : undefined
  const payment = refund_id ? refund(ended, AMOUNT, now).after : ended
  const { payment_id } = payment
  const change = { after: payment, at: now, sends: [event_type] }
  const messages = await messagesOf(context, change, [webhook])
  const statements = [
    insertPayment(payment),
    ...(refund_id
      ? [insertRefund({ refund_id, payment_id, room, amount: AMOUNT, scenario: 'success' })]
      : []),
  ]
  const written = await deliveries.write(room, statements, messages, { all: true })
  const [message] = messages
  if (!written || !message) return undefined
  context.recordEffects?.({ account, payment, caused: causedBy(payment, 0, messages) })
  await deliveries.deliver(messages)
  return { message_id: message.message_id, refund_id }
}
