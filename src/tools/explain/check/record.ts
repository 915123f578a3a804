/** Reads the record of an account for the check, in slices, so that requests are answered in between. */
import type { Account } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import type { AccountTime, Database, MachineTime } from '../../../core/ports.ts'
import { DAY } from '../../../core/time.ts'
import { agreementRows } from '../../../pay/agreements/store.ts'
import type { Status } from '../../../pay/payments/payment.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { findPart, where } from '../../../platform/database/select.ts'
import type { ToolContext } from '../../context.ts'
import { findPayments, type PaymentFilter } from '../../lists/find-payments-store.ts'
import { evidenceRows } from '../../record/columns.ts'
import type { Evidence } from '../../record/exchange.ts'
import { among, byBeginning, conditionsOf } from '../../record/store.ts'
import type { AccountRecord } from './rule.ts'

/** Exchanges that are read in one turn of the event loop: some 5 ms. A row has at most 400 bytes of facts. */
const SLICE = 500
/** The most payments and agreements that are looked at. */
const MOST_ROWS = 200

/** `since`: leaves out what happened before, in milliseconds of the account's time. `later`: judges as of so much later. */
export type Window = { since?: number | undefined; later?: number | undefined }

export async function readRecord(
  { database, recorder, time }: ToolContext,
  account: Account,
  { since = 0, later = 0 }: Window,
): Promise<AccountRecord> {
  await recorder?.flush()
  const { room } = account
  const present = time.now(account)
  const now = present + later
  const atOf = (wall: MachineTime) => time.now(account, wall)
  const { all, gaps, oldest } = await readExchanges(database, room, atOf)
  const exchanges = withoutOwn(all).filter(({ at }) => at >= since)
  const gapsInside = gaps.filter(({ to }) => atOf(to) >= since)
  const webhooks = await activeWebhooks(database, room)
  const payments = (filter: PaymentFilter, limit = MOST_ROWS) =>
    findPayments(database, { room, now: present, filter }, {}, { limit, order: 'newest' })
  /** The payments that were created through the API. */
  const ofStatus = async (status: Status, until?: AccountTime) =>
    (await payments({ status, until })).filter(({ origin }) => origin === undefined)
  const [newest] = await payments({}, 1)
  return {
    now,
    isLater: later > 0,
    exchanges,
    ofPayment: Map.groupBy(
      exchanges.filter(each => each.payment_id !== null),
      ({ payment_id }) => payment_id ?? '',
    ),
    gaps: gapsInside,
    toProbe: webhooks.findLast(each => !isListenerAddress(each.callback_url)) ?? webhooks.at(-1),
    webhooks: webhooks.filter(({ callback_url }) => !isListenerAddress(callback_url)),
    neverActive: await neverActive(database, room, exchanges),
    capturable: (await ofStatus('capturable', now - DAY))
      .map(({ payment_id, events }) => ({
        payment_id,
        since: events.findLast(({ status }) => status === 'capturable')?.at ?? now,
      }))
      .filter(each => each.since >= since),
    newest: newest ? timeOf(newest.payment_id) : 0,
    open: [...(await ofStatus('created')), ...(await ofStatus('started'))].map(
      ({ payment_id }) => payment_id,
    ),
    kept: exchanges.filter(({ kind }) => kind !== 'action').length,
    not_kept: gapsInside.reduce((sum, { count }) => sum + count, 0),
    from: oldest === undefined ? null : Math.max(since, oldest),
  }
}

type Gap = NonNullable<Evidence['gap']>

async function readExchanges(
  database: Database,
  room: string,
  atOf: (wall: MachineTime) => AccountTime,
) {
  const all: Evidence[] = []
  const gaps: Gap[] = []
  let oldest: AccountTime | undefined
  let after = ''
  for (;;) {
    const part = { limit: SLICE, order: 'oldest' } as const
    const slice = await findPart(database, evidenceRows, conditionsOf(room, { after }), part)
    for (const each of slice) {
      oldest ??= each.gap ? atOf(each.gap.to) : each.at
      if (each.gap) gaps.push(each.gap)
      else all.push(each)
    }
    after = slice.at(-1)?.exchange_id ?? after
    if (slice.length < SLICE) break
  }
  return { all: all.sort(byBeginning), gaps, oldest }
}

/** What Farthing's own commands and the console made counts for nothing, whoever goes on with it. */
function withoutOwn(all: readonly Evidence[]): Evidence[] {
  const own = new Set<string | null>()
  for (const { own: isOwn, operation, payment_id, kind } of all)
    if (isOwn && payment_id !== null && (operation === 'createPayment' || kind === 'action'))
      own.add(payment_id)
  return all.filter(each => !each.own && !own.has(each.payment_id))
}

/** Of the agreements that were cancelled: those without a payment instrument. */
async function neverActive(
  database: Database,
  room: string,
  exchanges: readonly Evidence[],
): Promise<Set<string>> {
  const cancelled = exchanges.flatMap(({ operation, about }) =>
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
