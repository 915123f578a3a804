import type { Agreement } from '../agreements/agreement.ts'
import { findAgreement, holdAgreement } from '../agreements/store.ts'
import type { Farthing } from '../context.ts'
import {
  idempotencyKeyUsed,
  inactiveAgreement,
  unknownAgreement,
  unknownSetUpAgreement,
} from '../errors.ts'
import type { Addresses } from '../http/addresses.ts'
import { newSecret, newUuid } from '../ids.ts'
import { untilWritten } from '../retry.ts'
import { advance, type Change, type Given, type Payment } from './payment.ts'
import { insertPayment, isIdempotencyKeyTaken, takeIdempotencyKey } from './store.ts'
import { messagesOf } from './transition.ts'

export type Creation = { account: string; given: Given; idempotencyKey?: string | undefined }

/**
 * Creates a payment; in agreement mode it has reached its final state, and webhooks have been told,
 * when this resolves. Throws an ApiError when an agreement cannot be used or the key is taken.
 */
export function createPayment(
  farthing: Farthing,
  addresses: Addresses,
  creation: Creation,
): Promise<Payment> {
  const { account, given, idempotencyKey } = creation
  return untilWritten(async () => {
    const agreement = await usedAgreement(farthing, account, given)
    const change = makePayment(farthing, account, given, agreement)
    const messages = await messagesOf(farthing, addresses, change)
    const written = await farthing.database.write([
      // What is likeliest to miss comes first: then there is nothing to undo.
      ...(idempotencyKey ? [takeIdempotencyKey(change.after, idempotencyKey)] : []),
      ...(agreement ? [holdAgreement(agreement)] : []),
      insertPayment(change.after),
      ...farthing.deliveries.insert(messages),
    ])
    if (written) {
      await farthing.deliveries.deliver(messages)
      return change.after
    }
    if (await isKeyTaken(farthing, creation, agreement)) throw idempotencyKeyUsed()
    return undefined
  })
}

/** The active agreement that an agreement-mode payment is made with; checks the one to set up. */
async function usedAgreement(
  { database }: Farthing,
  account: string,
  { authorisation_mode, agreement_id, set_up_agreement }: Given,
): Promise<Agreement | undefined> {
  if (set_up_agreement && !(await findAgreement(database, account, set_up_agreement)))
    throw unknownSetUpAgreement()
  if (authorisation_mode !== 'agreement' || !agreement_id) return undefined
  const agreement = await findAgreement(database, account, agreement_id)
  if (!agreement) throw unknownAgreement()
  if (agreement.status !== 'active' || !agreement.instrument)
    throw inactiveAgreement(agreement.status)
  return agreement
}

/** A payment that is not written yet; in agreement mode it has come to its end. */
export function makePayment(
  { clock, newId }: Pick<Farthing, 'clock' | 'newId'>,
  account: string,
  given: Given,
  agreement: Agreement | undefined,
): Omit<Change, 'before'> {
  const now = clock()
  const payment: Payment = {
    payment_id: newId(now),
    account,
    version: 1,
    given,
    provider_id: newUuid(),
    secret: newSecret(),
    events: [{ status: 'created', at: now }],
    success_chosen: false,
    refunded_amount: 0,
  }
  const used = agreement && advance(payment, 'use_agreement', now, agreement.instrument?.card)
  return used ?? { after: payment, at: now, sends: [] }
}

/** Why the write missed: the key, or an agreement that changed between reading and writing. */
async function isKeyTaken(
  { database, clock }: Farthing,
  { account, idempotencyKey }: Creation,
  agreement: Agreement | undefined,
): Promise<boolean> {
  if (!idempotencyKey) return false
  return !agreement || isIdempotencyKeyTaken(database, account, idempotencyKey, clock())
}
