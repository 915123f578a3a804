/** The attempts to deliver one message. */
import type { Account, Behaviour } from '../../core/account.ts'
import { DELIVERIES_AT_DATABASE } from '../../core/budgets.ts'
import { createGathering } from '../../core/gather.ts'
import type { AccountTime, Ports, Post, Statement } from '../../core/ports.ts'
import { createSlots, inSlot } from '../../core/slots.ts'
import { accountOfRoom } from '../../platform/accounts/store.ts'
import { attempts, following } from '../differences/messages.ts'
import { NOBODY_LISTENS } from './listener.ts'
import {
  attemptsOf,
  findSendables,
  type MessageRow,
  type Recording,
  recordAttempts,
} from './message-store.ts'
import {
  deliveryStatus,
  headersOf,
  type Message,
  type MessageStatus,
  signature,
} from './webhook.ts'

/**
 * Milliseconds for which a message belongs to the instance that wrote it, claimed it or last recorded an attempt. A
 * message may wait 6 seconds: for both attempts of the message before it, and for its own.
 */
export const CLAIM_MS = 10_000
/** The same for an attempt that follows redirects. */
const LONG_CLAIM_MS = 60_000

/** The claim that a message of this behaviour needs, in milliseconds. */
export const claimOf = (sent_as: Behaviour): number =>
  attempts[sent_as].first === undefined ? CLAIM_MS : LONG_CLAIM_MS

export type DeliveryPorts = Pick<Ports, 'database' | 'time' | 'send'> & {
  /** Receives faults of this service, not of the receiver. The message stays PENDING. */
  onFault: (error: unknown) => void
  /** Called after every attempt. */
  onAttempt?: (attempt: RawAttempt) => void
  isStopping?: () => boolean
  /** Called after every write of a room. */
  onChange?: (room: string) => void
  record?: ((account: Account, attempted: RawAttempt) => void) | undefined
  postpone?: Postpone | undefined
}

/** Called before the first attempt. Resolves to whether a plan has postponed the message. */
export type Postpone = (
  account: Account,
  message: Pick<Message, 'message_id' | 'payment_id'> & { created: AccountTime },
) => Promise<boolean>

/** The concurrent queries, and writes, of a room. If there were only one, each would wait for the commit before it. */
const RUNS_AT_ONCE = 4

export type AtDatabase = ReturnType<ReturnType<typeof createAtDatabase>>

/**
 * Reads messages and records attempts, each together with others of its room; claims messages in turns. So many
 * messages of one room delay no other room.
 */
export function createAtDatabase({ database, time }: DeliveryPorts) {
  const find = createGathering(
    DELIVERIES_AT_DATABASE,
    (ids: string[]) => findSendables(database, ids, time),
    RUNS_AT_ONCE,
  )
  const record = createGathering(
    DELIVERIES_AT_DATABASE,
    (recordings: Recording[]) => recordAttempts(database, recordings, time.wall() + CLAIM_MS),
    RUNS_AT_ONCE,
  )
  const takeTurn = createSlots(DELIVERIES_AT_DATABASE, Infinity)
  return (room: string) => ({
    find: (message_id: string) => find(room, message_id),
    record: (recording: Recording) => record(room, recording),
    claim: (claim: Statement) => inSlot(takeTurn, room, () => database.write([claim])),
  })
}

/**
 * Makes the attempts of a message that are left, and records each. Makes none when the payment is gone or the webhook
 * inactive. Returns false when another instance has taken the message over: its last attempt here is then not recorded,
 * and the other instance serves the webhook.
 */
export async function deliverMessage(
  ports: DeliveryPorts,
  { message_id, body }: Pick<MessageRow, 'message_id' | 'body'>,
  atDatabase: AtDatabase,
  /** When the attempt was due, in the account's time; a first attempt is due at once. */
  due?: AccountTime,
): Promise<boolean> {
  const { database, time, record, onAttempt, onChange } = ports
  for (;;) {
    const sendable = await atDatabase.find(message_id)
    if (!sendable) return true
    const { account, isGone, webhook_status, callback_url: url, signing_key } = sendable
    const { timeout, delays } = attempts[sendable.sent_as]
    const all = attemptsOf(sendable)
    const isSent = body !== null && !isGone && webhook_status === 'ACTIVE'
    const isFirst = isSent && all.length === 0 && due === undefined
    if (isFirst && (await ports.postpone?.(account, sendable))) {
      onChange?.(account.room)
      return true
    }
    let status: MessageStatus = 'FAILED'
    let newest: RawAttempt | undefined
    if (isSent) {
      const headers = headersOf(signature(body, signing_key))
      const post = {
        url,
        headers,
        body,
        timeout,
        ...following[sendable.sent_as],
        // A reset waits for one request, and promises that no other follows.
        goesOn: async () => (await accountOfRoom(database, account.room)) !== undefined,
        keepsAnswer: record !== undefined,
      }
      const { result, attempted } = await attempt(ports, sendable, post, due)
      newest = attempted
      onAttempt?.(attempted)
      const { cause, answer, redirected, ...rest } = result
      all.push({ ...rest, at: attempted.at })
      status = deliveryStatus(all, sendable.sent_as)
      const isLast = status === 'FAILED' || delays.length === 0
      if (rest.result === NOBODY_LISTENS && isLast) status = 'not listening'
    }
    const before = sendable.attempts
    const delay = status === 'PENDING' ? delays[all.length - 1] : undefined
    const due_at = delay === undefined ? null : (due ?? time.now(account)) + delay
    const recording = { message_id, before, status, attempts: all, due_at }
    const written = await atDatabase.record(recording).finally(() => {
      if (newest) record?.(account, newest)
      onChange?.(account.room)
    })
    if (!written) return false
    if (status !== 'PENDING' || due_at !== null) return true
  }
}

/** An attempt to deliver a message, before it is masked. The body of the response may still be arriving. */
export type RawAttempt = Awaited<ReturnType<typeof attempt>>['attempted']

type Sent = Omit<Message, 'created' | 'body' | 'sent_as'> & { account: Account }

/** Sends a message once. Returns the result, and the attempt for the record. */
export async function attempt(
  { send, time }: Pick<Ports, 'send' | 'time'>,
  { account, webhook_id, message_id, payment_id, event_type }: Sent,
  post: Post,
  due?: AccountTime,
) {
  const started = performance.now()
  const began = time.wall()
  const at = due ?? time.now(account)
  const result = await send({ ...post, account, webhook_id, message_id })
  const { cause, answer, redirected } = result
  const { url, headers, body } = post
  const attempted = {
    url,
    headers,
    body,
    webhook_id,
    message_id,
    payment_id,
    event_type,
    began,
    at,
    answer,
    ...(redirected !== undefined && { redirected }),
    ms: Math.round(performance.now() - started),
    failed: result.status === 'FAILED',
    status: result.status_code,
    result: cause ? `${result.result} (${cause})` : result.result,
  }
  return { result, attempted }
}
