/** Sending many failed messages again by hand, one after the other, beside the requests. */
import type { Account } from '../../core/account.ts'
import { isGone, type Reading } from '../../pay/retention.ts'
import { CLAIM_MS } from '../../pay/webhooks/attempts.ts'
import { findMessage } from '../../pay/webhooks/message-store.ts'
import type { Webhook } from '../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../context.ts'
import { type DeliveryFilter, type DeliveryRow, listDeliveries } from '../lists/webhooks-store.ts'
import { claimSending, endSending, type Resend, saveResend } from './resend-store.ts'
import { resendable, sendAgain } from './send-again.ts'

/** Begins to send these messages again, in order. Resolves to false while an earlier run of the account goes on. */
export async function resendAll(
  context: ToolContext,
  account: Account,
  message_ids: readonly string[],
): Promise<boolean> {
  const { database, deliveries, time } = context
  const now = time.wall()
  const at = time.now(account)
  let resend: Resend = { at, left: [...message_ids], accepted: 0, failed: 0, skipped: 0 }
  const claim = { resend, claimed_until: now + CLAIM_MS }
  if (!(await database.write([claimSending(account.room, claim, now)]))) return false
  const save = (next: Resend, claimed_until: number) =>
    database.write([saveResend(account.room, resend, next, claimed_until)])
  // The run stops when the service stops or another run has replaced it.
  deliveries.beside(async isStopping => {
    for (const message_id of message_ids) {
      if (isStopping()) break
      const outcome = await sendOne(context, account, message_id)
      const next = { ...resend, left: resend.left.slice(1), [outcome]: resend[outcome] + 1 }
      if (!(await save(next, time.wall() + CLAIM_MS))) return
      resend = next
    }
    await save(resend, 0)
  })
  return true
}

/** The most messages of one run. */
export const MOST_RESENT = 100

/** The newest messages that need attention and can be sent again: at most `MOST_RESENT`, oldest first. */
export async function failedToSend(
  { context: { database }, ...reading }: Reading & { context: ToolContext },
  webhooks: readonly Webhook[],
  filter: Pick<DeliveryFilter, 'event_type'>,
): Promise<DeliveryRow[]> {
  const active = webhooks.filter(({ status }) => status === 'ACTIVE')
  const failed = { ...filter, status: 'FAILED', needsAttention: true } as const
  const part = { limit: MOST_RESENT, order: 'newest' } as const
  const rows = await listDeliveries(database, active, failed, part)
  return rows
    .filter(({ payment_id, body }) => body !== null && !isGone(payment_id, reading))
    .reverse()
}

export const ALREADY_SENDING =
  'messages of this account are being sent by hand already, one after the other: try again when that has ended'

/** Milliseconds for which other work may not begin yet, if this process ends just before its work is done. */
const AFTER_WORK = 5_000

/**
 * Runs work that sends many messages of the account by hand and takes at most `ms` milliseconds. Resolves to undefined,
 * without running it, while other such work of the account goes on in any instance.
 */
export async function sendingAlone<Result>(
  { database, time }: ToolContext,
  { room }: Account,
  ms: number,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const now = time.wall()
  const until = now + ms + AFTER_WORK
  if (!(await database.write([claimSending(room, { claimed_until: until }, now)]))) return undefined
  try {
    return await work()
  } finally {
    // If this write fails, the claim runs out at `until`.
    await database.write([endSending(room, until)]).catch(() => {})
  }
}

async function sendOne(context: ToolContext, account: Account, message_id: string) {
  const found = await findMessage(context.database, account.room, message_id)
  const message = found && resendable(found, { account, now: context.time.now(account) })
  if (!message || 'reason' in message) return 'skipped'
  const [exchange] = await sendAgain(context, account, message, {})
  return exchange?.refused ? 'failed' : 'accepted'
}
