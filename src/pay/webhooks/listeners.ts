import { newSecret } from '../../core/ids.ts'
import type { AttemptResult, Database, OutgoingMessage, Send, Time } from '../../core/ports.ts'
import { version } from '../../core/version.ts'
import { BETWEEN_LOOKS, isListenerAddress, NOBODY, STORED_FOR } from './listener.ts'
import { listenUntil } from './listener-store.ts'

/** One attempt, for a listener to make. It sends the body unchanged, with these headers. */
type Offer = {
  attempt_id: string
  message_id: string
  headers: Record<string, string>
  body: string
}

/** Milliseconds for an attempt, as for any receiver. */
const DEADLINE = 2_000
/** Milliseconds between two looks for messages that another instance has left to the listeners of this one. */
const LOOK_EVERY = 100

/** The listeners that are connected to this instance. */
export type Listeners = {
  /** True if a listener is connected to this instance, or was less than two seconds ago. */
  isHere(webhook_id: string): boolean
  /** As `send`, but passes the messages of listeners to the listeners at this instance. */
  through(send: Send): Send
  /**
   * Waits for an attempt. Resolves to null if `ending` resolves first. Before it waits, it stores the listener as
   * connected.
   */
  next(webhook_id: string, ending: Promise<void>): Promise<Offer | null>
  /** Returns false if this instance waits for no such attempt of the webhook. */
  answer(webhook_id: string, attempt_id: string, result: AttemptResult): boolean
  /** Stores the listener as disconnected, now or from `ms` milliseconds on. Does nothing while another one waits. */
  leave(webhook_id: string, ms?: number): Promise<void>
}

type Waiting = Offer & { resolve: (result: AttemptResult) => void }
/**
 * One webhook: the listeners that wait for an attempt, the attempts that wait for a listener, and those that were
 * passed on.
 */
type Here = {
  looks: Set<(offer: Offer) => void>
  offered: Waiting[]
  given: Map<string, Waiting>
  storedUntil: number
  leaving?: NodeJS.Timeout | undefined
}

type ListenersPorts = {
  database: Database
  time: Time
  /** Sends the messages of a webhook that are due. */
  recover: (webhook_id: string) => Promise<void>
  onFault: (error: unknown) => void
}

export function createListeners(ports: ListenersPorts): Listeners {
  const { database, time, onFault } = ports
  const here = new Map<string, Here>()
  const recover = createRecovery(ports, () => here.keys())

  const store = async (webhook_id: string, until: number) =>
    void (await database.write([listenUntil(webhook_id, until)]))

  async function leave(webhook_id: string, ms = 0): Promise<void> {
    const left = here.get(webhook_id)
    if (left && left.looks.size > 0) return
    here.delete(webhook_id)
    clearTimeout(left?.leaving)
    for (const waiting of left?.offered ?? []) waiting.resolve(failed(NOBODY))
    await store(webhook_id, time.wall() + ms)
  }

  async function arrive(webhook_id: string): Promise<Here> {
    const found = here.get(webhook_id) ?? newHere()
    clearTimeout(found.leaving)
    here.set(webhook_id, found)
    const now = time.wall()
    if (found.storedUntil < now + STORED_FOR - BETWEEN_LOOKS * 2) {
      found.storedUntil = now + STORED_FOR
      await store(webhook_id, found.storedUntil)
    }
    recover.start()
    return found
  }

  /** The listener must send its next request soon. */
  function expect(webhook_id: string, found: Here): void {
    clearTimeout(found.leaving)
    if (found.looks.size > 0) return
    found.leaving = setTimeout(() => leave(webhook_id).catch(onFault), BETWEEN_LOOKS).unref()
  }

  return {
    isHere: webhook_id => here.has(webhook_id),
    through: send => message => {
      if (!isListenerAddress(message.url)) return send(message)
      const found = here.get(message.webhook_id)
      return found ? offer(found, message) : Promise.resolve(failed(NOBODY))
    },
    async next(webhook_id, ending) {
      const found = await arrive(webhook_id)
      const offered = found.offered.shift()
      if (offered) {
        expect(webhook_id, found)
        return give(found, offered)
      }
      const { promise: taken, resolve } = Promise.withResolvers<Offer>()
      found.looks.add(resolve)
      const next = await Promise.race([taken, ending.then(() => null)])
      found.looks.delete(resolve)
      if (here.get(webhook_id) === found) expect(webhook_id, found)
      return next
    },
    answer(webhook_id, attempt_id, result) {
      const waiting = here.get(webhook_id)?.given.get(attempt_id)
      waiting?.resolve(result)
      return waiting !== undefined
    },
    leave,
  }
}

const newHere = (): Here => ({
  looks: new Set(),
  offered: [],
  given: new Map(),
  storedUntil: 0,
})

const failed = (result: string, response_time: number | null = null): AttemptResult => ({
  status: 'FAILED',
  status_code: null,
  response_time,
  result,
})

/** Passes the message to a waiting listener, or keeps it for the next request of one, and waits for the result. */
function offer(
  found: Here,
  { message_id, headers, body }: OutgoingMessage,
): Promise<AttemptResult> {
  return new Promise(resolve => {
    const attempt_id = newSecret()
    const timer = setTimeout(() => {
      found.offered = found.offered.filter(each => each !== waiting)
      end(failed('timeout', DEADLINE))
    }, DEADLINE)
    const end = (result: AttemptResult) => {
      clearTimeout(timer)
      found.given.delete(attempt_id)
      resolve(result)
    }
    const waiting: Waiting = {
      attempt_id,
      message_id,
      body,
      resolve: end,
      headers: { 'User-Agent': `Farthing/${version}`, ...headers },
    }
    const [look] = found.looks
    if (look) {
      found.looks.delete(look)
      look(give(found, waiting))
    } else found.offered.push(waiting)
  })
}

function give(found: Here, waiting: Waiting): Offer {
  found.given.set(waiting.attempt_id, waiting)
  const { resolve: _, ...given } = waiting
  return given
}

/** Sends the messages that other instances leave to the listeners of this one, while there are any. */
function createRecovery({ recover, onFault }: ListenersPorts, here: () => Iterable<string>) {
  let timer: NodeJS.Timeout | undefined
  const underway = new Set<string>()
  function look(): void {
    const ids = [...here()]
    if (ids.length === 0) {
      clearInterval(timer)
      timer = undefined
    }
    for (const webhook_id of ids) {
      if (underway.has(webhook_id)) continue
      underway.add(webhook_id)
      void recover(webhook_id)
        .catch(onFault)
        .finally(() => underway.delete(webhook_id))
    }
  }
  return {
    start() {
      timer ??= setInterval(look, LOOK_EVERY).unref()
    },
  }
}
