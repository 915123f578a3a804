import type { Account } from '../../core/account.ts'
import type { Database, MachineTime, Ports, Statement } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { listenerAddress, RECONNECT_TIME } from '../../pay/webhooks/listener.ts'
import {
  bodyOf,
  hasPlace,
  insertWithinLimit,
  lockWebhooks,
  webhooksWhere,
} from '../../pay/webhooks/store.ts'
import { type EventType, signingKeyOf, type Webhook } from '../../pay/webhooks/webhook.ts'

/** The listeners of the account, oldest first, also those that were deactivated. */
const listenersOf = (database: Database, room: string): Promise<Webhook[]> =>
  webhooksWhere(database, 'account = $1 and listening_until is not null order by webhook_id', [
    room,
  ])

/**
 * The listener with this label, which is made if there is none, and becomes active again. It keeps its webhook and
 * its signing key; `subscriptions` replace those that it had. `other` is true if a listener is already connected.
 *
 * Returns undefined when the account has as many active webhooks as it may.
 *
 * Requests that come together may each insert one. Each reads again after its insert, and all keep the oldest.
 */
export async function keepListener(
  { database, time, newId, secrets }: Pick<Ports, 'database' | 'time' | 'newId' | 'secrets'>,
  account: Account,
  label: string,
  subscriptions: readonly EventType[],
): Promise<(Webhook & { other: boolean }) | undefined> {
  const { room } = account
  const callback_url = listenerAddress(label)
  const find = async () =>
    (await listenersOf(database, room)).filter(each => each.callback_url === callback_url)
  const now = time.wall()
  const [found] = await find()
  const listener: Webhook = {
    webhook_id: found?.webhook_id ?? newId(time.now(account), room),
    room,
    status: 'ACTIVE',
    listening_until: now + RECONNECT_TIME,
    callback_url,
    description: label,
    subscriptions,
    signing_key: found?.signing_key ?? signingKeyOf(secrets.secret(room)),
    ...(found?.as && { as: found.as }),
  }
  if (!(await database.write(found ? reactivate(listener) : insertWithinLimit(listener))))
    return undefined
  const [kept, ...others] = await find()
  if (!kept) throw new Error(`the listener ${label} is missing`)
  if (others.length > 0)
    await database.write(
      others.map(({ webhook_id }) =>
        retireWhere('account = $1 and webhook_id = $2', [room, webhook_id]),
      ),
    )
  const other = found?.status === 'ACTIVE' && (found.listening_until ?? 0) > now
  return { ...kept, other }
}

/** Keeps a later `listening_until`: the listener may be connected. */
const reactivate = (listener: Webhook): Statement[] => [
  lockWebhooks(listener.room),
  {
    sql: `update webhooks set status = 'ACTIVE', body = $2,
            listening_until = case when listening_until > $3 then listening_until else $3 end
          where webhook_id = $1 and (status = 'ACTIVE' or ${hasPlace('$4')})`,
    values: [
      listener.webhook_id,
      bodyOf(listener),
      listener.listening_until ?? null,
      listener.room,
    ],
    expect: 1,
  },
]

/** The listener counts as connected until this time on the machine's clock, in milliseconds, or longer. */
export const listenAtLeastUntil = (
  { room, webhook_id }: Webhook,
  until: MachineTime,
): Statement => ({
  sql: `update webhooks set listening_until = $3
        where account = $1 and webhook_id = $2 and listening_until < $3`,
  values: [room, webhook_id, until],
})

/** The listener counts as connected until this time on the machine's clock, in milliseconds, or less long. */
export const listenAtMostUntil = (
  { room, webhook_id }: Webhook,
  until: MachineTime,
): Statement => ({
  sql: `update webhooks set listening_until = $3
        where account = $1 and webhook_id = $2 and listening_until > $3`,
  values: [room, webhook_id, until],
})

/**
 * Deactivates listeners. Their time is 0, by which a command that still runs is told to register again, and not that
 * somebody has deleted its webhook.
 */
const retireWhere = (condition: string, values: Statement['values']): Statement => ({
  sql: `update webhooks set status = 'INACTIVE', listening_until = 0 where ${condition}`,
  values,
})

/** Retires the listeners that nobody has used for a day. */
export async function deactivateIdle(database: Database, now: MachineTime): Promise<void> {
  const idle = `listening_until is not null and listening_until < $1 and status = 'ACTIVE'`
  await database.write([retireWhere(idle, [now - DAY])])
}
