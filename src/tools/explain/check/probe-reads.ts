/**
 * What a receiver does about messages to which it answers 2xx whatever they are: it reads the payment of a message that it
 * takes for true. So true messages, forged ones and those of rules are compared.
 */
import { MINUTE } from '../../../core/time.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Read } from '../../record/store.ts'
import { type ProbeRule, probeRules } from './probe-rules.ts'
import {
  CONTROL,
  OUT_OF_TIME,
  type Probe,
  READ_WITHIN,
  readsShow,
  type Suspect,
  VARY,
} from './probing.ts'
import type { Judged } from './rule.ts'

/** A payment that was over for so long, on the account's clock, is read by nothing else. */
const OVER_FOR = 10 * MINUTE
/** How often a true message and a forged one are sent. */
const PAIRS = 3
/** How often each message of a rule is sent. */
const TWICE = 2

/** A message to be watched: a true one, one of a rule, or a forged one. `nth`: which message of its rule it is. */
type Planned = { rule?: ProbeRule; nth?: number; suspect?: Suspect }

/** It is followed if its payment was read soon after it. */
type Sent = Planned & { exchange: Exchange; isFollowed: boolean }

/** What was sent; or why nothing can be told. */
export type Watched = { sent: readonly Sent[] } | { lacking: string }

const SEE_LOG = 'Your receiver answers before it looks: see its log.'
const TOO_FEW = `${SEE_LOG} What it does can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`

const times = <Item>(count: number, items: readonly Item[]): Item[] =>
  Array.from({ length: count }, () => items).flat()

/** `payments`: paid ones that no other message of the probe is about. */
export async function watchReads(
  probe: Probe,
  payments: readonly Payment[],
  suspects: readonly Suspect[],
): Promise<Watched> {
  const now = probe.context.time.now(probe.account)
  const over = payments.filter(payment => now - stateOf(payment).at >= OVER_FOR)
  const [some] = over
  if (suspects.length === 0 || !some || over.length < PAIRS) return { lacking: TOO_FEW }
  const trusted = await watchAll(probe, over, times(PAIRS, [{}]))
  const isTrusting = trusted.length === PAIRS && trusted.every(isFollowed)
  if (!isTrusting) return { lacking: SEE_LOG }
  const ofRules = (isFirst: boolean) =>
    probeRules
      .filter(rule => rule.isRead && Boolean(rule.isFirst) === isFirst)
      .filter(rule => rule.isTrueIn !== behaviourOf(some))
      .flatMap(rule =>
        times(TWICE, rule.messages(some, probe)?.map((_, nth) => ({ rule, nth })) ?? []),
      )
  const forged = times(
    PAIRS,
    suspects.map(suspect => ({ suspect })),
  )
  return { sent: await watchAll(probe, over, [...ofRules(true), ...forged, ...ofRules(false)]) }
}

const isFollowed = (sent: Sent): boolean => sent.isFollowed

/** The reads of two messages about one payment could not be told apart, so each waits until another has a free one. */
async function watchAll(
  probe: Probe,
  payments: readonly Payment[],
  planned: readonly Planned[],
): Promise<Sent[]> {
  const left = [...planned]
  const sent: Sent[] = []
  const work = async (payment: Payment): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const watched = await sendAndWatch(probe, payment, next)
      if (watched) sent.push(watched)
    }
  }
  await Promise.all(payments.map(work))
  return sent
}

async function sendAndWatch(
  probe: Probe,
  payment: Payment,
  planned: Planned,
): Promise<Sent | undefined> {
  const { rule, nth = 0, suspect } = planned
  const message = rule ? rule.messages(payment, probe)?.[nth] : probe.make(payment)
  if (!message) return undefined
  const countOf = (reads: readonly Read[]) =>
    reads.filter(({ payment_id }) => payment_id === message.payment_id).length
  const before = countOf(await probe.reads())
  const what = rule ?? suspect
  const words = what ? `${what.id}: ${what.words}` : CONTROL
  const toSend = { message, words, forgery: suspect?.forgery }
  const [exchange] = (await probe.send([toSend], { ms: READ_WITHIN })) ?? []
  if (!exchange) return undefined
  const isFollowed = await readsShow(probe, reads => countOf(reads) > before)
  return { ...planned, exchange, isFollowed }
}

const exchangesOf = (sent: readonly Sent[]): Exchange[] => sent.map(({ exchange }) => exchange)

const SOMETIMES =
  'The receiver answers 2xx, and the payments of some of these messages were read. Look into your log whether it ignored them.'
const IGNORES =
  'The receiver answers 2xx and ignores the message: it reads the payments of true messages only.'

/** A forgery that was accepted. `once`: its first answers. */
export function judgeForgery(
  suspect: Suspect,
  once: readonly Exchange[],
  watched: Watched,
): Judged {
  if ('lacking' in watched) return { ...watched, unclear: once }
  const forged = watched.sent.filter(each => each.suspect === suspect)
  const evidence = exchangesOf(forged)
  if (forged.length < PAIRS) return OUT_OF_TIME
  if (forged.every(isFollowed)) return { broken: [{ evidence }] }
  if (forged.some(isFollowed)) return { lacking: SOMETIMES, unclear: once }
  return { right: evidence, passed: IGNORES }
}

/** A rule whose messages are all answered 2xx, as forged ones are. */
export function judgeReads(rule: ProbeRule, { right = [] }: Judged, watched: Watched): Judged {
  if ('lacking' in watched) return { ...watched, unclear: right }
  const { isRead, after = 0, lacking } = rule
  const sent = watched.sent.filter(each => each.rule === rule)
  const unclear = [...right, ...exchangesOf(sent)]
  if (!isRead) return { lacking: SEE_LOG, unclear: right }
  const byNth = [...Map.groupBy(sent, ({ nth }) => nth).values()]
  if (sent.length === 0 || byNth.some(({ length }) => length < TWICE)) return OUT_OF_TIME
  const [known, judged] = [byNth.slice(0, after), byNth.slice(after)]
  if (!known.flat().every(isFollowed)) return { ...(lacking && { lacking }), unclear }
  if (judged.flat().every(isFollowed))
    return { right: exchangesOf(sent), passed: 'The receiver read the payment.' }
  const ignored = judged.filter(same => !same.some(isFollowed)).flat()
  if (ignored.length === 0) return { lacking: VARY, unclear }
  const sentence = `The receiver answers 2xx whatever comes, and reads the payments of true messages, but not of this one: ${rule.words}.`
  return { broken: [{ evidence: exchangesOf(ignored), sentence }] }
}
