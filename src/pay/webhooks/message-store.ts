import { ACCOUNT_COLUMNS, type Account, accountIn, newAccount } from '../../core/account.ts'
import { padded } from '../../core/gather.ts'
import type { AccountTime, Database, MachineTime, Statement, Time } from '../../core/ports.ts'
import { findKeys, livesAt } from '../../platform/accounts/store.ts'
import { findOne, join, numbered, where } from '../../platform/database/select.ts'
import { isGone, type Reading } from '../retention.ts'
import type { WebhookBody } from './store.ts'
import type { Attempt, Message, MessageStatus, Webhook, WebhookStatus } from './webhook.ts'

/** Writes no message whose webhook has been deactivated since it was read. */
export function insertMessages(
  messages: readonly Message[],
  claimedUntil: (message: Message) => MachineTime,
): Statement {
  const places = messages.map(
    (_, i) => `($${[1, 2, 3, 4, 5, 6, 7, 8].map(n => i * 8 + n).join(', $')})`,
  )
  return {
    // Both databases name the columns of `values` column1, column2 and so on.
    sql: `insert into webhook_messages
            (message_id, webhook_id, payment_id, event_type, created, claimed_until, body, sent_as, status, attempts)
          select column1, column2, column3, column4, cast(column5 as bigint), cast(column6 as bigint), column7, column8,
            'PENDING', '[]'
          from (values ${places.join(', ')}) given join webhooks on webhook_id = column2 and status = 'ACTIVE'`,
    values: messages.flatMap(message => [
      message.message_id,
      message.webhook_id,
      message.payment_id,
      message.event_type,
      message.created,
      claimedUntil(message),
      message.body,
      message.sent_as,
    ]),
  }
}

type SendableRow = Omit<KeptRow, 'body'> &
  (Account | Record<keyof Account, null>) & { webhook_account: string; has_body: number }

export type Sendable = MessageOutline & { account: Account; isGone: boolean }

/**
 * One result for each identifier: undefined unless the message is PENDING. `isGone` is true if its payment is gone. If
 * the account has expired or was reset since, its webhook counts as inactive: a request that began before the reset may
 * register a webhook after it.
 */
export async function findSendables(database: Database, ids: string[], time: Time) {
  const places = padded(ids)
  const sql = `select ${OUTLINE_COLUMNS}, case when messages.body is null then 0 else 1 end as has_body,
      webhooks.account as webhook_account, ${ACCOUNT_COLUMNS}
    from ${KEPT} left join accounts on room = webhooks.account and ${livesAt('$1')}
    where message_id in (${places.map((_, i) => `$${i + 2}`).join(', ')}) and messages.status = 'PENDING'`
  const rows = await database.query<SendableRow>(sql, [time.wall(), ...places])
  const found = new Map(rows.map(row => [row.message_id, sendableFromRow(row, time)]))
  return ids.map(id => found.get(id))
}

function sendableFromRow(row: SendableRow, time: Time): Sendable {
  const isOfAccount = row.name !== null
  const account = isOfAccount ? accountIn(row) : newAccount(row.webhook_account)
  // Changes the row instead of copying its 20 columns: each delivery reads a row.
  return Object.assign(row, {
    ...fromBody(row.webhook_body),
    account,
    isGone: row.has_body === 0 || isGone(row.payment_id, { account, now: time.now(account) }),
    webhook_status: isOfAccount ? row.webhook_status : 'INACTIVE',
  })
}

/** `before` is the JSON of the attempts that was read. `attempts` are all attempts, oldest first. */
export type Recording = {
  message_id: string
  before: string
  status: MessageStatus
  attempts: readonly Attempt[]
  /** When the next attempt is due, in the account's time; null if it follows at once, or if none follows. */
  due_at: AccountTime | null
}

/**
 * Compare-and-swap of the attempts of each message. Extends the claims of this instance. Resolves to whether each was
 * recorded: false when another instance has recorded an attempt since.
 */
