/** Refused requests that are alike. */
import { idFloor } from '../../core/ids.ts'
import type { Database } from '../../core/ports.ts'
import { MOST_GROUPED } from './store.ts'

/** A group of refused requests that were told the same. */
export type Refusals = {
  operation: string
  status: number | null
  code: string | null
  field: string | null
  /** Of the sentence without its values, see row.ts; null for those from before it was kept. */
  told: string | null
  found: number
  /** The identifier of the newest. */
  newest: string
}

/**
 * The account's refused requests in groups. The group with the newest request is first. `since`: only those that were
 * recorded then or later, in milliseconds on the machine's clock.
 */
export const groupRefusals = (database: Database, room: string, since = 0): Promise<Refusals[]> =>
  database.query<Refusals>(
    `select operation, status, code, field, told, cast(count(*) as integer) as found, max(exchange_id) as newest
     from (select exchange_id, operation, status, code, field, told from exchanges
           where account = $1 and refused = 1 and kind in ('api', 'page') and exchange_id >= $2
           order by exchange_id desc limit ${MOST_GROUPED}) refusals
     group by operation, status, code, field, told order by newest desc`,
    [room, idFloor(since)],
  )
