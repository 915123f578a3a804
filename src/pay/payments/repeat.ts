/** Requests to create a payment that are sent again with their Idempotency-Key. */
import { hash } from 'node:crypto'
import type { Account, Behaviour } from '../../core/account.ts'
import { idempotencyKeyUsed } from '../../core/errors.ts'
import type { Json } from '../../platform/http/fields.ts'
import type { Context } from '../context.ts'
import { usedKey } from '../differences/creating.ts'
import { wordedError } from '../differences/errors.ts'
import type { NewPayment, Payment } from './payment.ts'
import { findKeyHolder, findPayment } from './store.ts'

/** Fields that are compared as sent: a request with a default written out differs from one without the field. */
const AS_SENT = [
  'return_url',
  'email',
  'language',
  'delayed_capture',
  'moto',
  'authorisation_mode',
  'agreement_id',
  'agreement_payment_type',
] as const

/**
 * A hash of the request; undefined if a second request with its key does not get the payment of the first. The order of
 * fields, unknown fields, null and empty metadata make no difference.
 */
export function askedIn(given: NewPayment, body: Json, behaviour: Behaviour): string | undefined {
  if (usedKey[behaviour](given.authorisation_mode) !== 'repeats') return undefined
  const { amount, reference, description, set_up_agreement, prefilled, metadata = {} } = given
  const sent = AS_SENT.map(name => body[name] ?? null)
  const pairs = Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const asked = [amount, reference, description, set_up_agreement, prefilled, pairs, sent]
  return hash('sha256', JSON.stringify(asked), 'base64url')
}

type Asked = { account: Account; key: string; asked: string }

/** The payment that the same request has created with this key. Throws an ApiError if a different request has. */
export async function findRepeated(
  { database, time, recordEffects }: Context,
  { account, key, asked }: Asked,
): Promise<Payment | undefined> {
  const now = time.now(account)
  const payment_id = await findKeyHolder(database, account, key, now)
  const found = payment_id && (await findPayment(database, account, payment_id, now))
  if (!found) return undefined
  if (found.asked !== asked) throw wordedError[account.behaviour](idempotencyKeyUsed())
  recordEffects?.({ account, payment: found })
  return found
}
