/** Lists of webhooks and of their messages for the console, newest first. */

import { idFloor } from '../../core/ids.ts'
import type { Database } from '../../core/ports.ts'
import {
  type MessageOutline,
  type MessageRow,
  messageRows,
  outlineRows,
} from '../../pay/webhooks/message-store.ts'
import { COLUMNS, fromRow, type WebhookRow, webhookRows } from '../../pay/webhooks/store.ts'
import type { DeliveryStatus, Webhook, WebhookStatus } from '../../pay/webhooks/webhook.ts'
import {
  findPart,
  inRange,
  numbered,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'
import { listDeliveries } from './deliveries-store.ts'

/** With the newest of its messages that was attempted. */
export type ListedWebhook = Webhook & { last: MessageRow | undefined }

/** The newest webhooks of the account with this status, at most `limit`, and how many there are. */
export async function listWebhooks(
  database: Database,
  room: string,
  status: WebhookStatus,
  limit: number,
): Promise<{ total: number; webhooks: ListedWebhook[] }> {
  const values = [room, status]
  const [counted] = await database.query<{ total: number }>(
    'select cast(count(*) as integer) as total from webhooks where account = $1 and status = $2',
    values,
  )
  const rows = await database.query<WebhookRow & { last_id: string | null }>(
    `select ${COLUMNS},
       (select message_id from webhook_messages messages
        where messages.webhook_id = webhooks.webhook_id and attempts <> '[]'
        order by message_id desc limit 1) as last_id
     from webhooks where account = $1 and status = $2 order by webhook_id desc limit $3`,
    [...values, limit],
  )
  const ids = rows.flatMap(({ last_id }) => last_id ?? [])
  const messages = await messagesNamed(database, ids)
  const webhooks = rows.map(({ last_id, ...row }) => ({
    ...fromRow(row),
    last: messages.find(({ message_id }) => message_id === last_id),
  }))
  return { total: counted?.total ?? 0, webhooks }
}

const messagesNamed = (database: Database, ids: readonly string[]): Promise<MessageRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : findPart(
        database,
        messageRows,
        [where(`message_id in (${ids.map(() => '?').join(', ')})`, ...ids)],
        { limit: ids.length, order: 'newest' },
      )

/** The literals let the database use the partial indexes of PENDING and FAILED messages. */
const ofDelivery: Record<DeliveryStatus, string> = {
  PENDING: `status = 'PENDING'`,
  SUCCESSFUL: `status = 'SUCCESSFUL'`,
  FAILED: `status = 'FAILED'`,
}

/** Messages of a webhook, which the caller has found. */
export function messagesOfWebhook(
  database: Database,
  webhook_id: string,
  { delivery, ...range }: Range & { delivery?: DeliveryStatus },
  part: Part,
): Promise<MessageRow[]> {
  const conditions = [
    where('webhook_id = ?', webhook_id),
    ...(delivery ? [where(ofDelivery[delivery])] : []),
    ...inRange('message_id', range),
  ]
  return findPart(database, messageRows, conditions, part)
}

/** The newest webhooks of the account, active or not, at most `limit`. */
export const newestWebhooks = (
  database: Database,
  room: string,
  limit: number,
): Promise<Webhook[]> =>
  findPart(database, webhookRows, [where('account = ?', room)], { limit, order: 'newest' })

/** How many webhooks the account has, active or not. */
export async function countWebhooks(database: Database, room: string): Promise<number> {
  const [row] = await database.query<{ total: number }>(
    'select cast(count(*) as integer) as total from webhooks where account = $1',
    [room],
  )
  return row?.total ?? 0
}

/** The newest messages of these webhooks, newest first, at most `limit`; those whose bodies are kept. */
export async function newestMessages(
  database: Database,
  webhooks: readonly Webhook[],
  limit: number,
): Promise<(MessageRow & { webhook: Webhook })[]> {
  const found = await listDeliveries(database, webhooks, {}, { limit, order: 'newest' })
  return found.flatMap(row => {
    const webhook = webhooks.find(({ webhook_id }) => webhook_id === row.webhook_id)
    return webhook && row.body !== null ? [{ ...row, webhook }] : []
  })
}

/** Each refund of a payment makes one for each webhook. */
const MOST_OF_PAYMENT = 1_000

/** The first messages of a payment that the caller has found and that is not gone, oldest first. */
export const messagesOfPayment = (
  database: Database,
  payment_id: string,
): Promise<MessageOutline[]> =>
  findPart(
    database,
    outlineRows,
    [where('payment_id = ? and messages.body is not null', payment_id)],
    { limit: MOST_OF_PAYMENT, order: 'oldest' },
  )

/** A message that was not delivered. */
export type Failure = Pick<MessageRow, 'message_id' | 'payment_id' | 'attempts'> & {
  webhook_id: string
}

/**
 * The newest failed messages of each of these webhooks whose bodies are kept, at most `limit` of each. `since`: of a
 * change then or later, in milliseconds on the account's clock.
 */
export async function newestFailures(
  database: Database,
  webhooks: readonly Webhook[],
  { since, limit }: { since: number; limit: number },
): Promise<Failure[]> {
  if (webhooks.length === 0) return []
  const parts = webhooks.map(({ webhook_id }, i) =>
    where(
      `select * from (select message_id, webhook_id, payment_id, attempts from webhook_messages
         where webhook_id = ? and ${ofDelivery.FAILED} and message_id >= ? and body is not null
         order by message_id desc limit ?) webhook_${i}`,
      webhook_id,
      idFloor(since),
      limit,
    ),
  )
  return database.query<Failure>(
    numbered(parts.map(({ sql }) => sql).join(' union all ')),
    parts.flatMap(({ values }) => values),
  )
}
