/** Sending messages again when they are due, in the time of their account. */
import type { Account } from '../../core/account.ts'
import { createSharing } from '../../core/gather.ts'
import { accountOfRoom } from '../../platform/accounts/store.ts'
import { type AtDatabase, claimOf, type DeliveryPorts, deliverMessage } from './attempts.ts'
import { bodyOfMessage, dueMessages, takeDue, webhooksWithDue } from './message-store.ts'

/** Messages of an account that are sent again at once. */
const AGAIN_AT_ONCE = 64
/** Webhooks that one look of the background finds. */
const WEBHOOKS_AT_ONCE = 100

export function sendingAgain(
  ports: DeliveryPorts,
  atDatabaseOf: (room: string) => AtDatabase,
  track: (deliveries: Promise<void>[]) => Promise<void>,
) {
  const { database, time, onFault } = ports
  const inTurn = createSharing<boolean>()
  const isBusy = new Set<string>()
  /** Resolves false if nothing is due. */
  const sendDue = ({ room }: Account): Promise<boolean> =>
    inTurn(room, async () => {
      // Callers share a run, and the clock may have moved since.
      const account = await accountOfRoom(database, room)
      if (!account) return false
      const due = await dueMessages(database, room, time.now(account), AGAIN_AT_ONCE)
      const byWebhook = [...Map.groupBy(due, ({ webhook_id }) => webhook_id).values()]
      const atDatabase = atDatabaseOf(room)
      const again = async (group: typeof due) => {
        for (const each of group) {
          const { message_id, sent_as, due_at } = each
          if (!(await atDatabase.claim(takeDue(each, time.wall() + claimOf(sent_as))))) continue
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
      for (let after: string | undefined = ''; after !== undefined && !stop?.aborted; ) {
        const webhooks = await webhooksWithDue(database, after, WEBHOOKS_AT_ONCE)
        for (const { first, webhook_id, ...account } of webhooks) {
          const { room } = account
          if (first > time.now(account) || isBusy.has(room)) continue
          isBusy.add(room)
          void sendDue(account)
            .catch(onFault)
            .finally(() => isBusy.delete(room))
        }
        after = webhooks.at(-1)?.webhook_id
      }
    },
  }
}
