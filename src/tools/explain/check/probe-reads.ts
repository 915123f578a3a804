/**
 * What a receiver does about messages to which it answers 2xx whatever they are: it reads the payment of a message that it
 * takes for true. So true messages, forged ones and those of rules are compared.
 */
import { MINUTE } from '../../../core/time.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Read } from '../../record/store.ts'
import { type ProbeRule, probeRules, type Special, toSend, trueMessage } from './probe-rules.ts'
import { OUT_OF_TIME, type Probe, READ_WITHIN } from './probing.ts'
import type { Judged } from './rule.ts'

/** A payment that was over for so long, on the account's clock, is read by nothing else. */
const OVER_FOR = 10 * MINUTE
/** How often a true message and a forged one are sent. */
const PAIRS = 3
/** How often each message of a rule is sent. */
const TWICE = 2

/** It is followed if its payment was read soon after it. `nth`: which of the messages of its kind it is. */
type Sent = { of: Special; nth: number; exchange: Exchange; isFollowed: boolean }

/** What was sent; or why nothing can be told. */
export type Watched = { sent: readonly Sent[] } | { lacking: string }

export const VARY = 'The answers of the receiver vary: it does not answer equal messages alike.'
const SEE_LOG = 'Your receiver answers before it looks, or does not look: see its log.'
const TOO_FEW = `${SEE_LOG} What it does can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`

/** `payments`: paid ones that no other message of the probe is about. `suspects`: forgeries that were accepted. */
export async function watchReads({
  probe,
  now,
  payments,
  suspects,
}: {
  probe: Probe
  now: number
  payments: readonly Payment[]
  suspects: readonly Special[]
}): Promise<Watched> {
  const over = payments.filter(payment => now - stateOf(payment).at >= OVER_FOR)
  const [some] = over
  if (suspects.length === 0 || !some || over.length < PAIRS) return { lacking: TOO_FEW }
  const watch = (count: number, kinds: readonly Special[]) =>
    Array.from({ length: count }, () =>
      kinds.flatMap(of => of.messages(some, probe)?.map((_, nth) => ({ of, nth })) ?? []),
    ).flat()
  const trusted = await watchAll(probe, over, watch(PAIRS, [trueMessage]))
  if (trusted.length < PAIRS || !trusted.every(isFollowed)) return { lacking: SEE_LOG }
  const [first = [], rest = []] = [true, false].map(isFirst =>
    probeRules
      .filter(rule => rule.isRead && Boolean(rule.isFirst) === isFirst)
      .filter(rule => rule.isTrueIn !== behaviourOf(some))
      .flatMap(rule => watch(TWICE, [rule])),
  )
  return { sent: await watchAll(probe, over, [...first, ...watch(PAIRS, suspects), ...rest]) }
}

const isFollowed = (sent: Sent): boolean => sent.isFollowed

/** The reads of two messages about one payment could not be told apart, so each waits until another has a free one. */
async function watchAll(
  probe: Probe,
  payments: readonly Payment[],
  planned: readonly Pick<Sent, 'of' | 'nth'>[],
): Promise<Sent[]> {
  const left = [...planned]
  const sent: Sent[] = []
  const work = async (payment: Payment): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const message = next.of.messages(payment, probe)?.[next.nth]
      if (!message) continue
      const countOf = (reads: readonly Read[]) =>
        reads.filter(({ payment_id }) => payment_id === message.payment_id).length
      const before = countOf(await probe.reads())
      const messages = [toSend(next.of, message)]
      const [exchange] = (await probe.send(messages, { ms: READ_WITHIN })) ?? []
      if (!exchange) continue
      const isFollowed = await probe.readsShow(reads => countOf(reads) > before)
      sent.push({ ...next, exchange, isFollowed })
    }
  }
  await Promise.all(payments.map(work))
  return sent
}

const exchangesOf = (sent: readonly Sent[]): Exchange[] => sent.map(({ exchange }) => exchange)

const SOMETIMES =
  'The receiver answers 2xx, and the payments of some of these messages were read. Look into your log whether it ignored them.'
const IGNORES =
  'The receiver answers 2xx and ignores the message: it reads the payments of true messages only.'

/** A forgery that was accepted. `once`: its first answers. */
export function judgeForgery(
  suspect: Special,
  once: readonly Exchange[] | undefined,
  watched: Watched,
): Judged {
  const unclear = once ?? []
  if ('lacking' in watched) return { ...watched, unclear }
  const forged = watched.sent.filter(({ of }) => of === suspect)
  const evidence = exchangesOf(forged)
  if (forged.length < PAIRS) return OUT_OF_TIME
  if (forged.every(isFollowed)) return { broken: [{ evidence }] }
  if (forged.some(isFollowed)) return { lacking: SOMETIMES, unclear }
  return { right: evidence, passed: IGNORES }
}

/** A rule whose messages are all answered 2xx, as forged ones are. */
export function judgeReads(rule: ProbeRule, { right = [] }: Judged, watched: Watched): Judged {
  if ('lacking' in watched) return { ...watched, unclear: right }
  const { isRead, after = 0, lacking } = rule
  if (!isRead) return { lacking: SEE_LOG, unclear: right }
  const sent = watched.sent.filter(({ of }) => of === rule)
  const unclear = [...right, ...exchangesOf(sent)]
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
