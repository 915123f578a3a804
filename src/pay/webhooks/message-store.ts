import { ACCOUNT_COLUMNS, type Account, accountIn, newAccount } from '../../core/account.ts'
import { padded } from '../../core/gather.ts'
import type { Database, MachineTime, Statement, Time } from '../../core/ports.ts'
import { livesAt } from '../../platform/accounts/store.ts'
import { type FollowedPage, findFollowed, type Paging } from '../../platform/database/follow.ts'
import { findOne, ifGiven, where } from '../../platform/database/select.ts'
import { isGone, type Reading } from '../retention.ts'
import { NOBODY_LISTENS } from './listener.ts'
import type { WebhookBody } from './store.ts'
import type { Attempt, DeliveryStatus, Message, Webhook, WebhookStatus } from './webhook.ts'

/** Writes nothing when the webhook has been deactivated since it was read. */
export function insertMessage(message: Message, claimedUntil: number): Statement {
  const { message_id, webhook_id, payment_id, event_type, created, body } = message
  return {
    sql: `insert into webhook_messages
            (message_id, webhook_id, payment_id, event_type, created, status, attempts, claimed_until, body)
          select $1, $2, $3, $4, cast($5 as bigint), 'PENDING', '[]', cast($6 as bigint), $7
          from webhooks where webhook_id = $2 and status = 'ACTIVE'`,
    values: [message_id, webhook_id, payment_id, event_type, created, claimedUntil, body],
  }
}

type SendableRow = Omit<KeptRow, 'body'> &
  (Account | Record<keyof Account, null>) & { webhook_account: string; has_body: number }

export type Sendable = MessageOutline & { account: Account; isGone: boolean }

/**
 * One result for each identifier: undefined unless the message is PENDING. `isGone` is true if its payment is gone. Where
 * the account has expired or was reset since, its webhook counts as inactive: a request that began before the reset may
 * register a webhook after it.
 */
export async function findSendables(
  database: Database,
  ids: string[],
  time: Time,
): Promise<(Sendable | undefined)[]> {
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
  return {
    ...keptFromRow(row),
    account,
    isGone: row.has_body === 0 || isGone(row.payment_id, { account, now: time.now(account) }),
    webhook_status: isOfAccount ? row.webhook_status : 'INACTIVE',
  }
}

