/** Lists of webhooks and of their messages for the console, newest first. */
import type { Database, Value } from '../ports.ts'
import {
  FIND_KEPT,
  type KeptMessage,
  type KeptRow,
  keptFromRow,
  type MessageRow,
  messageRows,
} from './message-store.ts'
import type { Attempt, DeliveryStatus, Webhook, WebhookStatus } from './webhook.ts'

export type ListedWebhook = Webhook & {
  /** Of `farthing listen`: until when somebody listens, in milliseconds on the machine's clock. */
  listening_until: number | null
  /** The last attempt of any of its messages. */
  lastAttempt: Attempt | undefined
}

type ListedRow = Pick<Webhook, 'webhook_id' | 'account' | 'status'> & {
  body: string
  listening_until: number | null
  attempts: string | null
}

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
  const rows = await database.query<ListedRow>(
    `select webhook_id, account, status, body, listening_until,
       (select attempts from webhook_messages messages
        where messages.webhook_id = webhooks.webhook_id and attempts <> '[]'
        order by message_id desc limit 1) as attempts
     from webhooks where account = $1 and status = $2 order by webhook_id desc limit $3`,
    [...values, limit],
  )
  return { total: counted?.total ?? 0, webhooks: rows.map(fromRow) }
}

function fromRow({ body, attempts, ...columns }: ListedRow): ListedWebhook {
  const tried = JSON.parse(attempts ?? '[]') as Attempt[] // written by recordAttempts
  return { ...columns, ...JSON.parse(body), lastAttempt: tried.at(-1) } // written by insertWebhook
}

/** `before` and `after` are identifiers of messages, exclusive. */
export type HistoryFilter = { delivery?: DeliveryStatus; before?: string; after?: string }

/** The literals let the database use the partial indexes of PENDING and FAILED messages. */
const ofDelivery: Record<DeliveryStatus, string> = {
  PENDING: `and status = 'PENDING'`,
  SUCCESSFUL: `and status = 'SUCCESSFUL'`,
  FAILED: `and status = 'FAILED'`,
}

function conditionsOf(webhook_id: string, { delivery, before, after }: HistoryFilter) {
  const values: Value[] = [webhook_id]
  const where = [
    'webhook_id = $1',
    delivery ? ofDelivery[delivery] : '',
    before === undefined ? '' : `and message_id < $${values.push(before)}`,
    after === undefined ? '' : `and message_id > $${values.push(after)}`,
  ].join(' ')
  return { where, values }
}

/** Messages of a webhook, which the caller has found: the newest, newest first, or the oldest, oldest first. */
export function messagesOfWebhook(
  database: Database,
  webhook_id: string,
  filter: HistoryFilter,
  { limit, order }: { limit: number; order: 'newest' | 'oldest' },
): Promise<MessageRow[]> {
  const { where, values } = conditionsOf(webhook_id, filter)
  return database.query<MessageRow>(
    `select ${messageRows.columns} from webhook_messages where ${where}
     order by message_id ${order === 'newest' ? 'desc' : 'asc'} limit $${values.length + 1}`,
    [...values, limit],
  )
}

/** How many messages of the webhook there are, at most `limit`. */
export async function countMessages(
  database: Database,
  webhook_id: string,
  filter: HistoryFilter,
  limit: number,
): Promise<number> {
  const { where, values } = conditionsOf(webhook_id, filter)
  const [row] = await database.query<{ found: number }>(
    `select cast(count(*) as integer) as found from
       (select message_id from webhook_messages where ${where} limit $${values.length + 1}) counted`,
    [...values, limit],
  )
  return row?.found ?? 0
}

/** The newest webhooks of the account, active or not, at most `limit`. */
export async function newestWebhooks(
  database: Database,
  room: string,
  limit: number,
): Promise<Webhook[]> {
  const rows = await database.query<Omit<ListedRow, 'listening_until' | 'attempts'>>(
    `select webhook_id, account, status, body from webhooks
     where account = $1 order by webhook_id desc limit $2`,
    [room, limit],
  )
  return rows.map(({ body, ...columns }) => ({ ...columns, ...JSON.parse(body) })) // written by insertWebhook
}

/** The newest messages of these webhooks whose bodies are kept, newest first, at most `limit`. */
export async function newestMessages(
  database: Database,
  webhooks: readonly Webhook[],
  limit: number,
): Promise<(MessageRow & { webhook: Webhook })[]> {
  const found = await Promise.all(
    webhooks.map(async webhook => {
      const { webhook_id } = webhook
      const rows = await messagesOfWebhook(database, webhook_id, {}, { limit, order: 'newest' })
      return rows.filter(({ body }) => body !== null).map(row => ({ ...row, webhook }))
    }),
  )
  return found
    .flat()
    .sort((a, b) => (a.message_id < b.message_id ? 1 : -1))
    .slice(0, limit)
}

/** The messages of a payment that the caller has found and that is not gone, oldest first. */
export async function messagesOfPayment(
  database: Database,
  payment_id: string,
): Promise<KeptMessage[]> {
  const rows = await database.query<KeptRow>(
    `${FIND_KEPT} where payment_id = $1 and messages.body is not null order by message_id`,
    [payment_id],
  )
  return rows.map(keptFromRow)
}
