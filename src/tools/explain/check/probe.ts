/** Probes: messages that are made to find out what a receiver does with them. They are sent only when asked for. */
import type { Account } from '../../../core/account.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import { presentPayment } from '../../../pay/payments/response.ts'
import { type EventType, messagesFor, type Webhook } from '../../../pay/webhooks/webhook.ts'
import { keptAddresses } from '../../../platform/http/addresses.ts'
import type { ToolContext } from '../../context.ts'
import { sendingAlone } from '../../deliver/resend.ts'
import { sendByHand, signed } from '../../deliver/send-again.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import type { Exchange } from '../../record/exchange.ts'
import { readsSince } from '../../record/store.ts'
import { causeOf } from '../causes.ts'
import { judgeAnswers } from './probe-answers.ts'
import { forgeryRules, judgeForgeries, tryForgeries } from './probe-forgeries.ts'
import { judgeReads, watchReads } from './probe-reads.ts'
import { type ProbeRule, probeRules } from './probe-rules.ts'
import {
  CONTROL,
  isAccepted,
  MOST_MS,
  MOST_POSTS,
  POST_MS,
  type Probe,
  type ToSend,
} from './probing.ts'
import { byId, type Finding, findingsOf, type Judged } from './rule.ts'

/** Paid payments that are looked at. */
const MOST_PAYMENTS = 50

/** The events of a paid payment. */
const PAID: EventType[] = ['card_payment_succeeded', 'card_payment_captured']

/**
 * Sends messages about paid payments of the account to the webhook's own address, and records each. They are no
 * attempts of any message. `isAbandoned`: whether nobody waits for the result any more. Resolves to undefined, and sends
 * nothing, while other messages of the account are being sent by hand.
 */
export const probeReceiver = (
  context: ToolContext,
  account: Account,
  webhook: Webhook,
  isAbandoned: () => boolean,
) =>
  sendingAlone(context, account, MOST_MS, async () => {
    const { probe, postsSoFar } = createProbe(context, account, webhook, isAbandoned)
    const findings = await probeAll(probe)
    const inOrder = findings.toSorted((one, other) => byId(one.rule, other.rule))
    return { posts: postsSoFar(), findings: inOrder }
  })

function createProbe(
  context: ToolContext,
  account: Account,
  webhook: Webhook,
  isAbandoned: () => boolean,
): { probe: Probe; postsSoFar: () => number } {
  const { config, database, recorder, time } = context
  const [started, since] = [performance.now(), time.wall()]
  const payment_ids = new Set<string>()
  let posts = 0
  let sending: Promise<unknown> = Promise.resolve()
  const maySend = (messages: number, ms: number) =>
    posts + messages <= MOST_POSTS && performance.now() - started + ms <= MOST_MS && !isAbandoned()
  const newId = (at = time.now(account)) => context.newId(at, account.room)
  const post = ({ message, words, forgery }: ToSend): Promise<Exchange> => {
    posts += 1
    payment_ids.add(message.payment_id)
    const { damage, key } = forgery ?? {}
    return sendByHand(context, account, message, {
      ...signed(message.body, key ?? webhook.signing_key, damage),
      url: webhook.callback_url,
      // Nothing is forged before the receiver has accepted a true message.
      byHand: {
        kind: 'probe',
        words,
        ...(forgery && { undamaged: 'accepted' }),
        ...(damage && { damage }),
        ...(key !== undefined && { other_key: true }),
      },
    })
  }
  const probe: Probe = {
    context,
    account,
    newId,
    make(payment, { event_type, as = behaviourOf(payment) } = {}) {
      const { payment_id, base_url } = payment
      const { at } = stateOf(payment)
      const resource = presentPayment(payment, keptAddresses(config, base_url))
      const eventTypes = event_type ? [event_type] : PAID
      const change = { payment_id, at, eventTypes, behaviour: as, resource }
      return messagesFor(change, [webhook], () => newId())[0]
    },
    send(messages, { atOnce, ms = 0 } = {}) {
      const sent = sending.then(() => {
        if (!maySend(messages.length, ms + POST_MS * (atOnce ? 1 : messages.length)))
          return undefined
        return atOnce ? Promise.all(messages.map(post)) : Array.fromAsync(messages, post)
      })
      sending = sent.catch(() => {})
      return sent
    },
    async reads() {
      await recorder?.flush()
      return readsSince(database, account.room, [...payment_ids], since)
    },
    isOver: () => !maySend(0, 0),
  }
  return { probe, postsSoFar: () => posts }
}

async function probeAll(probe: Probe): Promise<Finding[]> {
  const { context, account } = probe
  const paid = await findPayments(
    context.database,
    { account, now: context.time.now(account), filter: { status: 'success' } },
    {},
    { limit: MOST_PAYMENTS, order: 'newest' },
  )
  const [first, ...others] = paid
  if (!first)
    return nothingSeen({ lacking: 'No payment of the account is paid. Pay one, and probe again.' })
  const message = probe.make(first)
  if (!message)
    return nothingSeen({ lacking: `The webhook is subscribed to none of ${PAID.join(' and ')}.` })
  const [control] = (await probe.send([{ message, words: CONTROL }])) ?? []
  if (!control) return nothingSeen({ lacking: 'Nobody waited for the answer.' })
  if (!isAccepted(control)) return nothingSeen({ lacking: firstMend(control), unclear: [control] })
  return judgeRules(probe, { first, control }, others)
}

/** The rules of most worth are first. What waits for reads runs beside the messages of others. */
async function judgeRules(
  probe: Probe,
  known: { first: Payment; control: Exchange },
  others: readonly Payment[],
): Promise<Finding[]> {
  const judged = new Map<ProbeRule, Judged>()
  const judge = async (rule: ProbeRule) => judged.set(rule, await judgeAnswers(probe, rule, known))
  const worthMost = probeRules.filter(({ isFirst }) => isFirst)
  for (const rule of worthMost) await judge(rule)
  const tried = await tryForgeries(probe, known.first)
  const rest = probeRules.filter(({ isFirst }) => !isFirst)
  const suspects = tried.flatMap(({ suspect }) => suspect ?? [])
  const [watched] = await Promise.all([watchReads(probe, others, suspects), ...rest.map(judge)])
  const findings = probeRules.flatMap(rule => {
    const answers = judged.get(rule) ?? {}
    // Who accepts a forgery accepts all, and so the answer is no proof.
    const isProof =
      suspects.length === 0 ||
      !answers.right ||
      ('sent' in watched && rule.isTrueIn === behaviourOf(known.first))
    return findingsOf(rule, isProof ? answers : judgeReads(rule, answers, watched))
  })
  return [...judgeForgeries(tried, watched), ...findings]
}

const firstMend = (control: Exchange): string =>
  `The receiver did not accept the true message, so nothing can be judged: mend that first (W3). ${causeOf(control) ?? ''}`.trim()

const nothingSeen = (why: Judged): Finding[] =>
  [...forgeryRules, ...probeRules].flatMap(rule => findingsOf(rule, why))
