import type { Account } from '../../core/account.ts'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import { tooManyWebhooks } from '../../core/errors.ts'
import { idFloor } from '../../core/ids.ts'
import type { Context } from '../context.ts'
import { activeWebhooks, duplicateOf, insertWithinLimit } from './store.ts'
import { sendsTheSame, signingKeyOf, type Webhook } from './webhook.ts'
import type { NewWebhook } from './wire.ts'

/** Milliseconds within which a form that is sent twice registers one webhook. */
const TWICE_MS = 60_000

type Registration = {
  account: Account
  fields: NewWebhook
  /** From a form: a duplicate that was registered a moment ago is returned, and none is made. */
  from?: 'console'
}

/** Returns the webhook, and the others that send the same to its address. Throws an ApiError for one too many. */
export async function registerWebhook(
  { database, time, newId, secrets }: Context,
  { account, fields, from }: Registration,
): Promise<{ webhook: Webhook; others: Webhook[] }> {
  const { room } = account
  const now = time.now(account)
  const webhook: Webhook = {
    webhook_id: newId(now, room),
    room,
    status: 'ACTIVE',
    ...fields,
    signing_key: signingKeyOf(secrets.secret(room)),
    ...(from && { from }),
  }
  const duplicate = from && { fields, after: idFloor(now - TWICE_MS) }
  const active = await activeWebhooks(database, room)
  const others = active.filter(other => sendsTheSame(other, fields))
  if (await database.write(insertWithinLimit(webhook, duplicate))) return { webhook, others }
  const same = duplicate && (await duplicateOf(database, room, duplicate))
  if (same) return { webhook: same, others }
  throw tooManyWebhooks(ACTIVE_WEBHOOKS)
}
