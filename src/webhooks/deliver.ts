import type { Clock, Database, Send } from '../ports.ts'
import {
  claimMessage,
  findSendable,
  recordAttempts,
  type Sendable,
  type Unsent,
  unsentMessages,
} from './store.ts'
import { type DeliveryStatus, deliveryStatus, type Message, signature } from './webhook.ts'

/**
 * How long a message belongs to the instance that wrote or claimed it, in milliseconds: longer than
 * the two messages of one change can take to one webhook, at two attempts of two seconds each.
 */
export const CLAIM_MS = 10_000

export type Deliveries = {
  /**
   * Delivers messages that were just committed: webhooks side by side, one webhook's messages in
   * order. Never rejects; resolves when every attempt that is due has been recorded.
   */
  deliver(messages: readonly Message[]): Promise<void>
  /** Sends what a stopped instance left unsent. `atStart`: no other process may be using the database. */
  recover(atStart: boolean): Promise<void>
  /** Resolves when nothing is being delivered. */
  settled(): Promise<void>
}

export type DeliveryPorts = {
  database: Database
  clock: Clock
  send: Send
  /** Told of faults that are ours, not the receiver's: the message stays PENDING. */
  onFault: (error: unknown) => void
}

export function createDeliveries({ database, clock, send, onFault }: DeliveryPorts): Deliveries {
  const underway = new Set<Promise<void>>()

  async function attempt(message_id: string, sendable: Sendable): Promise<DeliveryStatus> {
    const { callback_url, signing_key, body, webhookStatus } = sendable
    const attempts = [...sendable.attempts]
    let status: DeliveryStatus = 'FAILED'
    if (body !== null && webhookStatus === 'ACTIVE') {
      const at = clock()
      const headers = {
        'Content-Type': 'application/json',
        'Pay-Signature': signature(body, signing_key),
      }
      attempts.push({ ...(await send(callback_url, headers, body)), at })
      status = deliveryStatus(attempts)
    }
    await database.write([recordAttempts(message_id, status, attempts)])
    return status
  }

  async function deliverOne(message_id: string): Promise<void> {
    for (;;) {
      const sendable = await findSendable(database, message_id, clock())
      if (!sendable) return
      if ((await attempt(message_id, sendable)) !== 'PENDING') return
    }
  }

  async function claimAndDeliver(unsent: Unsent): Promise<void> {
    const claimed = await database.write([claimMessage(unsent, clock() + CLAIM_MS)])
    if (claimed) await deliverOne(unsent.message_id)
  }

  /** A webhook's messages go one after another; a fault with one does not stop the next. */
  function inOrder<Item extends { webhook_id: string }>(
    items: readonly Item[],
    each: (item: Item) => Promise<void>,
  ): Promise<void> {
    const byWebhook = Map.groupBy(items, item => item.webhook_id)
    const work = Promise.all(
      [...byWebhook.values()].map(async group => {
        for (const item of group) await each(item).catch(onFault)
      }),
    ).then(() => {})
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }

  return {
    deliver: messages => inOrder(messages, ({ message_id }) => deliverOne(message_id)),
    async recover(atStart) {
      const unsent = await unsentMessages(database, clock(), atStart && database.exclusive)
      await inOrder(unsent, claimAndDeliver)
    },
    async settled() {
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}