/** `before` is the JSON that was read, `attempts` are all of them, oldest first. */
export type Recording = {
  message_id: string
  before: string
  status: DeliveryStatus
  attempts: readonly Attempt[]
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
  const given = places.map((_, i) => `($${[2, 3, 4, 5].map(place => i * 4 + place).join(', $')})`)
  const values = places.flatMap(({ message_id, before, status, attempts }) => [
    message_id,
    before,
    status,
    JSON.stringify(attempts),
  ])
  const written = await database.write([
    {
      // Both databases call the columns of values so.
      sql: `update webhook_messages set status = column3, attempts = column4, claimed_until = cast($1 as bigint)
            from (values ${given.join(', ')}) given
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
  const rows = await database.query<{ webhook_id: string }>(
    `select distinct webhook_id from webhook_messages
     where status = 'PENDING' and claimed_until <= $1`,
    [now],
  )
  return rows.map(({ webhook_id }) => webhook_id)
}

/** Whether a message of the room is being sent. `now` is the machine's time. */
export async function isSending(database: Database, room: string, now: MachineTime) {
  const found = await database.query(
    `select message_id from webhook_messages join webhooks on webhooks.webhook_id = webhook_messages.webhook_id
     where webhooks.account = $1 and webhook_messages.status = 'PENDING' and claimed_until > $2 limit 1`,
    [room, now],
  )
  return found.length > 0
}

type Unsent = { message_id: string; claimed_until: number; body: string | null }

/** The oldest PENDING message of a webhook, claimed or not. */
export async function oldestUnsent(database: Database, webhook_id: string) {
  const [unsent] = await database.query<Unsent>(
    `select message_id, claimed_until, body from webhook_messages
     where webhook_id = $1 and status = 'PENDING' order by message_id limit 1`,
    [webhook_id],
  )
  return unsent
}

/** Fails its `expect` when another instance has claimed the message first. */
export function claimMessage(unsent: Unsent, claimedUntil: number): Statement {
  return {
    sql: `update webhook_messages set claimed_until = $3
          where message_id = $1 and claimed_until = $2 and status = 'PENDING'`,
    values: [unsent.message_id, unsent.claimed_until, claimedUntil],
    expect: 1,
  }
}

export type MessageRow = Omit<Message, 'webhook_id' | 'body'> & {
  status: DeliveryStatus
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
): DeliveryStatus => (status === 'PENDING' && isGone(payment_id, reading) ? 'FAILED' : status)

/** The status as people see it: a message to a listener that was not connected is no failure of a receiver. */
export type ShownStatus = DeliveryStatus | 'not listening'

export function shownStatus(
  row: Pick<MessageRow, 'status' | 'payment_id' | 'attempts'>,
  reading: Reading,
): ShownStatus {
  const status = statusAt(row, reading)
  return status === 'FAILED' && wasNotListening(row) ? 'not listening' : status
}

/** For a FAILED message: whether nobody listened at its last attempt. */
export const wasNotListening = (row: Pick<MessageRow, 'attempts'>): boolean =>
  attemptsOf(row).at(-1)?.result === NOBODY_LISTENS

/** `wasNotListening` as an SQL expression. The result is that of the last attempt, since no other follows. */
export const IS_NOT_LISTENING = `attempts like '%"result":"${NOBODY_LISTENS}"%'`

/** `shownStatus` as an SQL expression. */
export const SHOWN_STATUS = `case when status = 'FAILED' and ${IS_NOT_LISTENING} then 'not listening' else status end`

export const messageRows = {
  from: 'webhook_messages',
  columns: 'message_id, event_type, payment_id, created, status, attempts, body',
  id: 'message_id',
  fromRow: (row: MessageRow) => row,
}

/** A message with the fields of its webhook that sending it needs. */
export type KeptMessage = MessageRow &
  Pick<Webhook, 'webhook_id' | InBody> & { webhook_status: WebhookStatus }

/** What is read from the webhook's body. */
type InBody = 'description' | 'callback_url' | 'signing_key'
type KeptRow = Omit<KeptMessage, InBody> & { webhook_body: string }

const OUTLINE_COLUMNS = `message_id, event_type, payment_id, created, messages.status, attempts,
  webhooks.webhook_id, webhooks.status as webhook_status, webhooks.body as webhook_body`
const KEPT_COLUMNS = `${OUTLINE_COLUMNS}, messages.body`
const KEPT = 'webhook_messages messages join webhooks on webhooks.webhook_id = messages.webhook_id'

/** A message without its body, which may have 25 KB. */
export type MessageOutline = Omit<KeptMessage, 'body'>

export const outlineRows = {
  from: KEPT,
  columns: OUTLINE_COLUMNS,
  id: 'message_id',
  fromRow: keptFromRow<Omit<KeptRow, 'body'>>,
}

const keptRows = {
  from: KEPT,
  columns: KEPT_COLUMNS,
  id: 'message_id',
  bytes: 'coalesce(octet_length(messages.body), 0) + octet_length(attempts) + 512',
  fromRow: keptFromRow<KeptRow>,
}

function keptFromRow<Row extends Omit<KeptRow, 'body'>>({ webhook_body, ...message }: Row) {
  const { callback_url, signing_key, description } = JSON.parse(webhook_body) as WebhookBody // written by bodyOf
  return { ...message, callback_url, signing_key, description }
}

/** The messages of all webhooks of the account. `delivery` is compared at the time of each page. */
export const followMessages = (
  database: Database,
  room: string,
  filter: Partial<Record<'message_id' | 'payment_id' | 'event_type' | 'delivery', string>>,
  paging: Paging,
): Promise<FollowedPage<KeptMessage>> =>
  findFollowed(
    database,
    keptRows,
    ({ message_id }) => message_id,
    [
      where('webhooks.account = ?', room),
      ...ifGiven('message_id = ?', filter.message_id),
      ...ifGiven('payment_id = ?', filter.payment_id),
      ...ifGiven('event_type = ?', filter.event_type),
      ...ifGiven('messages.status = ?', filter.delivery),
    ],
    paging,
  )

export const findMessage = (database: Database, room: string, message_id: string) =>
  findOne(database, keptRows, where('webhooks.account = ? and message_id = ?', room, message_id))
