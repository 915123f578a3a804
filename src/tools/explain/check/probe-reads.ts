/**
 * Evaluates a receiver that answers 2xx to every message by its reads: it reads the payment of a message that it
 * believes. So the reads after true messages, forgeries and messages of rules are compared.
 */
import { MINUTE } from '../../../core/time.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Read } from '../../record/store.ts'
import { type ProbeRule, probeRules, type Special, toSend, trueMessage } from './probe-rules.ts'
import { OUT_OF_TIME, type Probe, READ_WITHIN } from './probing.ts'
import type { Result } from './rule.ts'

/** Nothing else reads a payment that ended so long ago on the account's clock. */
const OVER_FOR = 10 * MINUTE
/** How often a true message and a forged one are sent. */
const PAIRS = 3
/** How often each message of a rule is sent. */
const TWICE = 2

/** `isFollowed`: its payment was read soon after it. `nth`: its place among the messages of its kind. */
type Sent = { of: Special; nth: number; exchange: Exchange; isFollowed: boolean }

/** The messages that were sent, or the reason why they show nothing. */
export type Watched = { sent: readonly Sent[] } | { lacking: string }

export const VARY = 'The answers of the receiver vary: it does not answer equal messages alike.'
const SEE_LOG = 'Your receiver answers before it looks, or does not look: see its log.'
const TOO_FEW = `${SEE_LOG} What it does can be told with ${PAIRS} more payments that were paid ten minutes ago or more.`

/** `payments`: paid payments that no other message of the probe is about. `suspects`: forgeries that were accepted. */
export async function watchReads(
  probe: Probe,
  now: number,
  payments: readonly Payment[],
  suspects: readonly Special[],
): Promise<Watched> {
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

/** Reads after two messages about one payment look alike, so each message waits for a free payment. */
async function watchAll(
  probe: Probe,
  payments: readonly Payment[],
  planned: readonly Pick<Sent, 'of' | 'nth'>[],
): Promise<Sent[]> {
  const left = [...planned]
  const sent: Sent[] = []
  const work = async (payment: Payment): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const sending = toSend(next.of, payment, probe)?.[next.nth]
      if (!sending) continue
      const countOf = (reads: readonly Read[]) =>
        reads.filter(({ payment_id }) => payment_id === sending.message.payment_id).length
      const before = countOf(await probe.reads())
      const [exchange] = (await probe.send([sending], { ms: READ_WITHIN })) ?? []
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

/** The result of a forgery that was accepted. `once`: the first answers to it. */
export function resultOfForgery(
  suspect: Special,
  once: readonly Exchange[] | undefined,
  watched: Watched,
): Result {
  const unclear = once ?? []
  if ('lacking' in watched) return { ...watched, unclear }
  const forged = watched.sent.filter(({ of }) => of === suspect)
  const evidence = exchangesOf(forged)
  if (forged.length < PAIRS) return OUT_OF_TIME
  if (forged.every(isFollowed)) return { violations: [{ evidence }] }
  if (forged.some(isFollowed)) return { lacking: SOMETIMES, unclear }
  return { right: evidence, passed: IGNORES }
}

/** The result of a rule for a receiver that answers 2xx to forgeries too. */
export function resultOfReads(rule: ProbeRule, { right = [] }: Result, watched: Watched): Result {
  if ('lacking' in watched) return { ...watched, unclear: right }
  const { isRead, after = 0, lacking } = rule
  if (!isRead) return { lacking: SEE_LOG, unclear: right }
  const sent = watched.sent.filter(({ of }) => of === rule)
  const unclear = [...right, ...exchangesOf(sent)]
  const byNth = [...Map.groupBy(sent, ({ nth }) => nth).values()]
  if (sent.length === 0 || byNth.some(({ length }) => length < TWICE)) return OUT_OF_TIME
  const [known, decisive] = [byNth.slice(0, after), byNth.slice(after)]
  if (!known.flat().every(isFollowed)) return { ...(lacking && { lacking }), unclear }
  if (decisive.flat().every(isFollowed))
    return { right: exchangesOf(sent), passed: 'The receiver read the payment.' }
  const ignored = decisive.filter(same => !same.some(isFollowed)).flat()
  if (ignored.length === 0) return { lacking: VARY, unclear }
  const sentence = `The receiver answers 2xx whatever comes, and reads the payments of true messages, but not of this one: ${rule.words}.`
  return { violations: [{ evidence: exchangesOf(ignored), sentence }] }
}
