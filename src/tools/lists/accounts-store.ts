import type { Database } from '../../core/ports.ts'
import { numbered } from '../../platform/database/select.ts'
import { among } from '../record/store.ts'
import { isOpen } from './webhooks-store.ts'

/** By room: its payments, the refused requests that are recorded, and the failed messages that need attention. */
export async function countsOf(database: Database, rooms: readonly string[]) {
  const read = async (columns: string, condition = '') => {
    const rows = await database.query<{ room: string; found: number }>(
      numbered(`select ${columns} where ${among('account', rooms)} ${condition} group by account`),
      [...rooms],
    )
    return new Map(rows.map(({ room, found }) => [room, found]))
  }
  const [payments, refused, failed] = await Promise.all([
    read('account as room, cast(sum(payments) as integer) as found from payment_counts'),
    read(
      'account as room, cast(count(*) as integer) as found from exchanges',
      `and refused = 1 and kind in ('api', 'page')`,
    ),
    read(
      `account as room, cast(count(*) as integer) as found
       from webhooks join webhook_messages messages on messages.webhook_id = webhooks.webhook_id`,
      `and webhooks.status = 'ACTIVE' and ${isOpen('messages')}`,
    ),
  ])
  return { payments, refused, failed }
}
