import type { Account } from '../../core/account.ts'
import type { RawAttempt } from '../../core/exchange.ts'
import type {
  AttemptResult,
  Database,
  OutgoingMessage,
  Send,
  Statement,
  Time,
} from '../../core/ports.ts'
import { NOBODY_LISTENS } from './listener.ts'
import {
  attemptsOf,
  claimMessage,
  findSendable,
  insertMessage,
  oldestUnsent,
  recordAttempts,
  type Sendable,
  webhooksToRecover,
} from './message-store.ts'
import {
  type DeliveryStatus,
  deliveryStatus,
  type EventType,
  headersOf,
  type Message,
  signature,
} from './webhook.ts'

/**
 * Milliseconds for which a message belongs to the instance that wrote it, claimed it or last recorded an attempt. A
 * message may wait 6 seconds: for both attempts of the message before it, and for its own.
 */
export const CLAIM_MS = 10_000

/**
 * Delivery runs after the commit. A write that loses a race and is repeated calls `insert` again, but
 * `deliver` is called once, with the messages of the write that succeeded.
 */
export type Deliveries = {
  /** The rows of messages. Write them in the same commit as the change that they announce. */
  insert(messages: readonly Message[]): Statement[]
  /**
   * Delivers messages whose rows are committed. Webhooks are served concurrently, the messages of one
   * webhook in order. Never rejects. Resolves when every due attempt is recorded, or after `onFault`.
   */
  deliver(committed: readonly Message[]): Promise<void>
  /**
   * Sends messages that stopped instances left unsent, in the same order as `deliver`. Several instances may call it
   * at any time, because claims let only one of them serve a webhook. Starts no further message once `stop` is
   * aborted.
   */
  recover(stop?: AbortSignal): Promise<void>
  /** The number of calls of `deliver` that have not resolved. */
  waiting(): number
  /** Resolves when nothing is being delivered. */
  settled(): Promise<void>
}

/** The facts of one attempt that may be logged. They contain no body, path, key or token. */
export type AttemptFacts = {
  event_type: EventType
  payment_id: string
  webhook_id: string
  /** Host of the callback_url, with its port unless that is the default. */
  callback_host: string
  /** The HTTP status; without one the reason, such as `connection failed (ECONNREFUSED)`. */
  result: number | string
  /** Duration of the attempt in milliseconds, including the wait for a free slot of the host. */
  ms: number
}

type DeliveryPorts = {
  database: Database
  time: Time
  send: Send
  /** Receives faults of this service, not of the receiver. The message stays PENDING. */
  onFault: (error: unknown) => void
  /** Called after every attempt. */
  onAttempt?: (attempt: AttemptFacts) => void
  /** Records an attempt with its request and response. */
  record?: ((account: Account, attempted: RawAttempt) => void) | undefined
}

export function createDeliveries(ports: DeliveryPorts): Deliveries {
  const { database, time, onFault } = ports
  const underway = new Set<Promise<void>>()
  let waiting = 0

  function track(deliveries: Promise<void>[]): Promise<void> {
    const all = Promise.all(deliveries).then(() => {})
    underway.add(all)
    return all.finally(() => underway.delete(all))
  }

  return {
    insert: messages => messages.map(message => insertMessage(message, time.wall() + CLAIM_MS)),
    deliver(committed) {
      if (committed.length === 0) return Promise.resolve()
      const byWebhook = [...Map.groupBy(committed, message => message.webhook_id).values()]
      waiting += 1
      return track(byWebhook.map(group => deliverInOrder(ports, group).catch(onFault))).finally(
        () => {
          waiting -= 1
        },
      )
    },
    waiting: () => waiting,
    async recover(stop) {
      const webhooks = await webhooksToRecover(database, time.wall())
      await track(webhooks.map(id => recoverWebhook(ports, id, stop).catch(onFault)))
    },
    async settled() {
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}

/** Stops at a message that another instance has taken over, or that a fault left unsent. `recover` sends the rest. */
async function deliverInOrder(ports: DeliveryPorts, group: Message[]): Promise<void> {
  for (const { message_id } of group) if (!(await deliverOne(ports, message_id))) return
}

/** Stops when the oldest message has a valid claim: the instance or request that holds it sends the rest. */
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

/** Returns false when another instance has taken the message over. It then serves the webhook. */
async function deliverOne(ports: DeliveryPorts, message_id: string): Promise<boolean> {
  for (;;) {
    const sendable = await findSendable(ports.database, message_id, ports.time)
    if (!sendable) return true
    const status = await attempt(ports, sendable)
    if (status !== 'PENDING') return status !== undefined
  }
}

/**
 * Gives up without an attempt when the payment is gone or the webhook inactive. Returns undefined when
 * another instance has taken the message over; this attempt is then not recorded.
 */
async function attempt(
  ports: DeliveryPorts,
  sendable: Sendable,
): Promise<DeliveryStatus | undefined> {
  const { database, time } = ports
  const { message_id, body, webhook_status } = sendable
  const attempts = attemptsOf(sendable)
  let status: DeliveryStatus = 'FAILED'
  if (body !== null && webhook_status === 'ACTIVE') {
    const at = time.now(sendable.account)
    attempts.push({ ...(await deliverOnce(ports, sendable, body)), at })
    const isAlone = attempts.at(-1)?.result === NOBODY_LISTENS
    status = isAlone ? 'FAILED' : deliveryStatus(attempts)
  }
  const recorded = await database.write([
    recordAttempts(message_id, sendable.attempts, status, attempts, time.wall() + CLAIM_MS),
  ])
  return recorded ? status : undefined
}

async function deliverOnce(
  { send, time, onAttempt, record }: DeliveryPorts,
  { account, webhook_id, message_id, payment_id, event_type, callback_url, signing_key }: Sendable,
  body: string,
): Promise<Omit<AttemptResult, 'cause' | 'answer'>> {
  const { result, attempted } = await sendOnce(
    { send, time },
    {
      account,
      webhook_id,
      message_id,
      payment_id,
      event_type,
      url: callback_url,
      body,
      headers: headersOf(signature(body, signing_key)),
      keepsAnswer: record !== undefined,
    },
  )
  record?.(account, attempted)
  onAttempt?.({
    event_type,
    payment_id,
    webhook_id,
    ms: attempted.ms,
    callback_host: new URL(callback_url).host,
    result: result.status_code ?? attempted.result, // without its reason phrase, because the receiver may write anything there
  })
  const { cause, answer, ...kept } = result
  return kept
}

/** Sends a message once. Returns the result, and the attempt for the record. */
export async function sendOnce(
  { send, time }: { send: Send; time: Time },
  message: OutgoingMessage & Pick<Message, 'payment_id' | 'event_type'>,
): Promise<{ result: AttemptResult; attempted: RawAttempt }> {
  const { payment_id, event_type, ...outgoing } = message
  const { account, webhook_id, message_id, url, headers, body } = outgoing
  const started = performance.now()
  const began = time.wall()
  const at = time.now(account)
  const result = await send(outgoing)
  const { cause, answer } = result
  const attempted = {
    began,
    at,
    event_type,
    payment_id,
    message_id,
    webhook_id,
    url,
    headers,
    body,
    answer,
    ms: Math.round(performance.now() - started),
    failed: result.status === 'FAILED',
    status: result.status_code,
    result: cause ? `${result.result} (${cause})` : result.result,
  }
  return { result, attempted }
}
