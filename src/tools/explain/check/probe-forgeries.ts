/**
 * Whether a receiver acts on messages whose signature is wrong. To answer 2xx is no proof, because it may ignore them.
 * What it does about a true message is known from the record: it reads the payment.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../../../core/time.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import {
  CONTROL,
  type Forgery,
  isAccepted,
  OUT_OF_TIME,
  type Outcome,
  type Where,
} from './probing.ts'
import { countReads } from './reads-store.ts'

const words: Record<Forgery, string> = {
  digit: 'R1: one digit of the signature changed',
  missing: 'R2: without the signature',
}

/** A payment that was over for so long, on the account's clock, is read by nothing else. */
const OVER_FOR = 10 * MINUTE
const PAIRS = 3
/** Milliseconds within which a receiver reads the payment of a message. */
const READ_WITHIN = 5_000
const POLL_INTERVAL = 200

export async function probeForgeries(
  where: Where,
  first: Payment,
  others: readonly Payment[],
): Promise<Record<Forgery, Outcome>> {
  const outcomes: Record<Forgery, Outcome> = { digit: OUT_OF_TIME, missing: OUT_OF_TIME }
  const suspects: Forgery[] = []
  for (const forgery of ['digit', 'missing'] as const) {
    const sent = await send(where, first, forgery)
    if (!sent) continue
    if (isAccepted(sent)) suspects.push(forgery)
    else outcomes[forgery] = refusal(sent)
  }
  if (suspects.length > 0) Object.assign(outcomes, await comparePairs(where, others, suspects))
  return outcomes
}

const refusal = (sent: Exchange): Outcome =>
  sent.status === null
    ? { level: 'not seen', sentence: 'The receiver did not answer it.', evidence: [sent] }
    : { level: 'pass', sentence: 'The receiver refused it.', evidence: [sent] }

async function send(
  { probing }: Where,
  payment: Payment,
  forgery: Forgery | undefined,
): Promise<Exchange | undefined> {
  const message = probing.make(payment)
  if (!message || !probing.maySend(1)) return undefined
  return probing.post(message, forgery ? words[forgery] : CONTROL, forgery)
}

/** One message of a pair. It is followed if its payment is read soon after it. */
type Sent = { forgery: Forgery | undefined; exchange: Exchange; isFollowed: boolean }

/** Three true messages and three of each forgery. */
async function comparePairs(
  where: Where,
  others: readonly Payment[],
  suspects: readonly Forgery[],
): Promise<Partial<Record<Forgery, Outcome>>> {
  const now = where.context.time.now(where.account)
  const over = others.filter(({ events }) => now - (events.at(-1)?.at ?? now) >= OVER_FOR)
  const outcome = (judge: (forgery: Forgery) => Outcome) =>
    Object.fromEntries(suspects.map(forgery => [forgery, judge(forgery)]))
  if (over.length < PAIRS) return outcome(() => TOO_FEW)
  const plan = Array.from({ length: PAIRS }, () => [undefined, ...suspects]).flat()
  const sent: Sent[] = []
  // The reads of two messages about one payment could not be told apart, so they have a turn each.
  for (let done = 0; done < plan.length; done += over.length) {
    if (!where.probing.maySend(1, READ_WITHIN)) return outcome(() => OUT_OF_TIME)
    sent.push(...(await sendAndWatch(where, over, plan.slice(done, done + over.length))))
  }
  return outcome(forgery => judge(sent, forgery))
}

async function sendAndWatch(
  where: Where,
  payments: readonly Payment[],
  turn: readonly (Forgery | undefined)[],
): Promise<Sent[]> {
  const { context, account, probing } = where
  const ids = payments.slice(0, turn.length).map(({ payment_id }) => payment_id)
  const before = await countReads(context, account, ids)
  const sent: { forgery: Forgery | undefined; exchange: Exchange; payment_id: string }[] = []
  for (const [i, forgery] of turn.entries()) {
    const payment = payments[i]
    const exchange = payment && (await send(where, payment, forgery))
    if (payment && exchange) sent.push({ forgery, exchange, payment_id: payment.payment_id })
  }
  const until = performance.now() + READ_WITHIN
  for (;;) {
    const after = await countReads(context, account, ids)
    const isFollowed = (id: string) => (after.get(id) ?? 0) > (before.get(id) ?? 0)
    const isLate = performance.now() >= until || !probing.maySend(0, 0)
    if (isLate || sent.every(({ payment_id }) => isFollowed(payment_id)))
      return sent.map(({ payment_id, ...each }) => ({
        ...each,
        isFollowed: isFollowed(payment_id),
      }))
    await sleep(POLL_INTERVAL)
  }
}

function judge(sent: readonly Sent[], forgery: Forgery): Outcome {
  const [controls, forged] = [undefined, forgery].map(kind =>
    sent.filter(each => each.forgery === kind),
  )
  if (!controls || !forged || controls.length < PAIRS || forged.length < PAIRS) return OUT_OF_TIME
  const evidence = forged.map(({ exchange }) => exchange)
  const isFollowed = (each: Sent) => each.isFollowed
  if (!controls.every(isFollowed)) return { level: 'not seen', sentence: ANSWERS, evidence }
  if (forged.every(isFollowed)) return { level: 'fail', evidence }
  if (forged.some(isFollowed)) return { level: 'not seen', sentence: SOMETIMES, evidence }
  return { level: 'pass', sentence: IGNORES, evidence }
}

const TOO_FEW: Outcome = {
  level: 'not seen',
  sentence: `The receiver answers 2xx. Whether it ignores the message can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`,
}
const ANSWERS = 'The receiver answers 2xx. Look into your log whether it ignored the message.'
const SOMETIMES =
  'The receiver answers 2xx, and the payments of some of these messages were read. Look into your log whether it ignored them.'
const IGNORES =
  'The receiver answers 2xx and ignores the message: it reads the payments of true messages only.'
