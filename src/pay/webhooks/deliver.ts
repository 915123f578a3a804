import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '../../core/account.ts'
import { DELIVERING_BYTES } from '../../core/budgets.ts'
import { overloaded } from '../../core/errors.ts'
import { createSharing, inSizes } from '../../core/gather.ts'
import { currentOwner, guestOf, resting, workFor } from '../../core/guests.ts'
import type { Database, MachineTime, Statement } from '../../core/ports.ts'
import { createShares, type Shares } from '../../core/shares.ts'
import { accountOfRoom } from '../../platform/accounts/store.ts'
import { attempts } from '../differences/messages.ts'
import {
  type AtDatabase,
  CLAIM_MS,
  claimOf,
  createAtDatabase,
  type DeliveryPorts,
  deliverMessage,
} from './attempts.ts'
import {
  bodyOfMessage,
  claimMessage,
  dueMessages,
  insertMessages,
  oldestUnsent,
  takeDue,
  webhooksToRecover,
  webhooksWithDue,
} from './message-store.ts'
import type { Message } from './webhook.ts'

/**
 * Delivery runs after the commit. A write that loses a race and is repeated calls `write` again, but
 * `deliver` is called once, with the messages of the write that succeeded.
 */
export type Deliveries = {
  /**
   * Writes a change, and the messages of the room that announce it, as `write` of the database does. Throws 503 if the
   * bytes of the messages find no space; they count until `deliver` has ended. A webhook that was deactivated meanwhile
   * gets no message; with `all` nothing is written then. The option `write` replaces that of the database.
   */
  write(
    room: string,
    change: Statement[],
    messages: readonly Message[],
    options?: { all?: true; write?: Database['write'] | undefined },
  ): Promise<boolean>
  /**
   * Delivers messages whose rows are committed. Webhooks are served concurrently, the messages of one
   * webhook in order. Never rejects. Resolves when every due attempt is recorded, or after `onFault`. Messages that no
   * request waits for are sent a moment later, in any order.
   */
  deliver(committed: readonly Message[]): Promise<void>
  /**
   * Sends messages that stopped instances left unsent, in the same order as `deliver`. Several instances may call it
   * at any time, because claims let only one of them serve a webhook. Starts no further message once `stop` is
   * aborted.
   */
  recover(stop?: AbortSignal): Promise<void>
  /** Sends the messages of the account that are due to be sent again, those of one webhook in order of time. */
  doDue(account: Account): Promise<void>
  /** Begins to send them for every account, beside other work. Starts no attempt once `stop` is aborted. */
  doAllDue(stop?: AbortSignal): Promise<void>
  /** Runs other work that sends messages, so that `settled` waits for it. It must end soon after `isStopping()`. */
  beside(work: (isStopping: () => boolean) => Promise<void>): void
  /** Resolves when nothing is being delivered. */
  settled(): Promise<void>
}

