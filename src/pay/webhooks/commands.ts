import type { Account } from '../../core/account.ts'
import { ACTIVE_WEBHOOKS } from '../../core/budgets.ts'
import { tooManyWebhooks } from '../../core/errors.ts'
import { idFloor } from '../../core/ids.ts'
import type { Ports } from '../../core/ports.ts'
import { untilWritten } from '../../core/retry.ts'
import { activeWebhooks, insertWithinLimit } from './store.ts'
import { sendsTheSame, signingKeyOf, type Webhook } from './webhook.ts'
import type { NewWebhook } from './wire.ts'

/** Milliseconds within which a form that is sent twice registers one webhook. */
const TWICE_MS = 60_000

type Registration = {
  account: Account
  fields: NewWebhook
  /** From a form. If an equal webhook was registered a moment ago, that is returned and none is made. */
  from?: 'console'
}

/** Returns the webhook, and others that send the same to its address. Throws an ApiError if there would be too many. */
export async function registerWebhook(
  { database, time, newId, secrets }: Ports,
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
  return untilWritten(async () => {
    const active = await activeWebhooks(database, room)
    const others = active.filter(other => sendsTheSame(other, fields))
    const recent = active.filter(({ webhook_id }) => webhook_id > idFloor(now - TWICE_MS))
    const same = from && recent.find(other => fieldsOf(other) === fieldsOf(fields))
    if (same) return { webhook: same, others }
    if (await database.write(insertWithinLimit(webhook, from && active.length)))
      return { webhook, others }
    if (!from || active.length >= ACTIVE_WEBHOOKS) throw tooManyWebhooks(ACTIVE_WEBHOOKS)
    return undefined
  })
}

/** The fields that two webhooks have in common if a form was sent twice. */
const fieldsOf = ({ callback_url, description, subscriptions }: NewWebhook): string =>
  JSON.stringify([callback_url, description, subscriptions])
