import type { Database } from '../../../core/ports.ts'
import { numbered } from '../../../platform/database/select.ts'

export type Counts = { payments: number; refused: number; failed: number }

/** Of each room: its payments, the refused requests that are recorded, and the messages that were not delivered. */
export async function countsOf(
  database: Database,
  rooms: readonly string[],
): Promise<(room: string) => Counts> {
  if (rooms.length === 0) return () => none
  const places = rooms.map(() => '?').join(', ')
  const read = async (sql: string) => {
    const rows = await database.query<{ room: string; found: number }>(numbered(sql), [...rooms])
    return new Map(rows.map(({ room, found }) => [room, found]))
  }
  const [payments, refused, failed] = await Promise.all([
    read(
      `select account as room, cast(sum(payments) as integer) as found from payment_counts
       where account in (${places}) group by account`,
    ),
    read(
      `select account as room, cast(count(*) as integer) as found from exchanges
       where account in (${places}) and refused = 1 and kind in ('api', 'page') group by account`,
    ),
    read(
      `select webhooks.account as room, cast(count(*) as integer) as found
       from webhooks join webhook_messages messages on messages.webhook_id = webhooks.webhook_id
       where webhooks.account in (${places}) and messages.status = 'FAILED' group by webhooks.account`,
    ),
  ])
  return room => ({
    payments: payments.get(room) ?? 0,
    refused: refused.get(room) ?? 0,
    failed: failed.get(room) ?? 0,
  })
}

const none: Counts = { payments: 0, refused: 0, failed: 0 }
