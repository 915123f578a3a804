import type { Account } from '../accounts/account.ts'
import type { Database, Ports, Statement } from '../ports.ts'
import { addressOf, BETWEEN_LOOKS } from './listener.ts'
import { hasPlace, lockWebhooks } from './store.ts'
import { type EventType, signingKeyOf } from './webhook.ts'

export type Listener = {
  webhook_id: string
  signing_key: string
  /** Milliseconds on the machine's clock. */
  listening_until: number
}

type Row = { webhook_id: string; status: string; listening_until: number; body: string }
type Body = {
  callback_url: string
  description: string
  subscriptions: readonly EventType[]
  signing_key: string
}

/** The listeners of the account, oldest first, also those that were deactivated. */
async function findListeners(database: Database, room: string) {
  const rows = await database.query<Row>(
    `select webhook_id, status, listening_until, body from webhooks
     where account = $1 and listening_until is not null order by webhook_id`,
    [room],
  )
  return rows.map(({ body, ...row }) => ({ ...row, ...(JSON.parse(body) as Body) })) // written below
}

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
): Promise<(Listener & { other: boolean }) | undefined> {
  const { room } = account
  const callback_url = addressOf(label)
  const find = async () =>
    (await findListeners(database, room)).filter(each => each.callback_url === callback_url)
  const now = time.wall()
  const until = now + BETWEEN_LOOKS
  const [found] = await find()
  const made = {
    webhook_id: found?.webhook_id ?? newId(time.now(account), room),
    body: {
      ...{ callback_url, description: label, subscriptions },
      signing_key: found?.signing_key ?? signingKeyOf(secrets.secret(room)),
    },
  }
  const change = found ? reactivate(room, made, until) : insert(room, made, until)
  if (!(await database.write([lockWebhooks(room), change]))) return undefined
  const [kept, ...others] = await find()
  if (!kept) throw new Error(`the listener ${label} is missing`)
  if (others.length > 0) await database.write(others.map(deactivate))
  return { ...kept, other: found !== undefined && found.listening_until > now }
}

type Made = { webhook_id: string; body: Body }

const insert = (room: string, { webhook_id, body }: Made, until: number): Statement => ({
  sql: `insert into webhooks (webhook_id, account, status, body, listening_until)
        select $1, $2, 'ACTIVE', $3, cast($4 as bigint) where ${hasPlace('$2')}`,
  values: [webhook_id, room, JSON.stringify(body), until],
  expect: 1,
})

const reactivate = (room: string, { webhook_id, body }: Made, until: number): Statement => ({
  sql: `update webhooks set status = 'ACTIVE', body = $2,
          listening_until = case when listening_until > $3 then listening_until else $3 end
        where webhook_id = $1 and (status = 'ACTIVE' or ${hasPlace('$4')})`,
  values: [webhook_id, JSON.stringify(body), until, room],
  expect: 1,
})

const deactivate = ({ webhook_id }: { webhook_id: string }): Statement => ({
  sql: `update webhooks set status = 'INACTIVE' where webhook_id = $1`,
  values: [webhook_id],
})

/** undefined unless the account has this listener, and it is active. */
export async function findListener(
  database: Database,
  room: string,
  webhook_id: string,
): Promise<Pick<Listener, 'webhook_id' | 'listening_until'> | undefined> {
  const [row] = await database.query<Pick<Listener, 'webhook_id' | 'listening_until'>>(
    `select webhook_id, listening_until from webhooks
     where webhook_id = $1 and account = $2 and status = 'ACTIVE' and listening_until is not null`,
    [webhook_id, room],
  )
  return row
}

/** Stores until when the listener counts as connected, in milliseconds on the machine's clock. */
export const listenUntil = (webhook_id: string, until: number): Statement => ({
  sql: 'update webhooks set listening_until = $2 where webhook_id = $1',
  values: [webhook_id, until],
})

const DAY = 24 * 60 * 60 * 1000

/** Deactivates the webhooks for which nobody has listened for a day. */
export async function deactivateIdle(database: Database, now: number): Promise<void> {
  await database.write([
    {
      sql: `update webhooks set status = 'INACTIVE'
            where listening_until is not null and listening_until < $1 and status = 'ACTIVE'`,
      values: [now - DAY],
    },
  ])
}
