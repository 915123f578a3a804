/**
 * Whether a receiver acts on messages whose signature is wrong. To answer 2xx is no proof, because it may ignore them.
 * What it does about a true message is known from the record: it reads the payment.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../../../core/time.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import { countReads } from '../../record/store.ts'
import { CONTROL, type Forgery, isAccepted, OUT_OF_TIME, type Probe, SIGNING } from './probing.ts'
import { type Finding, findingsOf, type Judged, type RuleText } from './rule.ts'

/** A payment that was over for so long, on the account's clock, is read by nothing else. */
const OVER_FOR = 10 * MINUTE
const PAIRS = 3
/** Milliseconds within which a receiver reads the payment of a message. */
const READ_WITHIN = 5_000
const POLL_INTERVAL = 200

/** One message of a pair, of which one is true and the other forged. It is followed if its payment is read soon after it. */
type Sent = { suspect: Suspect | undefined; exchange: Exchange; isFollowed: boolean }

/** Every forgery is sent once; of those of a rule that are accepted, one is compared with true messages. */
type ForgeryRule = RuleText & { forgeries: [Forgery, words: string][] }

const TOO_FEW = `The receiver answers 2xx. Whether it ignores the message can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`
const ANSWERS = 'The receiver answers 2xx. Look into your log whether it ignored the message.'
const SOMETIMES =
  'The receiver answers 2xx, and the payments of some of these messages were read. Look into your log whether it ignored them.'
const IGNORES =
  'The receiver answers 2xx and ignores the message: it reads the payments of true messages only.'
const NO_ANSWER = 'The receiver did not answer it.'

/** A forgery that was accepted. */
type Suspect = { rule: ForgeryRule; forgery: Forgery; words: string }

/** `once`: the answers to one of each forgery. */
type Tried = { rule: ForgeryRule; once: readonly Exchange[]; suspect: Suspect | undefined }

/** `sent` is empty where there are too few payments, and undefined without the time for all messages. */
function judgeForged({ rule, once, suspect }: Tried, sent: readonly Sent[] | undefined): Judged {
  if (once.length < rule.forgeries.length) return OUT_OF_TIME
  const unclear = (lacking: string): Judged => ({ lacking, unclear: once })
  if (!suspect) {
    if (once.some(({ status }) => status === null)) return unclear(NO_ANSWER)
    return { right: once, passed: 'The receiver refused it.' }
  }
  if (!sent) return OUT_OF_TIME
  if (sent.length === 0) return unclear(TOO_FEW)
  const forged = sent.filter(each => each.suspect === suspect)
  const evidence = forged.map(({ exchange }) => exchange)
  const isFollowed = (each: Sent) => each.isFollowed
  if (!sent.filter(each => !each.suspect).every(isFollowed)) return unclear(ANSWERS)
  if (forged.every(isFollowed)) return { broken: [{ evidence }] }
  if (forged.some(isFollowed)) return unclear(SOMETIMES)
  return { right: evidence, passed: IGNORES }
}

const actsOn = (what: string): string =>
  `The receiver acts on a message ${what}: it read the payment of each one, as it does for a true message.`

const FORGERY = { level: 'fail', source: SIGNING } as const

export const forgeryRules: readonly ForgeryRule[] = [
  {
    ...FORGERY,
    id: 'R1',
    title: 'A signature that is wrong',
    sentence: actsOn('with one digit of the signature changed'),
    advice:
      'Compare the header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived before anything else, and answer 401 if they differ.',
    forgeries: [[{ damage: 'digit' }, 'one digit of the signature changed']],
  },
  {
    ...FORGERY,
    id: 'R2',
    title: 'No signature',
    sentence: actsOn('without the header Pay-Signature'),
    advice: 'Answer 401 to a message without the header Pay-Signature.',
    forgeries: [[{ damage: 'missing' }, 'without the signature']],
  },
  {
    ...FORGERY,
    id: 'R11',
    title: 'A key that anybody knows',
    sentence:
      'Your receiver takes messages that anybody can sign: it does not look whether its key is there.',
    advice:
      'Let your service refuse to start without its signing key. An empty text, undefined, null and None are none.',
    forgeries: [
      [{ key: '' }, 'signed with the empty key'],
      [{ key: 'undefined' }, 'signed with the key undefined'],
      [{ key: 'null' }, 'signed with the key null'],
      [{ key: 'None' }, 'signed with the key None'],
    ],
  },
]

export async function probeForgeries(
  probe: Probe,
  first: Payment,
  others: readonly Payment[],
): Promise<Finding[]> {
  const tried: Tried[] = []
  for (const rule of forgeryRules) {
    const once: Exchange[] = []
    let suspect: Suspect | undefined
    for (const [forgery, words] of rule.forgeries) {
      const sent = await send(probe, first, { rule, forgery, words })
      if (sent) once.push(sent)
      if (sent && isAccepted(sent)) suspect ??= { rule, forgery, words }
    }
    tried.push({ rule, once, suspect })
  }
  const now = probe.context.time.now(probe.account)
  const over = others.filter(({ events }) => now - (events.at(-1)?.at ?? now) >= OVER_FOR)
  const suspects = tried.flatMap(({ suspect }) => suspect ?? [])
  const canCompare = suspects.length > 0 && over.length >= PAIRS
  const sent = canCompare ? await sendPairs(probe, over, suspects) : []
  return tried.flatMap(each => findingsOf(each.rule, judgeForged(each, sent)))
}

/** A forged message, or a true one. */
async function send(probe: Probe, payment: Payment, suspect?: Suspect) {
  const message = probe.make(payment)
  const words = suspect ? `${suspect.rule.id}: ${suspect.words}` : CONTROL
  return message && probe.maySend(1) ? probe.post(message, words, suspect?.forgery) : undefined
}

/** Three true messages and three of each forgery. undefined without the time for all. */
async function sendPairs(probe: Probe, over: readonly Payment[], suspects: readonly Suspect[]) {
  const plan = Array.from({ length: PAIRS }, () => [undefined, ...suspects]).flat()
  const sent: Sent[] = []
  // The reads of two messages about one payment could not be told apart, so they have a turn each.
  for (let done = 0; done < plan.length; done += over.length) {
    if (!probe.maySend(1, READ_WITHIN)) return undefined
    sent.push(...(await sendAndWatch(probe, over, plan.slice(done, done + over.length))))
  }
  return sent.length === plan.length ? sent : undefined
}

async function sendAndWatch(
  probe: Probe,
  payments: readonly Payment[],
  turn: readonly (Suspect | undefined)[],
): Promise<Sent[]> {
  const { recorder, database } = probe.context
  const ids = payments.slice(0, turn.length).map(({ payment_id }) => payment_id)
  const readsNow = async () => {
    await recorder?.flush()
    return countReads(database, probe.account.room, ids)
  }
  const before = await readsNow()
  const sent: Omit<Sent, 'isFollowed'>[] = []
  for (const [i, suspect] of turn.entries()) {
    const payment = payments[i]
    const exchange = payment && (await send(probe, payment, suspect))
    if (exchange) sent.push({ suspect, exchange })
  }
  const until = performance.now() + READ_WITHIN
  for (;;) {
    const after = await readsNow()
    const watched = sent.map((each): Sent => {
      const id = each.exchange.payment_id ?? ''
      return { ...each, isFollowed: (after.get(id) ?? 0) > (before.get(id) ?? 0) }
    })
    const isLate = performance.now() >= until || !probe.maySend(0, 0)
    if (isLate || watched.every(({ isFollowed }) => isFollowed)) return watched
    await sleep(POLL_INTERVAL)
  }
}
