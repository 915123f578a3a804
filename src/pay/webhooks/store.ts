import { DEFAULT_ACCOUNT } from '../../core/account.ts'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import type { FixedWebhook } from '../../core/config.ts'
import type { Database, NewId, Statement, Time, Value } from '../../core/ports.ts'
import { accountOfName } from '../../platform/accounts/store.ts'
import { columnsFor, findOne, where } from '../../platform/database/select.ts'
import { eventTypesOf, sendsTheSame, type Webhook } from './webhook.ts'

export type WebhookRow = Pick<Webhook, 'webhook_id' | 'room' | 'status'> & {
  listening_until: number | null
  body: string
}
/** The JSON of its row. */
export type WebhookBody = Omit<Webhook, keyof WebhookRow>

export const webhookRows = {
  from: 'webhooks',
  columns: columnsFor<WebhookRow>({
    webhook_id: 'webhook_id',
    room: 'account',
    status: 'status',
    listening_until: 'listening_until',
    body: 'body',
  }),
  id: 'webhook_id',
  fromRow: ({ body, ...columns }: WebhookRow): Webhook => ({
    ...columns,
    ...(JSON.parse(body) as WebhookBody), // written by bodyOf
  }),
}
const INSERTED = 'webhook_id, account, status, listening_until, body'

export const bodyOf = (webhook: Webhook): string => {
  const { webhook_id, room, status, listening_until, ...body } = webhook
  return JSON.stringify(body satisfies WebhookBody)
}

const valuesOf = (webhook: Webhook): Value[] => {
  const { webhook_id, room, status, listening_until = null } = webhook
  return [webhook_id, room, status, listening_until, bodyOf(webhook)]
}

/** SQL for a statement. `room` is its parameter for the room, such as $1. */
const countActive = (room: string): string =>
  `(select count(*) from webhooks where account = ${room} and status = 'ACTIVE')`
export const hasPlace = (room: string): string => `${countActive(room)} < ${ACTIVE_WEBHOOKS}`

/** Row lock: serialises writers of the account until commit. Put it first. */
export const lockWebhooks = (room: string): Statement => ({
  sql: 'update accounts set room = room where room = $1',
  values: [room],
})

/**
 * Fails its `expect` if the account already has the most active webhooks that are allowed, or if `active` is set and is
 * no longer their number.
 */
export const insertWithinLimit = (webhook: Webhook, active: number | null = null): Statement[] => [
  lockWebhooks(webhook.room),
  {
    sql: `insert into webhooks (${INSERTED})
          select $1, $2, $3, cast($4 as bigint), $5
          where ${hasPlace('$2')} and coalesce(${countActive('$2')} = cast($6 as bigint), true)`,
    values: [...valuesOf(webhook), active],
    expect: 1,
  },
]

/** The webhooks that match a condition on their columns. The condition may end with an order and a limit. */
export async function webhooksWhere(database: Database, condition: string, values: Value[]) {
  const { columns, fromRow } = webhookRows
  const sql = `select ${columns} from webhooks where ${condition}`
  return (await database.query<WebhookRow>(sql, values)).map(fromRow)
}

export const findWebhook = (database: Database, room: string, webhook_id: string) =>
  findOne(database, webhookRows, where('webhook_id = ? and account = ?', webhook_id, room))

/** The active webhooks of the account, oldest first. */
export const activeWebhooks = (database: Database, room: string) =>
  webhooksWhere(database, `account = $1 and status = 'ACTIVE' order by webhook_id`, [room])

/**
 * Makes sure that the default account has one active webhook from the settings, with this address, this signing key and
 * all event types. Webhooks of earlier settings are deactivated. Returns the other active webhooks with the address.
 *
 * Instances that start together may each insert one. Each reads again after its insert, and all keep the oldest.
 */
export async function keepFixedWebhook(
  { database, time, newId }: { database: Database; time: Time; newId: NewId },
  { callback_url, signing_key }: FixedWebhook,
): Promise<Webhook[]> {
  const account = await accountOfName(database, DEFAULT_ACCOUNT)
  if (!account) throw new Error(`the account ${DEFAULT_ACCOUNT} is missing`)
  const { room } = account
  const isKept = (webhook: Webhook) => webhook.fixed && webhook.callback_url === callback_url
  const found = (await activeWebhooks(database, room)).find(isKept)
  const isSameKey = found?.signing_key === signing_key
  const changed = isSameKey ? found.changed : found && time.wall()
  const webhook: Webhook = {
    webhook_id: found?.webhook_id ?? newId(time.now(account), account.room),
    room,
    status: 'ACTIVE',
    callback_url,
    subscriptions: eventTypesOf[account.behaviour],
    fixed: true,
    signing_key,
    ...(changed !== undefined && { changed }),
  }
  if (!isSameKey || String(found.subscriptions) !== String(webhook.subscriptions)) {
    const sql = `insert into webhooks (${INSERTED}) values ($1, $2, $3, $4, $5)
      on conflict (webhook_id) do update set body = excluded.body`
    await database.write([{ sql, values: valuesOf(webhook) }])
  }
  const active = await activeWebhooks(database, room)
  const current = active.find(isKept)
  const outdated = active.filter(other => other.fixed && other !== current)
  if (outdated.length > 0)
    await database.write(outdated.map(({ webhook_id }) => deactivateWebhook(room, webhook_id)))
  return active.filter(other => !other.fixed && sendsTheSame(other, webhook))
}

/** Fails its `expect` when the account has no such webhook. An inactive webhook stays inactive. */
export function deactivateWebhook(room: string, webhook_id: string): Statement {
  return {
    sql: `update webhooks set status = 'INACTIVE' where webhook_id = $1 and account = $2`,
    values: [webhook_id, room],
    expect: 1,
  }
}
