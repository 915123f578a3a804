import type { SentEventType } from '../pay/differences/messages.ts'
import { wrongUsage } from './command-error.ts'
import { defineCommand } from './define-command.ts'
import { carryOutAndShow, ENDED_OTHERWISE, type PaymentToMake } from './pay.ts'
import { behaviourOf, connect, serviceOptions } from './running-service.ts'

/** The event types that a payment of this command can cause. */
type Sent = Exclude<SentEventType, 'card_payment_expired'>

const payments: Record<Sent, PaymentToMake> = {
  card_payment_succeeded: { scenario: 'success' },
  card_payment_captured: { scenario: 'success', untilCaptured: true },
  card_payment_refunded: { scenario: 'success', refund: true },
  card_payment_failed: { scenario: 'declined' },
  card_payment_cancelled: { scenario: 'cancel_by_api' },
}
const sent = Object.keys(payments) as Sent[] // Object.keys is typed string[]

export const trigger = defineCommand({
  summary: 'make the shortest payment that sends an event type',
  examples: [
    'farthing trigger card_payment_refunded',
    'farthing trigger card_payment_failed --json | jq .messages',
  ],
  argument: { value: '<event-type>', meaning: sent.join(', '), values: sent },
  options: serviceOptions,
  exitCodes: ENDED_OTHERWISE,
  async run({ config, argument, options }) {
    const service = await connect(config(), options)
    if (argument === 'card_payment_cancelled' && (await behaviourOf(service)) === 'govuk-pay')
      throw wrongUsage(
        'an account with the behaviour govuk-pay sends no card_payment_cancelled: card_payment_failed takes its place',
      )
    return carryOutAndShow(service, { ...payments[argument], ...options })
  },
})
