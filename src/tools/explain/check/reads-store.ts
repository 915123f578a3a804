/**
 * What the account read through the API while its receiver was probed. Reads are counted before and after, because
 * identifiers of two instances do not tell which was written first.
 */
import type { Account } from '../../../core/account.ts'
import { numbered } from '../../../platform/database/select.ts'
import type { ToolContext } from '../../context.ts'
import { among } from '../../record/store.ts'

type ReadPorts = Pick<ToolContext, 'database' | 'recorder'>

const READ = `kind = 'api' and body like '%"method":"GET"%'`

/** How often each of the payments was read. Those that were not are absent. */
export async function countReads(
  { database, recorder }: ReadPorts,
  { room }: Account,
  payment_ids: readonly string[],
): Promise<Map<string, number>> {
  await recorder?.flush()
  const rows = await database.query<{ payment_id: string; found: number }>(
    numbered(`select payment_id, cast(count(*) as integer) as found from exchanges
      where account = ? and ${among('payment_id', payment_ids)} and ${READ} and refused = 0
      group by payment_id`),
    [room, ...payment_ids],
  )
  return new Map(rows.map(({ payment_id, found }) => [payment_id, found]))
}

/** How often something was read that does not exist. */
export async function countMissed(
  { database, recorder }: ReadPorts,
  { room }: Account,
): Promise<number> {
  await recorder?.flush()
  const [row] = await database.query<{ found: number }>(
    `select cast(count(*) as integer) as found from exchanges
     where account = $1 and refused = 1 and ${READ} and status = 404`,
    [room],
  )
  return row?.found ?? 0
}
