/** The messages of all webhooks of an account in one list. */
import type { Database } from '../../core/ports.ts'
import {
  IS_NOT_LISTENING,
  type MessageRow,
  messageRows,
  type ShownStatus,
  wasNotListening,
} from '../../pay/webhooks/message-store.ts'
import type { EventType, Webhook } from '../../pay/webhooks/webhook.ts'
import {
  type Condition,
  inRange,
  numbered,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'

/** A message in the list of an account. */
export type DeliveryRow = MessageRow & Pick<Webhook, 'webhook_id'>

/** `ended well` are all but those that failed. */
export type DeliveryFilter = {
  event_type?: EventType | undefined
  status?: ShownStatus | 'ended well' | undefined
}

/** The most messages that are looked through where no index has the filter: together, and at least of each webhook. */
const MOST_SEARCHED = 1_000
const FEWEST_SEARCHED = 100

/** Literals, so that the partial indexes are used. `rest` is what they do not tell. */
const conditions: Record<ShownStatus | 'ended well', { index?: string; rest?: string }> = {
  PENDING: { index: `status = 'PENDING'` },
  FAILED: { index: `status = 'FAILED'`, rest: `not ${IS_NOT_LISTENING}` },
  'not listening': { index: `status = 'FAILED'`, rest: IS_NOT_LISTENING },
  SUCCESSFUL: { rest: `status = 'SUCCESSFUL'` },
  'ended well': { rest: `(status <> 'FAILED' or ${IS_NOT_LISTENING})` },
}

/** How many messages of each of `webhooks` webhooks are looked through. */
export const searchedOf = (webhooks: number): number =>
  Math.max(FEWEST_SEARCHED, Math.ceil(MOST_SEARCHED / Math.max(1, webhooks)))

/** The messages of these webhooks, which the caller has found. */
export async function listDeliveries(
  database: Database,
  webhooks: readonly Pick<Webhook, 'webhook_id'>[],
  { event_type, status, ...range }: DeliveryFilter & Range,
  { limit, order }: Part,
): Promise<DeliveryRow[]> {
  if (webhooks.length === 0) return []
  const direction = order === 'newest' ? 'desc' : 'asc'
  const { index, rest } = (status && conditions[status]) ?? {}
  const left = [
    ...(rest ? [where(rest)] : []),
    ...(event_type ? [where('event_type = ?', event_type)] : []),
  ]
  const searched = left.length > 0 ? Math.max(searchedOf(webhooks.length), limit) : limit
  const parts = webhooks.map(({ webhook_id }, i) => {
    const found = [
      where('webhook_id = ?', webhook_id),
      ...(index ? [where(index)] : []),
      ...inRange('message_id', range),
    ]
    return where(
      `select message_id from (
         select message_id, event_type, status, attempts from webhook_messages where ${sqlOf(found)}
         order by message_id ${direction} limit ${searched}) searched_${i}
       ${left.length > 0 ? `where ${sqlOf(left)}` : ''}`,
      ...[...found, ...left].flatMap(({ values }) => values),
    )
  })
  const { columns } = messageRows
  return database.query<DeliveryRow>(
    numbered(
      `select webhook_id, ${columns} from webhook_messages where message_id in (
         select message_id from (${parts.map(({ sql }) => sql).join(' union all ')}) found
         order by message_id ${direction} limit ?)
       order by message_id ${direction}`,
    ),
    [...parts.flatMap(({ values }) => values), limit],
  )
}

const sqlOf = (all: Condition[]): string => all.map(({ sql }) => sql).join(' and ')

/** Before the identifiers of failed messages and of the others, where failed ones come first. */
const FAILED_FIRST = { FAILED: '1', 'ended well': '0' } as const

/** The place of a message in the list with failed ones first. It sorts as the list does. */
export function placeOf(message: DeliveryRow): string {
  const isFailed = message.status === 'FAILED' && !wasNotListening(message)
  return FAILED_FIRST[isFailed ? 'FAILED' : 'ended well'] + message.message_id
}

/** As `listDeliveries`, with failed ones first; the range is of places. */
export async function listFailedFirst(
  database: Database,
  webhooks: readonly Pick<Webhook, 'webhook_id'>[],
  { before, after, event_type }: DeliveryFilter & Range,
  { limit, order }: Part,
): Promise<DeliveryRow[]> {
  const found: DeliveryRow[] = []
  const groups = ['FAILED', 'ended well'] as const
  for (const status of order === 'newest' ? groups : groups.toReversed()) {
    const range = rangeIn(FAILED_FIRST[status], before, after)
    if (!range || found.length === limit) continue
    const part = { limit: limit - found.length, order }
    found.push(
      ...(await listDeliveries(database, webhooks, { event_type, status, ...range }, part)),
    )
  }
  return found
}

/** The part of a range of places that is in a group; undefined if there is none. */
function rangeIn(first: string, before?: string, after?: string): Range | undefined {
  if ((before !== undefined && before < first) || (after !== undefined && after > `${first}~`))
    return undefined
  return {
    ...(before?.startsWith(first) && { before: before.slice(1) }),
    ...(after?.startsWith(first) && { after: after.slice(1) }),
  }
}
