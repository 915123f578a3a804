/** Lists of webhooks and of their messages for the console, newest first. */
import { idFloor } from '../../core/ids.ts'
import type { Database } from '../../core/ports.ts'
import { NOBODY_LISTENS } from '../../pay/webhooks/listener.ts'
import {
  attemptsOf,
  type MessageRow,
  messageRows,
  outlineRows,
} from '../../pay/webhooks/message-store.ts'
import { type WebhookRow, webhookRows } from '../../pay/webhooks/store.ts'
import type {
  Attempt,
  EventType,
  MessageStatus,
  Webhook,
  WebhookStatus,
} from '../../pay/webhooks/webhook.ts'
import {
  allOf,
  countRows,
  findEnds,
  findPart,
  ifGiven,
  inRange,
  join,
  numbered,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'
import { isAmong, wasAccepted } from '../record/store.ts'

/** A webhook with the newest of its last FEWEST_SEARCHED messages that was attempted, or else its newest message. */
export type ListedWebhook = Webhook & { last: MessageRow | undefined }

/** The newest webhooks of the account with this status, at most `limit`, and how many there are. */
export async function listWebhooks(
  database: Database,
  room: string,
  status: WebhookStatus,
  limit: number,
): Promise<{ total: number; webhooks: ListedWebhook[] }> {
  const rows = await database.query<WebhookRow & { total: number; last_id: string | null }>(
    `select ${webhookRows.columns},
       (select cast(count(*) as integer) from webhooks where account = $1 and status = $2) as total,
       (select message_id from
          (select message_id, attempts from webhook_messages messages
           where messages.webhook_id = webhooks.webhook_id
           order by message_id desc limit ${FEWEST_SEARCHED}) newest
        order by attempts = '[]', message_id desc limit 1) as last_id
     from webhooks where account = $1 and status = $2 order by webhook_id desc limit $3`,
    [room, status, limit],
  )
  const ids = rows.flatMap(({ last_id }) => last_id ?? [])
  const part = { limit: ids.length, order: 'newest' } as const
  const messages = await findPart(database, messageRows, [isAmong('message_id', ids)], part)
  const webhooks = rows.map(({ total, last_id, ...row }) => ({
    ...webhookRows.fromRow(row),
    last: messages.find(({ message_id }) => message_id === last_id),
  }))
  return { total: rows[0]?.total ?? 0, webhooks }
}

/** The newest webhooks of the account, active or not, at most `limit`. */
export const newestWebhooks = (database: Database, room: string, limit: number) =>
  findPart(database, webhookRows, [where('account = ?', room)], { limit, order: 'newest' })

/** How many webhooks the account has, active or not. */
export const countWebhooks = (database: Database, room: string): Promise<number> =>
  countRows(database, where('webhooks where account = ?', room))

/** A limit, because each refund of a payment makes a message for each webhook. */
export const MOST_OF_PAYMENT = 1_000

/** The first and the last messages of a payment that the caller has found and that is not gone, oldest first. */
export const messagesOfPayment = (database: Database, payment_id: string) => {
  const ofPayment = where('payment_id = ? and messages.body is not null', payment_id)
  return findEnds(database, outlineRows, [ofPayment], MOST_OF_PAYMENT / 2)
}

/** The condition of a message that needs attention: it was sent and failed, and its receiver has not accepted it since. */
export const isOpen = (table: string, status: 'FAILED' | 'PENDING' = 'FAILED'): string =>
  `${table}.status = '${status}' and attempts <> '[]' and not ${wasAccepted(table)}`

/** `last` is the newest attempt, which failed. */
type Failure = Pick<DeliveryRow, 'message_id' | 'webhook_id' | 'status'> & { last: Attempt }

/**
 * The messages of each of these webhooks that need attention, and whose bodies are kept: at most `limit` of the newest
 * that have FAILED, of changes at `since` or later, in milliseconds on the account's clock, and those that will be sent
 * again soonest. The one with the newest attempt comes first.
 */
export async function newestFailures(
  database: Database,
  webhooks: readonly Webhook[],
  { since, limit }: { since: number; limit: number },
): Promise<Failure[]> {
  if (webhooks.length === 0) return []
  const columns = 'message_id, webhook_id, status, attempts'
  // Plans may have postponed any number of messages, which have no attempt, also once their payment is gone.
  const parts = webhooks.flatMap(({ webhook_id }, i) => [
    where(
      `select * from (select ${columns} from (select ${columns}, payment_id, body from webhook_messages
           where webhook_id = ? and message_id >= ? and status = 'FAILED' order by message_id desc limit ?) failed_${i}
         where body is not null and ${isOpen(`failed_${i}`)} order by message_id desc limit ?) open_${i}`,
      webhook_id,
      idFloor(since),
      Math.max(searchedOf(webhooks.length), limit),
      limit,
    ),
    where(
      `select ${columns} from (select ${columns}, payment_id, body from webhook_messages
         where webhook_id = ? and due_at is not null order by due_at limit ?) waiting_${i}
       where body is not null and ${isOpen(`waiting_${i}`, 'PENDING')}`,
      webhook_id,
      searchedOf(webhooks.length),
    ),
  ])
  const { sql, values } = join(parts, ' union all ')
  const rows = await database.query<Failure & Pick<MessageRow, 'attempts'>>(numbered(sql), values)
  return rows
    .flatMap(({ attempts, ...row }) =>
      attemptsOf({ attempts })
        .slice(-1)
        .map(last => ({ ...row, last })),
    )
    .filter(({ last }) => last.result !== NOBODY_LISTENS)
    .sort((one, other) => other.last.at - one.last.at)
}

/** A message in the list of an account. */
export type DeliveryRow = MessageRow & Pick<Webhook, 'webhook_id'>

export type DeliveryFilter = {
  event_type?: EventType | undefined
  status?: MessageStatus | undefined
  /** Only messages that need attention. */
  needsAttention?: true
}

/** The most messages that are searched if no index has the filter: of all webhooks, and at least of each webhook. */
const MOST_SEARCHED = 1_000
const FEWEST_SEARCHED = 100

/** Only FAILED has a partial index. */
export const isSearched = (status: MessageStatus | '' = ''): boolean =>
  status !== '' && status !== 'FAILED'

/** How many messages of each of `webhooks` webhooks are looked through. */
export const searchedOf = (webhooks: number): number =>
  Math.max(FEWEST_SEARCHED, Math.ceil(MOST_SEARCHED / Math.max(1, webhooks)))

/** The messages of these webhooks, which the caller has found. */
export async function listDeliveries(
  database: Database,
  webhooks: readonly Pick<Webhook, 'webhook_id'>[],
  { event_type, status, needsAttention, ...range }: DeliveryFilter & Range,
  { limit, order }: Part,
): Promise<DeliveryRow[]> {
  if (webhooks.length === 0) return []
  const direction = order === 'newest' ? 'desc' : 'asc'
  // A literal lets the database use the partial index of FAILED messages.
  const ofStatus = status ? [where(`status = '${status}'`)] : []
  const leftFor = (table: string) => [
    ...(isSearched(status) ? ofStatus : []),
    ...ifGiven('event_type = ?', event_type),
    ...(needsAttention ? [where(isOpen(table))] : []),
  ]
  const searched = leftFor('').length > 0 ? Math.max(searchedOf(webhooks.length), limit) : limit
  const parts = webhooks.map(({ webhook_id }, i) => {
    const found = allOf([
      where('webhook_id = ?', webhook_id),
      ...(isSearched(status) ? [] : ofStatus),
      ...inRange('message_id', range),
    ])
    const others = allOf(leftFor(`searched_${i}`))
    return where(
      `select message_id from (
         select message_id, payment_id, event_type, status, attempts from webhook_messages
         where ${found.sql} order by message_id ${direction} limit ${searched}) searched_${i}
       ${others.sql && `where ${others.sql}`}`,
      ...found.values,
      ...others.values,
    )
  })
  const { sql, values } = join(parts, ' union all ')
  return database.query<DeliveryRow>(
    numbered(
      `select webhook_id, ${messageRows.columns} from webhook_messages where message_id in (
         select message_id from (${sql}) found order by message_id ${direction} limit ?)
       order by message_id ${direction}`,
    ),
    [...values, limit],
  )
}
