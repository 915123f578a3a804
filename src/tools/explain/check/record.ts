/** Reads the record of an account for the check, in slices, so that requests are answered in between. */
import type { Account } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import type { AccountTime, Database, MachineTime } from '../../../core/ports.ts'
import { DAY } from '../../../core/time.ts'
import { agreementRows } from '../../../pay/agreements/store.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { findPart, findWithin, where } from '../../../platform/database/select.ts'
import type { ToolContext } from '../../context.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import { listPayments } from '../../lists/payments-store.ts'
import { among, byBeginning, conditionsOf, exchangeRows } from '../../record/store.ts'
import type { RecordFacts } from './rule.ts'
import { type Seen, seenOf } from './seen.ts'

/** Exchanges that are read in one turn of the event loop, and their bytes: some 5 ms. */
const SLICE = 200
const SLICE_BYTES = 512 * 1024
/** The most payments and agreements that are looked at. */
const MOST_ROWS = 200

type ReadRecord = {
  facts: RecordFacts
  kept: number
  not_kept: number
  /** When what is kept begins, in milliseconds of the account's time; null where nothing is kept. */
  from: number | null
}

/** `since`: leaves out what happened before, in milliseconds of the account's time. */
export async function readRecord(
  { database, recorder, time }: ToolContext,
  account: Account,
  since: number | undefined,
): Promise<ReadRecord> {
  await recorder?.flush()
  const { room } = account
  const now = time.now(account)
  const { seen, gaps, oldest } = await readExchanges(database, room, {
    isInside: at => since === undefined || at >= since,
    atOf: wall => time.now(account, wall),
  })
  const webhooks = await activeWebhooks(database, room)
  const facts: RecordFacts = {
    now,
    seen,
    ofPayment: byPayment(seen),
    gaps,
    webhooks: webhooks.filter(({ callback_url }) => !isListenerAddress(callback_url)),
    neverActive: await neverActive(database, room, seen),
    uncaptured: await uncaptured(database, room, { now, since: since ?? 0 }),
  }
  return {
    facts,
    kept: seen.filter(({ kind }) => kind !== 'action').length,
    not_kept: gaps.reduce((sum, { count }) => sum + count, 0),
    from: oldest === undefined ? null : Math.max(since ?? oldest, oldest),
  }
}

type Window = {
  isInside: (at: AccountTime) => boolean
  atOf: (wall: MachineTime) => AccountTime
}

type Gap = { from: number; to: number; count: number }

async function readExchanges(database: Database, room: string, { isInside, atOf }: Window) {
  const table = { ...exchangeRows, fromRow: readRow }
  const seen: Seen[] = []
  const gaps: Gap[] = []
  let oldest: AccountTime | undefined
  let after = ''
  for (;;) {
    const conditions = conditionsOf(room, { after })
    const part = { limit: SLICE, order: 'oldest' } as const
    const slice = await findWithin(database, table, conditions, part, SLICE_BYTES)
    for (const { gap, exchange } of slice) {
      const at = exchange?.at ?? atOf(gap?.to ?? 0)
      oldest ??= at
      if (gap && isInside(at)) gaps.push(gap)
      if (exchange && isInside(at)) seen.push(exchange)
    }
    const last = slice.at(-1)
    if (!last) break
    after = last.exchange_id
  }
  return { seen: seen.sort(byBeginning), gaps, oldest }
}

type ReadRow = { exchange_id: string; gap?: Gap; exchange?: Seen }
type Row = Parameters<typeof exchangeRows.fromRow>[0]

function readRow(row: Row): ReadRow {
  const exchange = exchangeRows.fromRow(row)
  const { exchange_id, gap } = exchange
  return gap ? { exchange_id, gap } : { exchange_id, exchange: seenOf(exchange) }
}

function byPayment(seen: readonly Seen[]): Map<string, Seen[]> {
  const found = new Map<string, Seen[]>()
  for (const each of seen) {
    if (each.payment_id === null) continue
    const ofPayment = found.get(each.payment_id)
    if (ofPayment) ofPayment.push(each)
    else found.set(each.payment_id, [each])
  }
  return found
}

/** Of the agreements that were cancelled: those without a payment instrument. */
async function neverActive(
  database: Database,
  room: string,
  seen: readonly Seen[],
): Promise<Set<string>> {
  const cancelled = seen.flatMap(({ operation, about }) =>
    operation === 'cancelAgreement' && about ? [about] : [],
  )
  const ids = [...new Set(cancelled)].slice(-MOST_ROWS)
  if (ids.length === 0) return new Set()
  const conditions = [where('account = ?', room), where(among('agreement_id', ids), ...ids)]
  const part = { limit: MOST_ROWS, order: 'newest' } as const
  const agreements = await findPart(database, agreementRows, conditions, part)
  return new Set(
    agreements.filter(({ instrument }) => !instrument).map(({ agreement_id }) => agreement_id),
  )
}

async function uncaptured(
  database: Database,
  room: string,
  { now, since }: { now: AccountTime; since: number },
): Promise<string[]> {
  const filter = { status: 'capturable', until: now - DAY }
  const part = { limit: MOST_ROWS, order: 'newest' } as const
  const waiting = await findPayments(database, { room, now, filter }, {}, part)
  if (waiting.length === 0) return []
  const [newest] = await listPayments(database, room, {}, { now, limit: 1, order: 'newest' })
  const newestAt = newest ? timeOf(newest.payment_id) : 0
  return waiting
    .filter(({ events, origin }) => {
      if (origin !== undefined) return false
      const at = events.findLast(({ status }) => status === 'capturable')?.at ?? now
      return at >= since && at + DAY <= newestAt
    })
    .map(({ payment_id }) => payment_id)
}