export async function recordAttempts(
  database: Database,
  recordings: Recording[],
  claimedUntil: number,
): Promise<boolean[]> {
  const places = padded(recordings)
  const rows = places.map((_, i) => `($${[2, 3, 4, 5, 6].map(n => i * 5 + n).join(', $')})`)
  const values = places.flatMap(({ message_id, before, status, attempts, due_at }) => [
    message_id,
    before,
    status,
    JSON.stringify(attempts),
    due_at,
  ])
  const written = await database.write([
    {
      // Both databases name the columns of `values` column1, column2 and so on.
      sql: `update webhook_messages set status = column3, attempts = column4, due_at = cast(column5 as bigint),
              claimed_until = cast($1 as bigint)
            from (values ${rows.join(', ')}) given
            where message_id = column1 and attempts = column2 and webhook_messages.status = 'PENDING'`,
      values: [claimedUntil, ...values],
      expect: recordings.length,
    },
  ])
  if (written || recordings.length === 1) return recordings.map(() => written)
  const alone = recordings.map(one => recordAttempts(database, [one], claimedUntil))
  return (await Promise.all(alone)).flat()
}

/** Ids of the webhooks with a PENDING message whose claim has ended. */
export async function webhooksToRecover(database: Database, now: MachineTime): Promise<string[]> {
  const sql = `select distinct webhook_id from webhook_messages
    where status = 'PENDING' and due_at is null and claimed_until <= $1`
  const rows = await database.query<{ webhook_id: string }>(sql, [now])
  return rows.map(({ webhook_id }) => webhook_id)
}

/** Whether a message of the room is being sent. `now` is the machine's time. */
export async function isSending(database: Database, room: string, now: MachineTime) {
  const sql = `select message_id from ${KEPT}
    where webhooks.account = $1 and messages.status = 'PENDING' and due_at is null and claimed_until > $2 limit 1`
  return (await database.query(sql, [room, now])).length > 0
}

type Unsent = Pick<Message, 'message_id' | 'sent_as'> & {
  claimed_until: number
  body: string | null
}

/** The oldest PENDING message of a webhook without a due time. If order does not matter, claimed ones are left out. */
export async function oldestUnsent(database: Database, webhook_id: string, now: MachineTime) {
  const [unsent] = await database.query<Unsent>(
    `select message_id, claimed_until, sent_as, body from webhook_messages
     where webhook_id = $1 and status = 'PENDING' and due_at is null
       and (sent_as = 'specification' or claimed_until <= $2) order by message_id limit 1`,
    [webhook_id, now],
  )
  return unsent
}

/** Fails its `expect` when another instance has claimed the message first. */
export const claimMessage = (
  { message_id, claimed_until }: Pick<Unsent, 'message_id' | 'claimed_until'>,
  claimedUntil: number,
): Statement => ({
  sql: `update webhook_messages set claimed_until = $3
        where message_id = $1 and claimed_until = $2 and status = 'PENDING'`,
  values: [message_id, claimed_until, claimedUntil],
  expect: 1,
})

/** The body; null once it was deleted with its payment. */
export async function bodyOfMessage(database: Database, message_id: string) {
  const [found] = await database.query<{ body: string | null }>(
    'select body from webhook_messages where message_id = $1',
    [message_id],
  )
  return found?.body ?? null
}

type Due = Pick<Message, 'message_id' | 'webhook_id' | 'sent_as'> & { due_at: AccountTime }

/** The most webhooks whose due messages one query reads: those whose messages have waited longest. */
const WEBHOOKS_AT_ONCE = 64

/**
 * The messages of the account that are due to be sent again at `now`, in order of time. Of each webhook it reads at most
 * `limit`, sorted by the index: many may be due at once.
 */
export async function dueMessages(
  database: Database,
  room: string,
  now: AccountTime,
  limit: number,
): Promise<Due[]> {
  const webhooks = await database.query<{ webhook_id: string }>(
    `with known as materialized (
       select webhook_id, (select min(due_at) from webhook_messages messages
         where messages.webhook_id = webhooks.webhook_id and due_at is not null) as least
       from webhooks where account = $1)
     select webhook_id from known where least <= $2 order by least limit ${WEBHOOKS_AT_ONCE}`,
    [room, now],
  )
  if (webhooks.length === 0) return []
  const columns = 'message_id, webhook_id, due_at, sent_as'
  // Padded with a webhook that does not exist.
  const parts = padded(webhooks).map(({ webhook_id }, i) =>
    where(
      `select * from (select ${columns} from webhook_messages where webhook_id = ? and due_at <= ?
         and status = 'PENDING' order by due_at, message_id limit ${limit}) webhook_${i}`,
      i < webhooks.length ? webhook_id : '',
      now,
    ),
  )
  const { sql, values } = join(parts, ' union all ')
  const ordered = `select * from (${sql}) due order by due_at, message_id limit ${limit}`
  return database.query<Due>(numbered(ordered), values)
}

