/** Reads the record of an account for the check, in slices, so that requests are answered in between. */
import type { Account } from '../../../core/account.ts'
import { isSuccess } from '../../../core/http-status.ts'
import { timeOf } from '../../../core/ids.ts'
import type { Database, MachineTime } from '../../../core/ports.ts'
import { DAY } from '../../../core/time.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { activeWebhooks } from '../../../pay/webhooks/store.ts'
import { findPart } from '../../../platform/database/select.ts'
import type { ToolContext } from '../../context.ts'
import { findPayments, type PaymentFilter } from '../../lists/find-payments-store.ts'
import { evidenceRows } from '../../record/columns.ts'
import type { Evidence } from '../../record/exchange.ts'
import { byBeginning, conditionsOf } from '../../record/store.ts'

/** Exchanges that are read in one turn of the event loop: some 5 ms. A row has at most 400 bytes of facts. */
const SLICE = 500
/** The most payments that are looked at. */
const MOST_ROWS = 200

/** `since`: leaves out earlier exchanges. `later`: adds so much to the present time. Milliseconds of account time. */
export type Window = { since?: number | undefined; later?: number | undefined }

/**
 * The record of an account for the rules, without the requests of Farthing's own commands and the console. `now`: the
 * account's time plus `later`. `since`: the start of the window. Milliseconds.
 */
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
  const ordered = all.filter(({ gap }) => !gap).sort(byBeginning)
  const own = ownIn(ordered)
  const kept = ordered.filter(exchange => !exchange.own && !own.has(exchange.payment_id))
  const exchanges = kept.filter(({ at }) => at >= since)
  const webhooks = await activeWebhooks(database, room)
  const ofOthers = webhooks.filter(({ callback_url }) => !isListenerAddress(callback_url))
  const payments = (filter: PaymentFilter, limit = MOST_ROWS) =>
    findPayments(database, { account, now: present, filter }, {}, { limit, order: 'newest' })
  const waiting = await payments({ status: 'capturable', until: now - DAY })
  const capturable = waiting
    .filter(({ origin }) => origin === undefined)
    .map(({ payment_id, events }) => ({
      payment_id,
      since: events.findLast(({ status }) => status === 'capturable')?.at ?? now,
    }))
  const [newest] = await payments({}, 1)
  return {
    now,
    behaviour: account.behaviour,
    /** A test account cannot make others. */
    isTest: account.parent !== null,
    since,
    /** When the record begins, on the account's clock; null if it is empty. */
    from: oldest ? Math.max(since, oldest.gap ? atOf(oldest.gap.to) : oldest.at) : null,
    kept: exchanges.filter(({ kind }) => kind !== 'action').length,
    not_kept: gaps.reduce((sum, { count }) => sum + count, 0),
    /** In the order in which they began, without the gaps. */
    exchanges,
    ofPayment: Map.groupBy(exchanges.filter(idOf), idOf),
    /** When the last gap ends, on the machine's clock; -Infinity without one. */
    lastGap: gaps.reduce((last, { to }) => Math.max(last, to), -Infinity),
    /** The active webhooks, without listeners. */
    webhooks: ofOthers,
    /** The newest active webhook. It is a listener only if there is no other. */
    toProbe: ofOthers.at(-1) ?? webhooks.at(-1),
    /** Payments created through the API that have been capturable since this time of the account. */
    capturable: capturable.filter(payment => payment.since >= since),
    /** When the account created its newest payment; 0 without any. With `later` it is `now`. */
    newest: later > 0 ? now : newest ? timeOf(newest.payment_id) : 0,
    /** Payments that the rules leave out. */
    own,
    /** The create of each payment whose client got the answer. */
    creates: new Map(exchanges.filter(isCreate).map(create => [idOf(create), create] as const)),
  }
}

export const idOf = ({ payment_id }: Evidence): string => payment_id ?? ''

const isCreate = ({ kind, operation, status, ended }: Evidence): boolean =>
  kind === 'api' && operation === 'createPayment' && isSuccess(status) && ended === 'sent'

async function readExchanges(database: Database, room: string): Promise<Evidence[]> {
  const all: Evidence[] = []
  const part = { limit: SLICE, order: 'oldest' } as const
  for (let after = ''; ; after = all.at(-1)?.exchange_id ?? '') {
    const slice = await findPart(database, evidenceRows, conditionsOf(room, { after }), part)
    all.push(...slice)
    if (slice.length < SLICE) return all
  }
}

/** Payments that Farthing's own commands or the console created or ended. The rules leave out all exchanges about them. */
const ownIn = (all: readonly Evidence[]): Set<string | null> =>
  new Set(
    all.flatMap(({ own, operation, kind, payment_id }) =>
      own && payment_id && (operation === 'createPayment' || kind === 'action') ? [payment_id] : [],
    ),
  )
