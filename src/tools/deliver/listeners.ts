import { ownerOf } from '../../core/account.ts'
import { DELIVERIES, DELIVERIES_TO_HOST } from '../../core/budgets.ts'
import type { AttemptResult, OutgoingMessage, Ports, Send } from '../../core/ports.ts'
import { answerTo, attemptFor, leftBy, type Signals } from '../../core/signal.ts'
import { createSlots, inSlot, type TakeSlot } from '../../core/slots.ts'
import { version } from '../../core/version.ts'
import {
  isListenerAddress,
  NOBODY_LISTENS,
  RECONNECT_TIME,
  STORED_BEYOND,
} from '../../pay/webhooks/listener.ts'
import type { Webhook } from '../../pay/webhooks/webhook.ts'
import { DEADLINE_MS, failed } from '../../platform/outbound/send.ts'
import type { Watch } from '../watch.ts'
import {
  type AttemptKey,
  answerAttempt,
  deleteAttempt,
  findDue,
  findOffered,
  listenUntil,
  type Offer,
  offerAttempt,
  setTaken,
  withdrawAttempt,
} from './listener-store.ts'

type ListenerPorts = Pick<Ports, 'database' | 'time' | 'newId'> & { signals: Signals; watch: Watch }

type ListenerAnswer = Omit<AttemptResult, 'answer'> & {
  /** The receiver's response; `body` is base64. */
  answer?: { headers: [string, string][]; body: string; size: number }
}

/**
 * The least milliseconds in which a message is offered. Otherwise thousands of messages that waited for slots are offered
 * for a moment each: these were most of the statements while 100 listeners did not answer.
 */
const LEAST_MS = 500

/**
 * As `send`, but hands messages over to their listeners and waits for the answers. A listener has as many slots as a
 * host. All listeners of an account and its test accounts together have as many as all hosts.
 */
export function withListeners(send: Send, ports: ListenerPorts): Send {
  const slots = new Map<string, ReturnType<typeof createSlots>>()
  return async message => {
    if (!isListenerAddress(message.url)) return send(message)
    const owner = ownerOf(message.account)
    const takeSlot = slots.get(owner) ?? createSlots(DELIVERIES_TO_HOST, DELIVERIES)
    slots.set(owner, takeSlot)
    const began = performance.now()
    const release = await takeSlot(message.webhook_id, DEADLINE_MS - LEAST_MS)
    const left = Math.ceil(began + DEADLINE_MS - performance.now())
    try {
      // On a busy machine a slot may come later than the wait for it ends.
      return release && left >= LEAST_MS
        ? await sendToListener(ports, message, left)
        : failed('timeout', null)
    } finally {
      release?.()
    }
  }
}

/** Takes at most `ms` milliseconds. */
async function sendToListener(
  { database, time, newId, signals, watch }: ListenerPorts,
  { account: { room }, webhook_id, message_id, headers, body }: OutgoingMessage,
  ms: number,
): Promise<AttemptResult> {
  const now = time.wall()
  const key = { room, webhook_id, attempt_id: newId(now, room) }
  const { attempt_id } = key
  const offer = { message_id, headers: { 'User-Agent': `Farthing/${version}`, ...headers }, body }
  const ending = AbortSignal.timeout(ms)
  let leaveWatch: (() => void) | undefined
  async function make(): Promise<AttemptResult | undefined> {
    if (!(await database.write([offerAttempt(key, offer, [now, now + ms])])))
      return failed(NOBODY_LISTENS, null)
    const isElsewhere = !signals.set(attemptFor(webhook_id))
    leaveWatch = watch.join({ room, listens: true, attempt_id, isElsewhere })
    return undefined
  }
  async function look(): Promise<AttemptResult | undefined> {
    // Most attempts without an answer end here.
    if (ending.aborted && (await database.write([withdrawAttempt(key, time.wall())])))
      return failed('timeout', ms)
    const row = await findOffered(database, key)
    if (!row) return failed('timeout', ms)
    if (row.answer) {
      // Not awaited, because a row that stays is deleted later.
      database.write([deleteAttempt(key, row)]).catch(() => {})
      const { answer, ...result } = JSON.parse(row.answer) as ListenerAnswer // written by endAttempt
      if (!answer) return result
      const body = Buffer.from(answer.body, 'base64')
      return { ...result, answer: Promise.resolve({ ...answer, body, sent: {} }) }
    }
    const isAlone = !row.taken && row.listening_until <= time.wall()
    if (!isAlone && !ending.aborted) return undefined
    // If a listener took or answered the attempt at that moment, look again: the end wakes nobody twice.
    if (!(await database.write([deleteAttempt(key, row)]))) return look()
    return isAlone ? failed(NOBODY_LISTENS, null) : failed('timeout', ms)
  }
  return signals
    .untilFound([answerTo(attempt_id), leftBy(webhook_id)], ending, () =>
      leaveWatch ? look() : make(),
    )
    .finally(() => leaveWatch?.())
}

