/**
 * Ask the receiver: finds out how a receiver checks signatures, by sending it copies of a message, each signed in
 * another wrong way, until it accepts one.
 */
import type { Account } from '../../../core/account.ts'
import { newSecret } from '../../../core/ids.ts'
import { inSlices } from '../../../core/turns.ts'
import { findWebhook } from '../../../pay/webhooks/store.ts'
import { signature, signingKeyOf, webhookName } from '../../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../../context.ts'
import { sendingAlone } from '../../deliver/resend.ts'
import { type Resendable, sendByHand } from '../../deliver/send-again.ts'
import { countWebhooks, newestWebhooks } from '../../lists/webhooks-store.ts'
import { newAction } from '../../record/action.ts'
import { newestUnasked } from '../../record/by-hand.ts'
import type { Actor, AskResult } from '../../record/exchange.ts'
import { bodyVariants } from '../signature/bodies.ts'
import { keyVariants, otherKeys } from '../signature/keys.ts'
import { knownSignatures } from '../signature/known-signatures.ts'
import { type Truth, wrongSignatures } from '../signature/wrong-signatures.ts'
import { type Copy, findMistake, MOST_COPIES, MOST_MS, type Subject } from './find-mistake.ts'

/** One copy takes 2 seconds at most, so none is sent in the last two. */
const LAST_START = MOST_MS - 2_000

/**
 * Sends the copies to the webhook's own address one after the other, and records each. Resolves to undefined, and sends
 * nothing, while other messages of the account are sent by hand. `isAbandoned`: nobody waits any more.
 */
export const askReceiver = (
  context: ToolContext,
  account: Account,
  message: Resendable,
  { by, isAbandoned }: { by: Actor; isAbandoned: () => boolean },
): Promise<AskResult | undefined> =>
  sendingAlone(context, account, MOST_MS, async () => {
    const { recorder, time } = context
    const started = performance.now()
    const began = time.wall()
    await recorder?.write(account)
    const subject = await subjectOf(context, account, message)
    const { body, callback_url: url, message_id, payment_id, webhook_id } = message
    let posts = 0
    const post = ({ text, cause, short }: Copy) => {
      posts += 1
      const byHand = { kind: 'asked', words: short, ...(cause && { damage: cause }) } as const
      return sendByHand(context, account, message, { body, url, signature: text, byHand })
    }
    const mayPost = () =>
      posts < MOST_COPIES && performance.now() - started < LAST_START && !isAbandoned()
    const { evidence, ...conclusion } = await findMistake(subject, { post, mayPost })
    const ids = evidence.map(({ exchange_id }) => exchange_id)
    const result: AskResult = { ...conclusion, posts, evidence: ids }
    const ms = Math.round(performance.now() - started)
    const did = { operation: 'askReceiver', began, by, payment_id, message_id, webhook_id } as const
    await recorder?.action(account, newAction(time, account, { ...did, ms, asked: result }))
    return result
  })

async function subjectOf(
  { database, config }: ToolContext,
  { name, room }: Account,
  { body, webhook_id, payment_id, message_id, signing_key }: Resendable,
): Promise<Subject> {
  const webhooks = await newestWebhooks(database, room, MOST_COPIES)
  const named = webhooks.map(webhook => ({ name: webhookName(webhook), key: webhook.signing_key }))
  const own = await findWebhook(database, room, webhook_id)
  const owner = own ? webhookName(own) : webhook_id
  const truth: Truth = { body: Buffer.from(body), key: Buffer.from(signing_key), owner }
  const keys = keyVariants(truth.key, {
    keys: otherKeys(named, signing_key, owner),
    apiKeys: config.fixedKeys.filter(({ account }) => account === name).map(({ key }) => key),
  })
  const signatures = await inSlices(pause =>
    knownSignatures(() => bodyVariants(truth.body), keys, pause),
  )
  return {
    truth,
    answer: await newestUnasked(database, { room, payment_id, message_id }),
    otherKeys: (await countWebhooks(database, room)) - 1,
    right: signature(body, signing_key),
    random: signature(body, signingKeyOf(newSecret())),
    wrong: wrongSignatures(truth, signatures),
    find: text => inSlices(pause => signatures.find(text, pause)),
  }
}
