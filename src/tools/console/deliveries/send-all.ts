/** Sending all failed messages again: which they are, and how far it is. */
import { DAY } from '../../../core/time.ts'
import { oldestKept } from '../../../pay/retention.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import { button, insetText } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { findResend, type ResendRow, resendIn } from '../../deliver/resend-store.ts'
import {
  type DeliveryFilter,
  type DeliveryRow,
  listDeliveries,
} from '../../lists/deliveries-store.ts'
import { acceptedByHand } from '../../record/by-hand.ts'
import type { AccountVisit } from '../frame/page.ts'
import { hidden } from '../frame/parts.ts'
import { shortTime } from '../frame/times.ts'

/** The most messages of one run. */
const MOST_RESENT = 100
/** Failed messages that are looked at to find those, a hundred at a time. */
const MOST_LOOKED_AT = 1_000

/**
 * The newest failed messages that can be sent again, and that were not accepted by hand since: at most `MOST_RESENT`,
 * oldest first.
 */
export async function failedToSend(
  { database }: ToolContext,
  { now }: AccountVisit,
  webhooks: readonly Webhook[],
  filter: Pick<DeliveryFilter, 'event_type'>,
): Promise<DeliveryRow[]> {
  const active = webhooks.filter(({ status }) => status === 'ACTIVE')
  const failed = { ...filter, status: 'FAILED' } as const
  const part = { limit: MOST_RESENT, order: 'newest' } as const
  const open: DeliveryRow[] = []
  let before: string | undefined
  for (let seen = 0; seen < MOST_LOOKED_AT && open.length < MOST_RESENT; seen += MOST_RESENT) {
    const range = before === undefined ? failed : { ...failed, before }
    const found = await listDeliveries(database, active, range, part)
    const kept = found.filter(
      ({ payment_id, body }) => body !== null && payment_id >= oldestKept(now),
    )
    const accepted = await acceptedByHand(database, [
      ...new Set(kept.map(({ payment_id }) => payment_id)),
    ])
    open.push(...kept.filter(({ message_id }) => !accepted.has(message_id)))
    before = found.at(-1)?.message_id
    if (found.length < MOST_RESENT || kept.length === 0) break
  }
  return open.slice(0, MOST_RESENT).reverse()
}

/** The newest run, if it began within a day. */
export async function readResend(
  { database }: ToolContext,
  { account, now }: AccountVisit,
): Promise<ResendRow | undefined> {
  const row = await findResend(database, account.room)
  return row && now - resendIn(row).at < DAY ? row : undefined
}

/** `count` messages can be sent again, and the list shows those of this webhook and event. */
export const resendFields = (
  count: number,
  { webhook, event }: { webhook: string; event: string },
): Html => html`${webhook && hidden('webhook', webhook)}${event && hidden('event', event)}
${button({ id: 'send-all', text: `Send all failed again (${count === MOST_RESENT ? `the newest ${MOST_RESENT}` : count})` })}`

/** How far a run is. `now` is the account's time, `wall` the machine's. */
function progressOf(row: ResendRow, now: number, wall: number): string {
  const { at, left, accepted, failed, skipped } = resendIn(row)
  const done = accepted + failed + skipped
  const of = `${done} of ${done + left.length}`
  const results = [
    accepted > 1 ? `${accepted} were accepted` : `${accepted === 1 ? '1' : 'none'} was accepted`,
    ...(failed > 0 ? [`${failed} failed again`] : []),
    ...(skipped > 0 ? [`${skipped} could not be sent any more`] : []),
  ].join(', ')
  const begun = shortTime(at, now)
  if (left.length === 0) return `Sent again at ${begun}: ${of}, ${results}.`
  return row.claimed_until > wall
    ? `Being sent again since ${begun}: ${of} so far, ${results}.`
    : `Sending again, begun at ${begun}, has stopped after ${of}, because the service stopped: ${results}.`
}

export const progressPart = (
  row: ResendRow | undefined,
  now: number,
  wall: number,
): Html | undefined => row && html`<div id="resent">${insetText(progressOf(row, now, wall))}</div>`