/** Fails its `expect` if another instance took the message. If this one stops then, `recover` makes the attempt. */
export const takeDue = (
  { message_id, due_at }: Pick<Due, 'message_id' | 'due_at'>,
  claimedUntil: MachineTime,
): Statement => ({
  sql: `update webhook_messages set due_at = null, claimed_until = $3
        where message_id = $1 and due_at = $2 and status = 'PENDING'`,
  values: [message_id, due_at, claimedUntil],
  expect: 1,
})

/** Does nothing once an attempt was made. */
export const postponeMessage = (message_id: string, due_at: AccountTime): Statement => ({
  sql: `update webhook_messages set due_at = $2
        where message_id = $1 and attempts = '[]' and due_at is null and status = 'PENDING'`,
  values: [message_id, due_at],
})

/** The webhooks with messages that will be sent again, as `findKeys` does, each with the time of its first message. */
export const webhooksWithDue = (database: Database, stop?: AbortSignal) => {
  const rows = 'webhook_messages where due_at is not null'
  const join = 'left join webhooks on webhooks.webhook_id = id'
  const keys = { rows, key: 'webhook_messages.webhook_id', value: 'due_at', join }
  return findKeys<AccountTime>(database, { ...keys, room: 'webhooks.account' }, stop)
}

export type MessageRow = Omit<Message, 'webhook_id' | 'body'> & {
  due_at: AccountTime | null
  status: MessageStatus
  /** JSON, unparsed: `recordAttempts` compares it. */
  attempts: string
  body: string | null
}

/** Oldest first. */
export const attemptsOf = ({ attempts }: Pick<MessageRow, 'attempts'>): Attempt[] =>
  JSON.parse(attempts) as Attempt[] // written by recordAttempts

/** Messages whose payment is gone are not sent any more. */
export const statusAt = (
  { status, payment_id }: Pick<MessageRow, 'status' | 'payment_id'>,
  reading: Reading,
): MessageStatus => (status === 'PENDING' && isGone(payment_id, reading) ? 'FAILED' : status)

export const messageRows = {
  from: 'webhook_messages',
  columns: 'message_id, event_type, payment_id, created, status, attempts, sent_as, due_at, body',
  id: 'message_id',
  fromRow: (row: MessageRow) => row,
}

/** A message with the fields of its webhook that are needed to send it. */
export type KeptMessage = MessageRow &
  Pick<Webhook, 'webhook_id' | InBody> & { webhook_status: WebhookStatus }

/** The fields that are read from the webhook's body. */
type InBody = 'description' | 'callback_url' | 'signing_key'
type KeptRow = Omit<KeptMessage, InBody> & { webhook_body: string }

const OUTLINE_COLUMNS = `message_id, event_type, payment_id, created, messages.status, attempts, sent_as, due_at,
  webhooks.webhook_id, webhooks.status as webhook_status, webhooks.body as webhook_body`
const KEPT = 'webhook_messages messages join webhooks on webhooks.webhook_id = messages.webhook_id'

/** A message without its body, which may have 25 KB. */
export type MessageOutline = Omit<KeptMessage, 'body'>

export const outlineRows = {
  from: KEPT,
  columns: OUTLINE_COLUMNS,
  id: 'message_id',
  idOf: ({ message_id }: { message_id: string }) => message_id,
  fromRow: keptFromRow<Omit<KeptRow, 'body'>>,
}

export const keptRows = {
  ...outlineRows,
  columns: `${OUTLINE_COLUMNS}, messages.body`,
  bytes: 'coalesce(octet_length(messages.body), 0) + octet_length(attempts) + 512',
  fromRow: keptFromRow<KeptRow>,
}

function keptFromRow<Row extends Omit<KeptRow, 'body'>>({ webhook_body, ...message }: Row) {
  return { ...message, ...fromBody(webhook_body) }
}

function fromBody(body: string): Pick<Webhook, InBody> {
  const { callback_url, signing_key, description } = JSON.parse(body) as WebhookBody // written by bodyOf
  return { callback_url, signing_key, description }
}

export const findMessage = (database: Database, room: string, message_id: string) =>
  findOne(database, keptRows, where('webhooks.account = ? and message_id = ?', room, message_id))
