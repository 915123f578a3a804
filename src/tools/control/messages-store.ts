import { MESSAGES_AT_ONCE } from '../../core/budgets.ts'
import type { Database } from '../../core/ports.ts'
import { type KeptMessage, keptRows } from '../../pay/webhooks/message-store.ts'
import { type FollowedPage, findFollowed, type Paging } from '../../platform/database/follow.ts'
import {
  allOf,
  ifGiven,
  inRange,
  numbered,
  type Part,
  type Range,
  where,
} from '../../platform/database/select.ts'
import { countWebhooks } from '../lists/webhooks-store.ts'

/** The status as the API shows it. */
const DELIVERY_STATUS =
  "case messages.status when 'not listening' then 'FAILED' else messages.status end"

/** The messages of all webhooks of the account. `delivery` is compared at the time of each page. */
export async function followMessages(
  database: Database,
  room: string,
  filter: Partial<Record<'message_id' | 'payment_id' | 'event_type' | 'delivery', string>>,
  paging: Paging,
): Promise<FollowedPage<KeptMessage>> {
  const webhooks = await countWebhooks(database, room)
  const ofEach = Math.max(FEWEST_OF_WEBHOOK, Math.ceil(MESSAGES_AT_ONCE / Math.max(1, webhooks)))
  return findFollowed(
    database,
    { ...keptRows, edgeOf: (range, order) => edgeOf(database, room, ofEach, { ...range, order }) },
    [
      where('webhooks.account = ?', room),
      ...ifGiven('message_id = ?', filter.message_id),
      ...ifGiven('payment_id = ?', filter.payment_id),
      ...ifGiven('event_type = ?', filter.event_type),
      ...ifGiven(`${DELIVERY_STATUS} = ?`, filter.delivery),
    ],
    paging,
  )
}

/** The fewest messages of each webhook in a step, however many webhooks the account has. */
const FEWEST_OF_WEBHOOK = 20

/**
 * The identifier up to which no webhook of the account has more than `most` messages in the range; undefined if that is
 * so in the whole range. Uses the index that has the messages of each webhook in order.
 */
async function edgeOf(
  database: Database,
  room: string,
  most: number,
  { order, ...range }: Range & Pick<Part, 'order'>,
): Promise<string | undefined> {
  const [last, direction] = order === 'newest' ? ['max', 'desc'] : ['min', 'asc']
  const { sql, values } = allOf([
    where('messages.webhook_id = webhooks.webhook_id'),
    ...inRange('message_id', range),
  ])
  const [row] = await database.query<{ edge: string | null }>(
    numbered(`select ${last}(edge) as edge from (
       select (select message_id from webhook_messages messages where ${sql}
               order by message_id ${direction} limit 1 offset ?) as edge
       from webhooks where account = ?) edges`),
    [...values, most - 1, room],
  )
  return row?.edge ?? undefined
}
