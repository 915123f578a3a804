import type { Account } from '../../core/account.ts'
import { isSuccess } from '../../core/http-status.ts'
import { isGone, type Reading } from '../../pay/retention.ts'
import { attempt } from '../../pay/webhooks/attempts.ts'
import { attemptsOf, type KeptMessage } from '../../pay/webhooks/message-store.ts'
import { headersOf, signature } from '../../pay/webhooks/webhook.ts'
import { accountOfRoom } from '../../platform/accounts/store.ts'
import type { ToolContext } from '../context.ts'
import { newestUndamaged } from '../record/by-hand.ts'
import type { ByHand, Exchange } from '../record/exchange.ts'
import { accountEnded } from '../steer/errors.ts'

type Right = { body: string; signature: string }
type Signed = { body: string; signature: string | undefined }

/** Ways to send a message with a signature that does not match: what differs from the right message. */
const damaged = {
  digit: ({ signature }) => ({
    signature: signature.replace(/.$/, last => (last === '0' ? '1' : '0')),
  }),
  missing: () => ({ signature: undefined }),
  upper: ({ signature }) => ({ signature: signature.toUpperCase() }),
  base64: ({ signature }) => ({ signature: Buffer.from(signature, 'hex').toString('base64') }),
  newline: ({ body }, key) => ({ signature: signature(`${body}\n`, key) }),
  space: ({ body }) => ({ body: `${body} ` }),
} satisfies Record<string, (right: Right, key: string) => Partial<Signed>>

export type Damage = keyof typeof damaged
export const damages = Object.keys(damaged) as Damage[] // typed string[]

export function signed(body: string, key: string, damage: Damage | undefined): Signed {
  const right = { body, signature: signature(body, key) }
  return damage ? { ...right, ...damaged[damage](right, key) } : right
}

export const MOST_TIMES = 10

export type SendAgain = {
  /** How often to send the message. Default: once. */
  times?: number
  /** The body to send instead of the kept bytes. */
  body?: string | undefined
  /** Whether a new identifier replaces that of the message everywhere in the body. */
  new_identifier?: boolean | undefined
  damage?: Damage | undefined
  signing_key?: string | undefined
}

/** A message whose bytes are kept. */
export type Resendable = KeptMessage & { body: string }

export const WEBHOOK_INACTIVE = 'the webhook of this message is INACTIVE: register another one'

/** The message, or the reason why it cannot be sent again. */
export function resendable(
  message: KeptMessage,
  reading: Reading,
): Resendable | { reason: string } {
  const { body, payment_id, webhook_status } = message
  if (body === null || isGone(payment_id, reading))
    return { reason: 'the payment of this message is gone: its bytes are not kept' }
  if (webhook_status !== 'ACTIVE') return { reason: WEBHOOK_INACTIVE }
  return { ...message, body }
}

/**
 * Sends a message again by hand. This does not count as one of its attempts: neither the message nor the payment
 * changes. Returns an exchange for each time, in order.
 */
export async function sendAgain(
  context: ToolContext,
  account: Account,
  message: Resendable,
  options: SendAgain,
): Promise<Exchange[]> {
  const { message_id, signing_key } = message
  const original = options.body ?? message.body
  const body = options.new_identifier
    ? original.replaceAll(message_id, context.newId(context.time.now(account), account.room))
    : original
  const bytes = signed(body, options.signing_key ?? signing_key, options.damage)
  const byHand = await withUndamaged(context, account, message, byHandOf(options, message))
  const once = () =>
    sendByHand(context, account, message, { ...bytes, url: message.callback_url, byHand })
  return Array.fromAsync({ length: options.times ?? 1 }, once)
}

/**
 * Sends a message once, with this body and signature, and records it. Neither the message nor the payment changes.
 * Throws 409 if the account has been reset since: after a reset no message of before begins.
 */
export async function sendByHand(
  context: ToolContext,
  account: Account,
  message: Omit<Parameters<typeof attempt>[1], 'account'>,
  { body, signature, url, byHand }: Signed & { url: string; byHand: ByHand },
): Promise<Exchange> {
  if (!context.recorder) throw new Error('a message that is sent by hand is recorded')
  if (!(await accountOfRoom(context.database, account.room))) throw accountEnded()
  const post = { url, headers: headersOf(signature), body, keepsAnswer: true }
  const { result, attempted } = await attempt(context, { ...message, account }, post)
  return context.recorder.attemptByHand(account, {
    ...attempted,
    ...(byHand.kind === 'probe' && { message_id: null }),
    ms: result.response_time ?? 0,
    byHand,
  })
}

/** Adds the receiver's response to the undamaged message, if this one has a wrong signature. */
async function withUndamaged(
  { database }: ToolContext,
  { room }: Account,
  message: KeptMessage,
  byHand: ByHand,
): Promise<ByHand> {
  if (byHand.damage === undefined && !byHand.other_key) return byHand
  const { payment_id, message_id } = message
  const sent = await newestUndamaged(database, { room, payment_id, message_id })
  const attempt = attemptsOf(message).at(-1)
  if (!sent && !attempt) return byHand
  const isOfAttempt = attempt !== undefined && attempt.at > (sent?.at ?? 0)
  const status = (isOfAttempt ? attempt.status_code : sent?.status) ?? null
  return { ...byHand, undamaged: isSuccess(status) ? 'accepted' : 'refused' }
}

function byHandOf(
  { body, new_identifier, damage, signing_key }: SendAgain,
  webhook: Pick<KeptMessage, 'signing_key'>,
): ByHand {
  const isOtherKey = signing_key && signing_key !== webhook.signing_key
  const isEdited = body !== undefined || new_identifier
  return {
    kind: damage ? 'damaged' : isEdited ? 'edited' : 'again',
    ...(damage && { damage }),
    ...(isOtherKey && { other_key: true }),
  }
}