type TakenAttempt = Offer & { attempt_id: string }

/**
 * Waits for an attempt, and takes it. Resolves to null once `ending` is aborted, or when a request has said that the
 * listener stopped: a listener that still runs then asks again. `wait` is the most milliseconds until `ending`.
 */
export async function waitForAttempt(
  { database, time, signals, listening }: ListenerPorts & { listening: TakeSlot },
  webhook: Webhook,
  { wait, ending }: { wait: number; ending: AbortSignal },
): Promise<TakenAttempt | null> {
  const { webhook_id, room, listening_until } = webhook
  const connect = () =>
    database.write([listenUntil(webhook, 'at least', time.wall() + wait + STORED_BEYOND)])
  if ((listening_until ?? 0) < time.wall() + wait + RECONNECT_TIME) await connect()
  async function look(): Promise<TakenAttempt | null | undefined> {
    const now = time.wall()
    const due = await findDue(database, webhook, now)
    if (!due || due.listening_until <= now) return null
    const { attempt_id, offer } = due
    if (attempt_id && offer) {
      if (await database.write([setTaken({ room, webhook_id, attempt_id }, 1)]))
        return { attempt_id, ...(JSON.parse(offer) as Offer) } // written by offerAttempt
      // Another request of this listener has taken the attempt.
      return look()
    }
    if (ending.aborted) return null
    // Another request of this listener was cut off, which would soon disconnect it.
    if (due.listening_until <= now + RECONNECT_TIME) await connect()
    return undefined
  }
  const inTurn = () => inSlot(listening, room, look)
  return signals.untilFound([attemptFor(webhook_id), leftBy(webhook_id)], ending, inTurn)
}

/** Offers an attempt again, because the request that took it is gone. */
export async function giveBack(
  { database, signals }: ListenerPorts,
  { webhook_id, room }: Webhook,
  { attempt_id }: TakenAttempt,
): Promise<void> {
  await database.write([setTaken({ room, webhook_id, attempt_id }, 0)])
  signals.set(attemptFor(webhook_id))
}

/** Returns false if no such attempt of the webhook waits for an answer. */
export async function endAttempt(
  { database, signals }: ListenerPorts,
  key: AttemptKey,
  answer: ListenerAnswer,
): Promise<boolean> {
  const written = await database.write([answerAttempt(key, JSON.stringify(answer))])
  if (written) signals.set(answerTo(key.attempt_id))
  return written
}

/** The listener counts as connected for at most `ms` milliseconds, unless it asks again. */
export async function leave(
  { database, time, signals }: ListenerPorts,
  webhook: Webhook,
  ms: number,
): Promise<void> {
  await database.write([listenUntil(webhook, 'at most', time.wall() + ms)])
  signals.set(leftBy(webhook.webhook_id))
}
