import type { AttemptResult, OutgoingMessage, Ports, Send } from '../../core/ports.ts'
import type { Signals } from '../../core/signal.ts'
import type { Turns } from '../../core/turns.ts'
import { version } from '../../core/version.ts'
import {
  isListenerAddress,
  NOBODY_LISTENS,
  RECONNECT_TIME,
  STORED_BEYOND,
} from '../../pay/webhooks/listener.ts'
import type { Webhook } from '../../pay/webhooks/webhook.ts'
import { failed } from '../../platform/outbound/send.ts'
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
} from './listener-store.ts'

/** Milliseconds for an attempt, as for any receiver. */
const DEADLINE = 2_000
/** Milliseconds after which a request looks for what another instance wrote: an attempt, or the answer to one. */
const POLL_FOR_ATTEMPT = 25
const POLL_FOR_ANSWER = 20

type ListenerPorts = Pick<Ports, 'database' | 'time' | 'newId'> & { signals: Signals }

type ListenerAnswer = Omit<AttemptResult, 'answer'> & {
  /** The receiver's response; `body` is base64. */
  answer?: { headers: [string, string][]; body: string; size: number }
}

const answerSignal = ({ attempt_id }: AttemptKey): string => `answer ${attempt_id}`
const attemptSignal = (webhook_id: string): string => `attempt ${webhook_id}`

/** As `send`, but leaves messages to listeners to those, and waits for their answers. */
export const withListeners =
  (send: Send, ports: ListenerPorts): Send =>
  message =>
    isListenerAddress(message.url) ? sendToListener(ports, message) : send(message)

async function sendToListener(
  { database, time, newId, signals }: ListenerPorts,
  { account: { room }, webhook_id, message_id, headers, body }: OutgoingMessage,
): Promise<AttemptResult> {
  const now = time.wall()
  const key = { room, webhook_id, attempt_id: newId(now, room) }
  const offer = { message_id, headers: { 'User-Agent': `Farthing/${version}`, ...headers }, body }
  if (!(await database.write([offerAttempt(key, offer, [now, now + DEADLINE])])))
    return failed(NOBODY_LISTENS, null)
  signals.set(attemptSignal(webhook_id))
  const ending = AbortSignal.timeout(DEADLINE)
  return signals.pollUntilFound(answerSignal(key), { every: POLL_FOR_ANSWER, ending }, async () => {
    const row = await findOffered(database, key)
    if (!row) return failed('timeout', DEADLINE)
    if (row.answer) {
      // Nobody has to wait for this. A row that stays is deleted later.
      database.write([deleteAttempt(key, row)]).catch(() => {})
      const { answer, ...result } = JSON.parse(row.answer) as ListenerAnswer // written by endAttempt
      if (!answer) return result
      const body = Buffer.from(answer.body, 'base64')
      return { ...result, answer: Promise.resolve({ ...answer, body, sent: {} }) }
    }
    const isAlone = !row.taken && row.listening_until <= time.wall()
    if (!isAlone && !ending.aborted) return undefined
    if (!(await database.write([deleteAttempt(key, row)]))) return undefined
    return isAlone ? failed(NOBODY_LISTENS, null) : failed('timeout', DEADLINE)
  })
}

type TakenAttempt = Offer & { attempt_id: string }

/**
 * Waits for an attempt, and takes it. Resolves to null once `ending` is aborted, or when somebody has said that the
 * listener stopped: one that is still there then asks again. `wait` is the most milliseconds until `ending`.
 */
export async function waitForAttempt(
  { database, time, signals, listening }: ListenerPorts & { listening: Turns },
  webhook: Webhook,
  { wait, ending }: { wait: number; ending: AbortSignal },
): Promise<TakenAttempt | null> {
  const { webhook_id, room, listening_until } = webhook
  const connect = () =>
    database.write([listenUntil(webhook, 'at least', time.wall() + wait + STORED_BEYOND)])
  if ((listening_until ?? 0) < time.wall() + wait + RECONNECT_TIME) await connect()
  const polling = { every: POLL_FOR_ATTEMPT, ending }
  async function look(): Promise<TakenAttempt | null | undefined> {
    const now = time.wall()
    const due = await findDue(database, webhook, now)
    if (!due || due.listening_until <= now) return null
    const { attempt_id, offer } = due
    if (attempt_id && offer) {
      if (await database.write([setTaken({ room, webhook_id, attempt_id }, 1)]))
        return { attempt_id, ...(JSON.parse(offer) as Offer) } // written by offerAttempt
      // Another request of this listener has taken it.
      return look()
    }
    if (ending.aborted) return null
    // Another request of this listener was cut off.
    if (due.listening_until <= now + RECONNECT_TIME) await connect()
    return undefined
  }
  const inTurn = () => listening(room, Symbol(), look)
  return signals.pollUntilFound(attemptSignal(webhook_id), polling, inTurn)
}

/** Offers an attempt again, because the request that took it is gone. */
export async function giveBack(
  { database, signals }: ListenerPorts,
  { webhook_id, room }: Webhook,
  { attempt_id }: TakenAttempt,
): Promise<void> {
  await database.write([setTaken({ room, webhook_id, attempt_id }, 0)])
  signals.set(attemptSignal(webhook_id))
}

/** Returns false if no such attempt of the webhook waits for an answer. */
export async function endAttempt(
  { database, signals }: ListenerPorts,
  key: AttemptKey,
  given: ListenerAnswer,
): Promise<boolean> {
  const written = await database.write([answerAttempt(key, JSON.stringify(given))])
  if (written) signals.set(answerSignal(key))
  return written
}

/** The listener counts as connected for at most `ms` milliseconds, unless it asks again. */
export async function leave(
  { database, time, signals }: ListenerPorts,
  webhook: Webhook,
  ms: number,
): Promise<void> {
  await database.write([listenUntil(webhook, 'at most', time.wall() + ms)])
  signals.set(attemptSignal(webhook.webhook_id))
}
