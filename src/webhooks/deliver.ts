import type { Database, Send, Statement, Time } from '../ports.ts'
import {
  claimMessage,
  findSendable,
  insertMessage,
  oldestUnsent,
  recordAttempts,
  type Sendable,
  webhooksToRecover,
} from './store.ts'
import {
  type Attempt,
  type DeliveryStatus,
  deliveryStatus,
  type Message,
  signature,
} from './webhook.ts'

/**
 * How long a message belongs to the instance that wrote it, claimed it or last recorded an attempt, in
 * milliseconds: longer than two attempts of a message before it and one of its own take, at two
 * seconds each.
 */
export const CLAIM_MS = 10_000

export type Deliveries = {
  /** The rows of messages that `deliver` is called with next: to be written with the change that they tell. */
  insert(messages: readonly Message[]): Statement[]
  /**
   * Delivers messages that were just committed: webhooks side by side, one webhook's messages in
   * order. Never rejects; resolves when every attempt that is due has been recorded.
   */
  deliver(messages: readonly Message[]): Promise<void>
  /**
   * Sends what stopped instances left unsent, in the same order as `deliver`. May be called again at
   * any time, also by several instances at once: a webhook is served by one of them. Begins no
   * further message once `stop` is aborted.
   */
  recover(stop?: AbortSignal): Promise<void>
  /** How many calls of `deliver` have not resolved. */
  waiting(): number
  /** Resolves when nothing is being delivered. */
  settled(): Promise<void>
}

export type DeliveryPorts = {
  database: Database
  time: Time
  send: Send
  /** Told of faults that are ours, not the receiver's: the message stays PENDING. */
  onFault: (error: unknown) => void
  /** Told of attempts that got no status for a reason that has a code, such as ECONNREFUSED. */
  onBroken?: (webhook_id: string, result: string, cause: string) => void
}

export function createDeliveries(ports: DeliveryPorts): Deliveries {
  const { database, time, onFault } = ports
  const underway = new Set<Promise<void>>()
  let waiting = 0

  function sideBySide(works: Promise<void>[]): Promise<void> {
    const all = Promise.all(works).then(() => {})
    underway.add(all)
    return all.finally(() => underway.delete(all))
  }

  return {
    insert: messages => messages.map(message => insertMessage(message, time.wall() + CLAIM_MS)),
    deliver(messages) {
      if (messages.length === 0) return Promise.resolve()
      const byWebhook = [...Map.groupBy(messages, message => message.webhook_id).values()]
      waiting += 1
      return sideBySide(
        byWebhook.map(group => deliverInOrder(ports, group).catch(onFault)),
      ).finally(() => {
        waiting -= 1
      })
    },
    waiting: () => waiting,
    async recover(stop) {
      const webhooks = await webhooksToRecover(database, time.wall())
      await sideBySide(webhooks.map(id => recoverWebhook(ports, id, stop).catch(onFault)))
    },
    async settled() {
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}

/** In order: what follows one that was taken over, or that a fault has kept, is left to `recover`. */
async function deliverInOrder(ports: DeliveryPorts, group: Message[]): Promise<void> {
  for (const { message_id } of group) if (!(await deliverOne(ports, message_id))) return
}

/** Ends where another instance, or a request, is at work on the oldest message: the rest is theirs. */
async function recoverWebhook(
  ports: DeliveryPorts,
  webhook_id: string,
  stop?: AbortSignal,
): Promise<void> {
  const { database, time } = ports
  while (!stop?.aborted) {
    const unsent = await oldestUnsent(database, webhook_id)
    if (!unsent || unsent.claimed_until > time.wall()) return
    if (!(await database.write([claimMessage(unsent, time.wall() + CLAIM_MS)]))) return
    await deliverOne(ports, unsent.message_id)
  }
}

/** False when another instance has taken the message over: its webhook is served there. */
async function deliverOne(ports: DeliveryPorts, message_id: string): Promise<boolean> {
  for (;;) {
    const sendable = await findSendable(ports.database, message_id, ports.time)
    if (!sendable) return true
    const status = await attempt(ports, message_id, sendable)
    if (status !== 'PENDING') return status !== undefined
  }
}

/**
 * What is gone, or is for a webhook that was deactivated, is given up without an attempt. undefined when
 * another instance has taken the message over: what this one did then is not recorded.
 */
async function attempt(
  { database, time, send, onBroken }: DeliveryPorts,
  message_id: string,
  {
    account,
    webhook_id,
    callback_url: url,
    signing_key,
    body,
    webhook_status,
    attempts: before,
  }: Sendable,
): Promise<DeliveryStatus | undefined> {
  const attempts = JSON.parse(before) as Attempt[] // written by recordAttempts
  let status: DeliveryStatus = 'FAILED'
  if (body !== null && webhook_status === 'ACTIVE') {
    const at = time.now(account)
    const headers = {
      'Content-Type': 'application/json',
      'Pay-Signature': signature(body, signing_key),
    }
    const { cause, ...outcome } = await send({
      account,
      webhook_id,
      message_id,
      url,
      headers,
      body,
    })
    if (cause) onBroken?.(webhook_id, outcome.result, cause)
    attempts.push({ ...outcome, at })
    status = deliveryStatus(attempts)
  }
  const until = time.wall() + CLAIM_MS
  const recorded = await database.write([
    recordAttempts(message_id, before, status, attempts, until),
  ])
  return recorded ? status : undefined
}
