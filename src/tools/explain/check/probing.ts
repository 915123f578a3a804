/** Sends the messages of a probe within its bounds, and looks which payments the receiver reads. */
import timers from 'node:timers/promises'
import type { Account, Behaviour } from '../../../core/account.ts'
import { isSuccess } from '../../../core/http-status.ts'
import { createSlots, inSlot } from '../../../core/slots.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import { presentPayment } from '../../../pay/payments/response.ts'
import {
  type EventType,
  type Message,
  messagesFor,
  type Webhook,
} from '../../../pay/webhooks/webhook.ts'
import { keptAddresses } from '../../../platform/http/addresses.ts'
import type { ToolContext } from '../../context.ts'
import { type Damage, sendByHand, signed } from '../../deliver/send-again.ts'
import type { Exchange } from '../../record/exchange.ts'
import { type Read, readsSince } from '../../record/store.ts'
import type { Result } from './rule.ts'

/** The most messages of a probe. */
export const MOST_POSTS = 48
/** Milliseconds for a whole probe, for one message, and for a read after a message. */
export const MOST_MS = 20_000
const POST_MS = 2_000
export const READ_WITHIN = 5_000
const POLL_INTERVAL = 200

/** The events of a paid payment. */
export const PAID: EventType[] = ['card_payment_succeeded', 'card_payment_captured']

/** A signature that is damaged, or made with a key that anybody knows. */
export type Forgery = { damage?: Damage; key?: string }

/** `words` describe the message in the record. */
type ToSend = { message: Message; words: string; forgery?: Forgery | undefined }

export const OUT_OF_TIME: Result = {
  lacking: `The probe ended before: it takes at most ${MOST_MS / 1000} seconds and sends at most ${MOST_POSTS} messages.`,
}

export const isAccepted = ({ status }: Exchange): boolean => isSuccess(status)

export type Probe = ReturnType<typeof createProbe>

/** `isAbandoned`: whether nobody waits for the result any more. */
export function createProbe(
  context: ToolContext,
  account: Account,
  webhook: Webhook,
  isAbandoned: () => boolean,
) {
  const { config, database, recorder, time } = context
  const [started, since] = [performance.now(), time.wall()]
  const payment_ids = new Set<string>()
  let posts = 0
  const takeTurn = createSlots(1, 1)
  const maySend = (messages: number, ms: number) =>
    posts + messages <= MOST_POSTS && performance.now() - started + ms <= MOST_MS && !isAbandoned()
  const newId = (at = time.now(account)) => context.newId(at, account.room)
  const post = ({ message, words, forgery }: ToSend): Promise<Exchange> => {
    posts += 1
    payment_ids.add(message.payment_id)
    const { damage, key } = forgery ?? {}
    return sendByHand(context, account, message, {
      ...signed(message.body, key ?? webhook.signing_key, damage),
      url: webhook.callback_url,
      // No forgery is sent before the receiver has accepted a true message.
      byHand: {
        kind: 'probe',
        words,
        ...(forgery && { undamaged: 'accepted' }),
        ...(damage && { damage }),
        ...(key !== undefined && { other_key: true }),
      },
    })
  }
  /** The reads, through the API, of the payments of this probe's messages. */
  async function reads(): Promise<Read[]> {
    await recorder?.flush()
    return readsSince(database, account.room, [...payment_ids], since)
  }
  return {
    newId,
    reads,
    posts: () => posts,
    /**
     * A true message about this payment as it is, with a new identifier. undefined if the webhook is not subscribed to
     * the event. `as`: the behaviour of the body, if not that of the payment.
     */
    make(
      payment: Payment,
      { event_type, as = behaviourOf(payment) }: { event_type?: EventType; as?: Behaviour } = {},
    ): Message | undefined {
      const { payment_id, base_url } = payment
      const resource = presentPayment(payment, keptAddresses(config, base_url))
      const eventTypes = event_type ? [event_type] : PAID
      const change = { payment_id, at: stateOf(payment).at, eventTypes, behaviour: as, resource }
      return messagesFor(change, [webhook], () => newId())[0]
    },
    /**
     * Sends the messages one after the other, or all at once, while no other message is under way. Sends none, and
     * resolves to undefined, if the bounds do not allow all of them and `ms` milliseconds more.
     */
    send: (messages: readonly ToSend[], { atOnce = false, ms = 0 } = {}) =>
      inSlot(takeTurn, '', async () => {
        if (!maySend(messages.length, ms + POST_MS * (atOnce ? 1 : messages.length)))
          return undefined
        return atOnce ? Promise.all(messages.map(post)) : Array.fromAsync(messages, post)
      }),
    /** Polls the reads until `holds` is true or five seconds are over: other instances write theirs a little later. */
    async readsShow(holds: (reads: readonly Read[]) => boolean): Promise<boolean> {
      for (let waited = 0; ; waited += POLL_INTERVAL) {
        if (holds(await reads())) return true
        if (waited >= READ_WITHIN || !maySend(0, 0)) return false
        await timers.setTimeout(POLL_INTERVAL)
      }
    },
  }
}
