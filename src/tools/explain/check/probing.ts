/** What the files about probes share. */

import type { Account } from '../../../core/account.ts'
import { isSuccess } from '../../../core/http-status.ts'
import { documented } from '../../../pay/differences/source.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { EventType, Message } from '../../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../../context.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Judged } from './rule.ts'

/** All messages together. */
export const MOST_POSTS = 48
/** Milliseconds for a whole probe. A message takes 2 seconds at most. */
export const MOST_MS = 20_000
export const POST_MS = 2_000

/** What is wrong with a signature: one digit is changed, it is missing, or it is made with a key that anybody knows. */
export type Forgery = { damage?: 'digit' | 'missing'; key?: string }

/** A probe under way, and what it may do. */
export type Probe = {
  context: ToolContext
  account: Account
  /** A true message about this payment as it is now, with a new identifier. undefined if the webhook is not subscribed to the event. */
  make: (payment: Payment, event_type?: EventType) => Message | undefined
  newId: () => string
  /** `words` say in the record what is special about it. */
  post: (message: Message, words: string, forgery?: Forgery) => Promise<Exchange>
  /** Whether so many more messages may be sent, which together take at most so many milliseconds. */
  maySend: (messages: number, ms?: number) => boolean
}

export const CONTROL = 'the true message, as a control'

export const OUT_OF_TIME: Judged = {
  lacking: `The probe ended before: it takes at most ${MOST_MS / 1000} seconds and sends at most ${MOST_POSTS} messages.`,
}

export const isAccepted = ({ status }: Exchange): boolean => isSuccess(status)

export const SIGNING = documented('webhooks/#verifying-webhook-messages-from-gov-uk-pay')
