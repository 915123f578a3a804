import type { Account } from '../../core/account.ts'
import { DELIVERIES_AT_DATABASE, DELIVERING_BYTES } from '../../core/budgets.ts'
import { overloaded } from '../../core/errors.ts'
import { createGathering } from '../../core/gather.ts'
import { currentOwner, resting } from '../../core/guests.ts'
import type { Database, Ports, Post, Statement } from '../../core/ports.ts'
import { createShares } from '../../core/shares.ts'
import { NOBODY_LISTENS } from './listener.ts'
import {
  attemptsOf,
  claimMessage,
  findSendables,
  insertMessage,
  type MessageRow,
  oldestUnsent,
  type Recording,
  recordAttempts,
  type Sendable,
  webhooksToRecover,
} from './message-store.ts'
import {
  type DeliveryStatus,
  deliveryStatus,
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
 * Delivery runs after the commit. A write that loses a race and is repeated calls `write` again, but
 * `deliver` is called once, with the messages of the write that succeeded.
 */
export type Deliveries = {
  /**
   * Writes a change and the messages of the room that announce it. As `write` of the database; throws 503 if there is no
   * space for the bytes of the messages, which count until `deliver` has ended. There is no message for a webhook that
   * has been deactivated meanwhile; with `expect` nothing is written then. `write` takes the place of that of the database.
   */
  write(
    room: string,
    change: Statement[],
    messages: readonly Message[],
    options?: Pick<Statement, 'expect'> & { write?: Database['write'] | undefined },
  ): Promise<boolean>
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
  /** Runs other work that sends, so that `settled` waits for it. It ends soon after `isStopping` is true. */
  beside(work: (isStopping: () => boolean) => Promise<void>): void
  /** Resolves when nothing is being delivered. */
  settled(): Promise<void>
}

type DeliveryPorts = Pick<Ports, 'database' | 'time' | 'send'> & {
  /** Receives faults of this service, not of the receiver. The message stays PENDING. */
  onFault: (error: unknown) => void
  /** Called after every attempt. */
  onAttempt?: (attempt: RawAttempt) => void
  isStopping?: () => boolean
  /** Called after every write of a room. */
  onChange?: (room: string) => void
  record?: ((account: Account, attempted: RawAttempt) => void) | undefined
}

export function createDeliveries(ports: DeliveryPorts): Deliveries {
  const { database, time, onFault, onChange } = ports
  const underway = new Set<Promise<void>>()
  const shares = createShares(DELIVERING_BYTES)
  /** By messages: their room, and what is called when they are delivered. */
  const written = new WeakMap<readonly Message[], { room: string; release: () => void }>()
  const find = createGathering(DELIVERIES_AT_DATABASE, (ids: string[]) =>
    findSendables(database, ids, time),
  )
  const recordAll = createGathering(DELIVERIES_AT_DATABASE, (made: Recording[]) =>
    recordAttempts(database, made, time.wall() + CLAIM_MS),
  )
  const atDatabase = (room: string): AtDatabase => ({
    find: message_id => find(room, message_id),
    record: recording => recordAll(room, recording),
  })

  function track(deliveries: Promise<void>[]): Promise<void> {
    const all = Promise.all(deliveries).then(() => {})
    underway.add(all)
    return all.finally(() => underway.delete(all))
  }

  /** Stops at a message that another instance has taken over, or that a fault left unsent. `recover` sends the rest. */
  async function inOrder(group: Message[], room: string): Promise<void> {
    for (const message of group)
      if (!(await deliverMessage(ports, message, atDatabase(room)))) return
  }

  return {
    async write(room, change, messages, { write = database.write, ...expect } = {}) {
      if (messages.length === 0) {
        const isWritten = await write(change)
        if (isWritten) onChange?.(room)
        return isWritten
      }
      const bytes = messages.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
      const owner = currentOwner() || room
      if (!shares.hasSpace(owner, bytes)) throw overloaded()
      shares.add(owner, bytes)
      const release = () => shares.add(owner, -bytes)
      const claimedUntil = time.wall() + CLAIM_MS
      const inserts = messages.map(each => ({ ...insertMessage(each, claimedUntil), ...expect }))
      let isWritten = false
      try {
        isWritten = await write([...change, ...inserts])
        return isWritten
      } finally {
        if (!isWritten) release()
        else {
          written.set(messages, { room, release })
          onChange?.(room)
        }
      }
    },
    deliver(committed) {
      if (committed.length === 0) return Promise.resolve()
      const { room = '', release } = written.get(committed) ?? {}
      const byWebhook = [...Map.groupBy(committed, message => message.webhook_id).values()]
      const all = track(byWebhook.map(group => inOrder(group, room).catch(onFault)))
      // A receiver that hangs must not use up places.
      return resting(all).finally(() => {
        release?.()
      })
    },
    beside(work) {
      void track([work(ports.isStopping ?? (() => false)).catch(onFault)])
    },
    async recover(stop) {
      const webhooks = await webhooksToRecover(database, time.wall())
      await track(
        webhooks.map(id => recoverWebhook(ports, id, atDatabase(id), stop).catch(onFault)),
      )
    },
    async settled() {
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}

/** Sends the unsent messages of a webhook. Stops when another instance or request has a claim on the oldest: it sends the rest. */
async function recoverWebhook(
  ports: DeliveryPorts,
  webhook_id: string,
  atDatabase: AtDatabase,
  stop?: AbortSignal,
): Promise<void> {
  const { database, time } = ports
  while (!stop?.aborted) {
    const unsent = await oldestUnsent(database, webhook_id)
    if (!unsent || unsent.claimed_until > time.wall()) return
    if (!(await database.write([claimMessage(unsent, time.wall() + CLAIM_MS)]))) return
    await deliverMessage(ports, unsent, atDatabase)
  }
}

/** Reads a message, and records its attempts, together with others of its account. */
type AtDatabase = {
  find(message_id: string): Promise<Sendable | undefined>
  record(recording: Recording): Promise<boolean>
}

/**
 * Makes the attempts of a message that are left, and records each. Makes none when the payment is gone or the webhook
 * inactive. Returns false when another instance has taken the message over: its last attempt here is then not recorded,
 * and the other instance serves the webhook.
 */
async function deliverMessage(
  ports: DeliveryPorts,
  { message_id, body }: Pick<MessageRow, 'message_id' | 'body'>,
  atDatabase: AtDatabase,
): Promise<boolean> {
  const { record, onAttempt, onChange } = ports
  for (;;) {
    const sendable = await atDatabase.find(message_id)
    if (!sendable) return true
    const { account, isGone, webhook_status, callback_url: url, signing_key } = sendable
    const attempts = attemptsOf(sendable)
    let status: DeliveryStatus = 'FAILED'
    let made: RawAttempt | undefined
    if (body !== null && !isGone && webhook_status === 'ACTIVE') {
      const headers = headersOf(signature(body, signing_key))
      const post = { url, headers, body, keepsAnswer: record !== undefined }
      const { result, attempted } = await attempt(ports, account, sendable, post)
      made = attempted
      onAttempt?.(attempted)
      const { cause, answer, ...rest } = result
      attempts.push({ ...rest, at: attempted.at })
      status = rest.result === NOBODY_LISTENS ? 'FAILED' : deliveryStatus(attempts)
    }
    const before = sendable.attempts
    const recording = atDatabase.record({ message_id, before, status, attempts })
    const written = await recording.finally(() => {
      if (made) record?.(account, made)
      onChange?.(account.room)
    })
    if (!written) return false
    if (status !== 'PENDING') return true
  }
}

/** An attempt to deliver a message, before it is masked. The body of the response may still be arriving. */
export type RawAttempt = Awaited<ReturnType<typeof attempt>>['attempted']

/** Sends a message once. Returns the result, and the attempt for the record. */
export async function attempt(
  { send, time }: Pick<Ports, 'send' | 'time'>,
  account: Account,
  { webhook_id, message_id, payment_id, event_type }: Omit<Message, 'created' | 'body'>,
  { keepsAnswer = false, ...post }: Post,
) {
  const started = performance.now()
  const began = time.wall()
  const at = time.now(account)
  const result = await send({ ...post, keepsAnswer, account, webhook_id, message_id })
  const { cause, answer } = result
  const attempted = {
    ...post,
    webhook_id,
    message_id,
    payment_id,
    event_type,
    began,
    at,
    answer,
    ms: Math.round(performance.now() - started),
    failed: result.status === 'FAILED',
    status: result.status_code,
    result: cause ? `${result.result} (${cause})` : result.result,
  }
  return { result, attempted }
}
