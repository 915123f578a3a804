/**
 * Whether a receiver acts on messages whose signature is wrong. To answer 2xx is no proof, because it may ignore them.
 * What it does about a true message is known from the record: it reads the payment.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../../../core/time.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import { forgedRules } from './probe-rules.ts'
import {
  CONTROL,
  type Forgery,
  isAccepted,
  OUT_OF_TIME,
  type Unjudged,
  type Where,
} from './probing.ts'
import { countReads } from './reads-store.ts'
import type { Rule } from './rule.ts'

/** Every forgery is sent once; of those of a rule that are accepted, one is compared with true messages. */
const tried: Record<keyof typeof forgedRules, [Forgery, words: string][]> = {
  R1: [['digit', 'one digit of the signature changed']],
  R2: [['missing', 'without the signature']],
  R11: ['', 'undefined', 'null', 'None'].map(key => [
    { key },
    `signed with ${key === '' ? 'the empty key' : `the key ${key}`}`,
  ]),
}

/** A payment that was over for so long, on the account's clock, is read by nothing else. */
const OVER_FOR = 10 * MINUTE
const PAIRS = 3
/** Milliseconds within which a receiver reads the payment of a message. */
const READ_WITHIN = 5_000
const POLL_INTERVAL = 200

/** One message of a pair. It is followed if its payment is read soon after it. */
type Sent = { exchange: Exchange; isFollowed: boolean }

/** `once`: the answers to one of each. The pairs were sent where one of them was accepted. */
export type Forged = Unjudged | { once: Exchange[]; pairs?: { controls: Sent[]; forged: Sent[] } }

const TOO_FEW = `The receiver answers 2xx. Whether it ignores the message can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`
const ANSWERS = 'The receiver answers 2xx. Look into your log whether it ignored the message.'
const SOMETIMES =
  'The receiver answers 2xx, and the payments of some of these messages were read. Look into your log whether it ignored them.'
const IGNORES =
  'The receiver answers 2xx and ignores the message: it reads the payments of true messages only.'
const NO_ANSWER = 'The receiver did not answer it.'

export const forgeryRules: readonly Rule<Forged>[] = Object.values(forgedRules).map(rule => ({
  ...rule,
  lacking: NO_ANSWER,
  judge(looked) {
    if ('lacking' in looked) return { broken: [], right: [], ...looked }
    const { once, pairs } = looked
    const unclear = (lacking: string) => ({ broken: [], right: [], lacking, unclear: once })
    if (!once.some(isAccepted)) {
      if (once.some(({ status }) => status === null)) return unclear(NO_ANSWER)
      return { broken: [], right: once, passed: 'The receiver refused it.' }
    }
    if (!pairs) return unclear(TOO_FEW)
    const evidence = pairs.forged.map(({ exchange }) => exchange)
    const isFollowed = (each: Sent) => each.isFollowed
    if (!pairs.controls.every(isFollowed)) return unclear(ANSWERS)
    if (pairs.forged.every(isFollowed)) return { broken: [{ evidence }], right: [] }
    if (pairs.forged.some(isFollowed)) return unclear(SOMETIMES)
    return { broken: [], right: evidence, passed: IGNORES }
  },
}))

type Suspect = { id: keyof typeof forgedRules; forgery: Forgery; words: string }

/** What was seen for each of the rules, in their order. */
export async function probeForgeries(
  where: Where,
  first: Payment,
  others: readonly Payment[],
): Promise<Forged[]> {
  const suspects: Suspect[] = []
  const all = new Map<string, Forged>()
  for (const rule of forgeryRules) {
    const id = rule.id as keyof typeof forgedRules // of Object.values
    const once: Exchange[] = []
    let suspect: Suspect | undefined
    for (const [forgery, words] of tried[id]) {
      const sent = await send(where, first, `${id}: ${words}`, forgery)
      if (sent) once.push(sent)
      if (sent && isAccepted(sent)) suspect ??= { id, forgery, words }
    }
    all.set(id, once.length === tried[id].length ? { once } : OUT_OF_TIME)
    if (suspect) suspects.push(suspect)
  }
  const now = where.context.time.now(where.account)
  const over = others.filter(({ events }) => now - (events.at(-1)?.at ?? now) >= OVER_FOR)
  if (suspects.length > 0 && over.length >= PAIRS) {
    const compared = await comparePairs(where, over, suspects)
    for (const { id } of suspects) {
      const seen = all.get(id)
      const pairs = compared?.get(id)
      all.set(id, seen && 'once' in seen && pairs ? { ...seen, pairs } : OUT_OF_TIME)
    }
  }
  return [...all.values()]
}

async function send(
  { probing }: Where,
  payment: Payment,
  words: string,
  forgery?: Forgery,
): Promise<Exchange | undefined> {
  const message = probing.make(payment)
  if (!message || !probing.maySend(1)) return undefined
  return probing.post(message, words, forgery)
}

/** Three true messages and three of each forgery. undefined without the time for all. */
async function comparePairs(
  where: Where,
  over: readonly Payment[],
  suspects: readonly Suspect[],
): Promise<Map<string, { controls: Sent[]; forged: Sent[] }> | undefined> {
  const plan = Array.from({ length: PAIRS }, () => [undefined, ...suspects]).flat()
  const sent: [Suspect | undefined, Sent][] = []
  // The reads of two messages about one payment could not be told apart, so they have a turn each.
  for (let done = 0; done < plan.length; done += over.length) {
    if (!where.probing.maySend(1, READ_WITHIN)) return undefined
    sent.push(...(await sendAndWatch(where, over, plan.slice(done, done + over.length))))
  }
  if (sent.length < plan.length) return undefined
  const of = (suspect: Suspect | undefined) =>
    sent.filter(([each]) => each === suspect).map(([, each]) => each)
  return new Map(suspects.map(each => [each.id, { controls: of(undefined), forged: of(each) }]))
}

async function sendAndWatch(
  where: Where,
  payments: readonly Payment[],
  turn: readonly (Suspect | undefined)[],
): Promise<[Suspect | undefined, Sent][]> {
  const { context, account, probing } = where
  const ids = payments.slice(0, turn.length).map(({ payment_id }) => payment_id)
  const before = await countReads(context, account, ids)
  const sent: { suspect: Suspect | undefined; exchange: Exchange; payment_id: string }[] = []
  for (const [i, suspect] of turn.entries()) {
    const payment = payments[i]
    const words = suspect ? `${suspect.id}: ${suspect.words}` : CONTROL
    const exchange = payment && (await send(where, payment, words, suspect?.forgery))
    if (payment && exchange) sent.push({ suspect, exchange, payment_id: payment.payment_id })
  }
  const until = performance.now() + READ_WITHIN
  for (;;) {
    const after = await countReads(context, account, ids)
    const isFollowed = (id: string) => (after.get(id) ?? 0) > (before.get(id) ?? 0)
    const isLate = performance.now() >= until || !probing.maySend(0, 0)
    if (isLate || sent.every(({ payment_id }) => isFollowed(payment_id)))
      return sent.map(({ payment_id, suspect, exchange }) => [
        suspect,
        { exchange, isFollowed: isFollowed(payment_id) },
      ])
    await sleep(POLL_INTERVAL)
  }
}
