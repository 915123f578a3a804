/** What the files about probes share. */

import timers from 'node:timers/promises'
import type { Account, Behaviour } from '../../../core/account.ts'
import { isSuccess } from '../../../core/http-status.ts'
import type { AccountTime } from '../../../core/ports.ts'
import { documented } from '../../../pay/differences/source.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { EventType, Message } from '../../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../../context.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Read } from '../../record/store.ts'
import type { Judged } from './rule.ts'

/** All messages together. */
export const MOST_POSTS = 48
/** Milliseconds for a whole probe. A message takes 2 seconds at most. */
export const MOST_MS = 20_000
export const POST_MS = 2_000
/** Milliseconds within which a receiver reads the payment of a message. */
export const READ_WITHIN = 5_000
const POLL_INTERVAL = 200

/** What is wrong with a signature: one digit is changed, it is missing, or it is made with a key that anybody knows. */
export type Forgery = { damage?: 'digit' | 'missing'; key?: string }

/** A forgery that was accepted, the first one of the rule with this identifier. */
export type Suspect = { id: string; forgery: Forgery; words: string }

/** `words` say in the record what is special about it. */
export type ToSend = { message: Message; words: string; forgery?: Forgery | undefined }

/** A probe under way, and what it may do. */
export type Probe = {
  context: ToolContext
  account: Account
  /**
   * A true message about this payment as it is, with a new identifier. undefined if the webhook is not subscribed to the
   * event. `as`: who prints it, if not the behaviour of the payment.
   */
  make: (
    payment: Payment,
    options?: { event_type?: EventType; as?: Behaviour },
  ) => Message | undefined
  /** A new identifier of this time, or of now. */
  newId: (at?: AccountTime) => string
  /**
   * Sends these one after the other, or all at once, while no other message is under way. Sends none, and resolves to
   * undefined, if the bounds do not allow all of them and `ms` milliseconds more.
   */
  send: (
    messages: readonly ToSend[],
    options?: { atOnce?: true | undefined; ms?: number },
  ) => Promise<Exchange[] | undefined>
  /** The reads through the API of payments that messages of this probe were about. */
  reads: () => Promise<Read[]>
  /** Whether its time is over, or nobody waits for it any more. */
  isOver: () => boolean
}

export const CONTROL = 'the true message, as a control'

export const OUT_OF_TIME: Judged = {
  lacking: `The probe ended before: it takes at most ${MOST_MS / 1000} seconds and sends at most ${MOST_POSTS} messages.`,
}

export const VARY = 'The answers of the receiver vary: it does not answer equal messages alike.'

export const isAccepted = ({ status }: Exchange): boolean => isSuccess(status)

/** Looks for reads, also of other instances, which write them a little later, until this holds or five seconds are over. */
export async function readsShow(
  { reads, isOver }: Probe,
  holds: (reads: readonly Read[]) => boolean,
): Promise<boolean> {
  for (let waited = 0; ; waited += POLL_INTERVAL) {
    if (holds(await reads())) return true
    if (waited >= READ_WITHIN || isOver()) return false
    await timers.setTimeout(POLL_INTERVAL)
  }
}

export const SIGNING = documented('webhooks/#verifying-webhook-messages-from-gov-uk-pay')
