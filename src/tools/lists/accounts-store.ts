import type { Database } from '../../core/ports.ts'
import { countRows, numbered, where } from '../../platform/database/select.ts'
import { isAmong } from '../record/store.ts'
import { isOpen } from './webhooks-store.ts'

/** The most failed messages that are counted, because each is looked up in the record. */
export const MOST_FAILED = 1_000

/** By room: its payments, the refused requests that are recorded, and the failed messages that need attention. */
export async function countsOf(database: Database, rooms: readonly string[]) {
  const ofRooms = isAmong('account', rooms)
  const read = async (columns: string, condition = '') => {
    const rows = await database.query<{ room: string; found: number }>(
      numbered(`select ${columns} where ${ofRooms.sql} ${condition} group by account`),
      ofRooms.values,
    )
    return new Map(rows.map(({ room, found }) => [room, found]))
  }
  const countFailed = async (room: string) => {
    const failed = `(select message_id from webhooks
      join webhook_messages messages on messages.webhook_id = webhooks.webhook_id
      where account = ? and webhooks.status = 'ACTIVE' and ${isOpen('messages')}
      limit ${MOST_FAILED}) failed`
    return [room, await countRows(database, where(failed, room))] as const
  }
  const [payments, refused, failed] = await Promise.all([
    read('account as room, cast(sum(payments) as integer) as found from payment_counts'),
    read(
      'account as room, cast(count(*) as integer) as found from exchanges',
      `and refused = 1 and kind in ('api', 'page')`,
    ),
    Promise.all(rooms.map(countFailed)),
  ])
  return { payments, refused, failed: new Map(failed) }
}
