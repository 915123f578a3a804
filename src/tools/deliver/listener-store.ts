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
import {
  type EventType,
  eventTypesOf,
  signingKeyOf,
  type Webhook,
} from '../../pay/webhooks/webhook.ts'

/**
 * Makes the listener with this label, or makes it active again with its old webhook and signing key. The `wanted` event
 * types replace its subscriptions. `other` is true if a listener is already connected: it keeps its subscriptions, and
 * the result is `taken` if these are not the wanted ones.
 *
 * Returns undefined when the account has as many active webhooks as it may.
 *
 * Requests that come together may each insert one. Each reads again after its insert, and all keep the oldest.
 */
export async function keepListener(
  { database, time, newId, secrets }: Pick<Ports, 'database' | 'time' | 'newId' | 'secrets'>,
  account: Account,
  label: string,
  wanted: readonly EventType[] | undefined,
): Promise<(Webhook & { other: boolean }) | 'taken' | undefined> {
  const { room } = account
  const callback_url = listenerAddress(label)
  const isListener = 'account = $1 and listening_until is not null order by webhook_id'
  /** Oldest first, with the webhooks that were deactivated. */
  const find = async () =>
    (await webhooksWhere(database, isListener, [room])).filter(
      webhook => webhook.callback_url === callback_url,
    )
  const now = time.wall()
  const [found] = await find()
  const other = found?.status === 'ACTIVE' && (found.listening_until ?? 0) > now
  const subscriptions = wanted ?? (other ? found.subscriptions : eventTypesOf[account.behaviour])
  if (other && new Set(found.subscriptions).symmetricDifference(new Set(subscriptions)).size > 0)
    return 'taken'
  const listener: Webhook = {
    webhook_id: found?.webhook_id ?? newId(time.now(account), room),
    room,
    status: 'ACTIVE',
    listening_until: now + RECONNECT_TIME,
    callback_url,
    description: label,
    subscriptions,
    signing_key: found?.signing_key ?? signingKeyOf(secrets.secret(room)),
  }
  if (!(await database.write(found ? reactivate(listener) : insertWithinLimit(listener))))
    return undefined
  const [oldest, ...others] = await find()
  if (!oldest) throw new Error(`the listener ${label} is missing`)
  if (others.length > 0)
    await database.write(
      others.map(({ webhook_id }) =>
        retireWhere('account = $1 and webhook_id = $2', [room, webhook_id]),
      ),
    )
  return { ...oldest, other }
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

/** The listener counts as connected until this time on the machine's clock, in milliseconds: at least, or at most. */
export const listenUntil = (
  { room, webhook_id }: Webhook,
  bound: 'at least' | 'at most',
  until: MachineTime,
): Statement => ({
  sql: `update webhooks set listening_until = $3
        where account = $1 and webhook_id = $2 and listening_until ${bound === 'at least' ? '<' : '>'} $3`,
  values: [room, webhook_id, until],
})

/** Sets the time 0: a command that still runs then registers again, because nobody has deleted its webhook. */
const retireWhere = (condition: string, values: Statement['values']): Statement => ({
  sql: `update webhooks set status = 'INACTIVE', listening_until = 0 where ${condition}`,
  values,
})

export type AttemptKey = { room: string; webhook_id: string; attempt_id: string }

/** A message for the listener, which sends the body unchanged, with these headers. */
export type Offer = { message_id: string; headers: Record<string, string>; body: string }

/** Milliseconds after its expiry when a row counts as left behind by an instance that stopped. */
const LEFT_OVER = 60_000

const KEY = 'account = $1 and webhook_id = $2 and attempt_id = $3'

const keyOf = ({ room, webhook_id, attempt_id }: AttemptKey) => [room, webhook_id, attempt_id]

/** Fails its `expect` when nobody listens at `now`. Nobody takes the attempt after `expires`. */
export const offerAttempt = (
  key: AttemptKey,
  offer: Offer,
  [now, expires]: [now: MachineTime, expires: MachineTime],
): Statement => ({
  sql: `insert into listener_attempts (account, webhook_id, attempt_id, expires, taken, offer)
        select $1, $2, $3, cast($4 as bigint), 0, $5 from webhooks
        where account = $1 and webhook_id = $2 and status = 'ACTIVE' and listening_until > $6`,
  values: [...keyOf(key), expires, JSON.stringify(offer), now],
  expect: 1,
})

type Due = { listening_until: number; attempt_id: string | null; offer: string | null }

/** Until when the webhook's listener counts as connected, and the oldest attempt that waits for it, if there is one. */
export async function findDue(
  database: Database,
  { room, webhook_id }: Omit<AttemptKey, 'attempt_id'>,
  now: MachineTime,
): Promise<Due | undefined> {
  const [row] = await database.query<Due>(
    `select listening_until, attempt_id, offer
     from webhooks left join listener_attempts attempts
       on attempts.account = webhooks.account and attempts.webhook_id = webhooks.webhook_id
         and taken = 0 and expires > $3
     where webhooks.account = $1 and webhooks.webhook_id = $2 and status = 'ACTIVE'
     order by attempt_id limit 1`,
    [room, webhook_id, now],
  )
  return row
}

/** Fails its `expect` when another request has taken the attempt, or has given it back, or it has ended. */
export const setTaken = (key: AttemptKey, taken: 0 | 1): Statement => ({
  sql: `update listener_attempts set taken = $4 where ${KEY} and taken <> $4`,
  values: [...keyOf(key), taken],
  expect: 1,
})

/** Fails its `expect` when no such attempt waits for an answer. */
export const answerAttempt = (key: AttemptKey, answer: string): Statement => ({
  sql: `update listener_attempts set answer = $4 where ${KEY} and taken = 1 and answer is null`,
  values: [...keyOf(key), answer],
  expect: 1,
})

type Offered = { taken: number; answer: string | null; listening_until: number }

export async function findOffered(database: Database, key: AttemptKey) {
  const [row] = await database.query<Offered>(
    `select taken, answer,
       (select listening_until from webhooks where account = $1 and webhook_id = $2) as listening_until
     from listener_attempts where ${KEY}`,
    keyOf(key),
  )
  return row
}

/** Fails its `expect` when somebody has taken the attempt, or has answered it, since it was read. */
export const deleteAttempt = (key: AttemptKey, { taken, answer }: Offered): Statement => ({
  sql: `delete from listener_attempts where ${KEY} and taken = $4 and answer is not distinct from $5`,
  values: [...keyOf(key), taken, answer],
  expect: 1,
})

/** Fails its `expect` when the attempt has an answer, or nobody has taken it and nobody listens at `now`. */
export const withdrawAttempt = (key: AttemptKey, now: MachineTime): Statement => ({
  sql: `delete from listener_attempts where ${KEY} and answer is null and (taken = 1 or exists (
          select 1 from webhooks where account = $1 and webhook_id = $2 and listening_until > $4))`,
  values: [...keyOf(key), now],
  expect: 1,
})

/** Retires the listeners that nobody has used for a day, and deletes the attempts that stopped instances left behind. */
export async function sweepListeners(database: Database, now: MachineTime): Promise<void> {
  const idle = `listening_until is not null and listening_until < $1 and status = 'ACTIVE'`
  await database.write([
    retireWhere(idle, [now - DAY]),
    { sql: 'delete from listener_attempts where expires < $1', values: [now - LEFT_OVER] },
  ])
}
