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

/** Exchanges that are read in one turn of the event loop: some 5 ms. A row has at most 400 bytes of facts. */
const SLICE = 500
/** The most payments and agreements that are looked at. */
const MOST_ROWS = 200

/** `since`: leaves out what happened before, in milliseconds of the account's time. `later`: judges as of so much later. */
export type Window = { since?: number | undefined; later?: number | undefined }

/** The record of an account as the rules see it, without what Farthing's own commands and the console sent. Times in milliseconds. */
export type AccountRecord = Awaited<ReturnType<typeof readRecord>>

export async function readRecord(
  { database, recorder, time }: ToolContext,
  account: Account,
  { since = 0, later = 0 }: Window,
) {
  await recorder?.flush()
  const { room } = account
  const present = time.now(account)
  const now = present + later
  const atOf = (wall: MachineTime) => time.now(account, wall)
  const all = await readExchanges(database, room)
  const [oldest] = all
  const gaps = all.flatMap(({ gap }) => (gap && atOf(gap.to) >= since ? [gap] : []))
  const kept = withoutOwn(all.filter(({ gap }) => !gap).sort(byBeginning))
  const exchanges = kept.filter(({ at }) => at >= since)
  const webhooks = await activeWebhooks(database, room)
  const ofOthers = webhooks.filter(({ callback_url }) => !isListenerAddress(callback_url))
  const payments = (filter: PaymentFilter, limit = MOST_ROWS) =>
    findPayments(database, { account, now: present, filter }, {}, { limit, order: 'newest' })
  /** The payments that were created through the API. */
  const ofStatus = async (status: Status, until?: AccountTime) =>
    (await payments({ status, until })).filter(({ origin }) => origin === undefined)
  const capturable = (await ofStatus('capturable', now - DAY)).map(({ payment_id, events }) => ({
    payment_id,
    since: events.findLast(({ status }) => status === 'capturable')?.at ?? now,
  }))
  const open = [...(await ofStatus('created')), ...(await ofStatus('started'))]
  const [newest] = await payments({}, 1)
  return {
    /** The account's time, or the later one as of which is judged. */
    now,
    behaviour: account.behaviour,
    /** When what is looked at begins, on the account's clock. */
    since,
    /** When the record begins, in milliseconds of the account's time; null where it is empty. */
    from: oldest ? Math.max(since, oldest.gap ? atOf(oldest.gap.to) : oldest.at) : null,
    /** How many exchanges it has, and how many were only counted. */
    kept: exchanges.filter(({ kind }) => kind !== 'action').length,
    not_kept: gaps.reduce((sum, { count }) => sum + count, 0),
    /** In the order in which they began. Gaps are apart. */
    exchanges,
    ofPayment: Map.groupBy(
      exchanges.filter(({ payment_id }) => payment_id !== null),
      ({ payment_id }) => payment_id ?? '',
    ),
    /** When the last gap ends, on the machine's clock; -Infinity without one. */
    lastGap: gaps.reduce((last, { to }) => Math.max(last, to), -Infinity),
    /** The active ones, without those of `farthing listen`. */
    webhooks: ofOthers,
    /** The newest active webhook, of `farthing listen` only if there is no other. */
    toProbe: ofOthers.at(-1) ?? webhooks.at(-1),
    /** Agreements that were cancelled before they were active. */
    neverActive: await neverActive(database, room, exchanges),
    /** Payments created through the API that have been capturable since this time of the account. */
    capturable: capturable.filter(each => each.since >= since),
    /** When the account created its newest payment; 0 without any. Judged as of a later time, that time: by then one can have been created. */
    newest: later > 0 ? now : newest ? timeOf(newest.payment_id) : 0,
    /** Payments created through the API that nobody has ended. */
    open: open.map(({ payment_id }) => payment_id),
  }
}

async function readExchanges(database: Database, room: string): Promise<Evidence[]> {
  const all: Evidence[] = []
  for (;;) {
    const after = all.at(-1)?.exchange_id ?? ''
    const part = { limit: SLICE, order: 'oldest' } as const
    const slice = await findPart(database, evidenceRows, conditionsOf(room, { after }), part)
    all.push(...slice)
    if (slice.length < SLICE) return all
  }
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
async function neverActive(database: Database, room: string, exchanges: readonly Evidence[]) {
  const cancelled = exchanges.flatMap(({ operation, about }) =>
    operation === 'cancelAgreement' && about ? [about] : [],
  )
  const ids = [...new Set(cancelled)].slice(-MOST_ROWS)
  const conditions = [where('account = ?', room), where(among('agreement_id', ids), ...ids)]
  const part = { limit: MOST_ROWS, order: 'newest' } as const
  const agreements = await findPart(database, agreementRows, conditions, part)
  return new Set(
    agreements.filter(({ instrument }) => !instrument).map(({ agreement_id }) => agreement_id),
  )
}