export function createDeliveries(ports: DeliveryPorts): Deliveries {
  const { database, time, onFault, onChange } = ports
  const underway = new Set<Promise<unknown>>()
  const shares = createShares(DELIVERING_BYTES)
  /** For each list of messages: its room, when it was written, and the function to call when it is delivered. */
  const written = new WeakMap<
    readonly Message[],
    { room: string; at: number; release: () => void }
  >()
  const atDatabase = createAtDatabase(ports)

  /** Rejects with the first fault, once all have ended. */
  async function track(deliveries: Promise<unknown>[]): Promise<void> {
    const all = Promise.allSettled(deliveries)
    underway.add(all)
    await all
    underway.delete(all)
    await Promise.all(deliveries)
  }

  /** Stops at a message that another instance has taken over, or that a fault left unsent. `recover` sends the rest. */
  async function inOrder(group: Message[], room: string): Promise<void> {
    for (const message of group)
      if (!(await deliverMessage(ports, message, atDatabase(room)))) return
  }

  return {
    ...sendingAgain(ports, atDatabase, track),
    async write(room, change, messages, { write = database.write, all } = {}) {
      // Most changes send nothing.
      const release = messages.length > 0 ? hold(shares, room, messages) : undefined
      const at = time.wall()
      let isWritten = false
      try {
        isWritten = await write(release ? [...change, ...insertsOf(messages, at, all)] : change)
        return isWritten
      } finally {
        if (!isWritten) release?.()
        else {
          if (release) written.set(messages, { room, at, release })
          onChange?.(room)
        }
      }
    },
    deliver(committed) {
      if (committed.length === 0) return Promise.resolve()
      const { room = '', at = time.wall(), release } = written.get(committed) ?? {}
      const isLater = ({ sent_as }: Message) => attempts[sent_as].first !== undefined
      const now = committed.filter(message => !isLater(message))
      const byWebhook = [...Map.groupBy(now, message => message.webhook_id).values()]
      const all = track(byWebhook.map(group => inOrder(group, room).catch(onFault)))
      const later = committed
        .filter(isLater)
        .map(message => sendLater(ports, message, at, atDatabase(room)).catch(onFault))
      void Promise.all([all, track(later)]).finally(release)
      // A receiver that hangs must not use up places.
      return resting(all)
    },
    beside(work) {
      void track([work(ports.isStopping ?? (() => false)).catch(onFault)])
    },
    recover: createRecover(ports, atDatabase, track),
    async settled() {
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}

/** Counts the bytes of messages for their account, until the returned function is called. Throws 503 beyond its share. */
function hold(shares: Shares, room: string, messages: readonly Message[]): () => void {
  const owner = currentOwner() || room
  const count = (sizeOf: (body: string) => number): number => {
    const all = messages.reduce((sum, { body }) => sum + sizeOf(body), 0)
    if (!shares.hasSpace(owner, all)) throw overloaded()
    return all
  }
  // To count its bytes, V8 first joins the parts of a body. Its length is known without that, and is no more.
  count(({ length }) => length)
  const bytes = count(body => Buffer.byteLength(body))
  shares.add(owner, bytes)
  return () => shares.add(owner, -bytes)
}

function insertsOf(messages: readonly Message[], at: MachineTime, all?: true): Statement[] {
  const claimed = ({ sent_as }: Message) => at + (attempts[sent_as].first ?? CLAIM_MS)
  return inSizes(messages).map(part => ({
    ...insertMessages(part, claimed),
    ...(all && { expect: part.length }),
  }))
}

/** Sends a message that no request waits for, unless another instance has claimed it. `at` is when it was written. */
async function sendLater(
  ports: DeliveryPorts,
  message: Message,
  at: MachineTime,
  atDatabase: AtDatabase,
): Promise<void> {
  const { message_id, sent_as } = message
  const { first = 0 } = attempts[sent_as]
  await sleep(first)
  const written = { message_id, claimed_until: at + first }
  const claim = claimMessage(written, ports.time.wall() + claimOf(sent_as))
  if (await atDatabase.claim(claim)) await deliverMessage(ports, message, atDatabase)
}

/** Leaves out the webhooks of which an earlier call still sends messages: else each call would add a loop for them. */
function createRecover(
  ports: DeliveryPorts,
  atDatabaseOf: (room: string) => AtDatabase,
  track: (deliveries: Promise<unknown>[]) => Promise<void>,
) {
  const isBusy = new Set<string>()
  return async (stop?: AbortSignal): Promise<void> => {
    const webhooks = await webhooksToRecover(ports.database, ports.time.wall())
    const recover = (id: string) => {
      isBusy.add(id)
      const sending = recoverWebhook(ports, id, atDatabaseOf(id), stop)
      return sending.catch(ports.onFault).finally(() => isBusy.delete(id))
    }
    await track(webhooks.filter(id => !isBusy.has(id)).map(recover))
  }
}

/** Sends the unsent messages of a webhook. Stops if the oldest is claimed: the other instance or request sends them. */
async function recoverWebhook(
  ports: DeliveryPorts,
  webhook_id: string,
  atDatabase: AtDatabase,
  stop?: AbortSignal,
): Promise<void> {
  const { database, time } = ports
  while (!stop?.aborted) {
    const unsent = await oldestUnsent(database, webhook_id, time.wall())
    if (!unsent || unsent.claimed_until > time.wall()) return
    const claim = claimMessage(unsent, time.wall() + claimOf(unsent.sent_as))
    if (!(await atDatabase.claim(claim))) return
    await deliverMessage(ports, unsent, atDatabase)
  }
}

/** The most messages of an account that are sent again at once. */
const AGAIN_AT_ONCE = 64

/** Sends messages again when they are due, in the time of their account. */
function sendingAgain(
  ports: DeliveryPorts,
  atDatabaseOf: (room: string) => AtDatabase,
  track: (deliveries: Promise<unknown>[]) => Promise<void>,
) {
  const { database, time, onFault } = ports
  const inTurn = createSharing<boolean>()
  const isBusy = new Set<string>()
  /** Resolves to false if nothing is due. */
  const sendDue = ({ room }: Account, stop?: AbortSignal): Promise<boolean> =>
    inTurn(room, async () => {
      // Read again: callers share a run, and the clock may have moved since.
      const account = await accountOfRoom(database, room)
      if (!account) return false
      const due = await dueMessages(database, room, time.now(account), AGAIN_AT_ONCE)
      const byWebhook = [...Map.groupBy(due, ({ webhook_id }) => webhook_id).values()]
      const atDatabase = atDatabaseOf(room)
      const again = async (group: typeof due) => {
        let until = Infinity
        for (const message of group) {
          const { message_id, sent_as, due_at } = message
          // What follows an earlier attempt comes first. It is in the next part.
          if (stop?.aborted || due_at >= until) return
          until = Math.min(until, due_at + (attempts[sent_as].delays[0] ?? Infinity))
          if (!(await atDatabase.claim(takeDue(message, time.wall() + claimOf(sent_as))))) continue
          const body = await bodyOfMessage(database, message_id)
          await deliverMessage(ports, { message_id, body }, atDatabase, due_at)
        }
      }
      await track(byWebhook.map(again))
      return due.length > 0
    })

  return {
    async doDue(account: Account): Promise<void> {
      while (await sendDue(account));
    },
    async doAllDue(stop?: AbortSignal): Promise<void> {
      for await (const { id, least, ...account } of webhooksWithDue(database, stop)) {
        if (account.name === null) continue
        const { room } = account
        if (least > time.now(account) || isBusy.has(room)) continue
        isBusy.add(room)
        const sending = workFor(guestOf(account), async () => {
          while (!stop?.aborted && (await sendDue(account, stop)));
        })
        void track([sending.catch(onFault).finally(() => isBusy.delete(room))])
      }
    },
  }
}
