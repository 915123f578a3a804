import type { Database } from '../../core/ports.ts'
import { type KeptMessage, keptRows } from '../../pay/webhooks/message-store.ts'
import { type FollowedPage, findFollowed, type Paging } from '../../platform/database/follow.ts'
import { ifGiven, where } from '../../platform/database/select.ts'

/** As the API has it. */
const DELIVERY_STATUS =
  "case messages.status when 'not listening' then 'FAILED' else messages.status end"

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
    [
      where('webhooks.account = ?', room),
      ...ifGiven('message_id = ?', filter.message_id),
      ...ifGiven('payment_id = ?', filter.payment_id),
      ...ifGiven('event_type = ?', filter.event_type),
      ...ifGiven(`${DELIVERY_STATUS} = ?`, filter.delivery),
    ],
    paging,
  )
