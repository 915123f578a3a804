/** Probes: messages that are made to find out what a receiver does with them. They are sent only when asked for. */
import type { Account } from '../../../core/account.ts'
import { behaviourOf, type Payment } from '../../../pay/payments/payment.ts'
import { presentPayment } from '../../../pay/payments/response.ts'
import {
  type EventType,
  type Message,
  messagesFor,
  type Webhook,
} from '../../../pay/webhooks/webhook.ts'
import { keptAddresses } from '../../../platform/http/addresses.ts'
import type { ToolContext } from '../../context.ts'
import { sendingAlone } from '../../deliver/resend.ts'
import { sendByHand, signed } from '../../deliver/send-again.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import type { Exchange } from '../../record/exchange.ts'
import { countExchanges } from '../../record/store.ts'
import { causeOf } from '../causes.ts'
import { forgeryRules, probeForgeries } from './probe-forgeries.ts'
import { type ProbeRule, probeRules } from './probe-rules.ts'
import {
  CONTROL,
  isAccepted,
  MOST_MS,
  MOST_POSTS,
  OUT_OF_TIME,
  POST_MS,
  type Probe,
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
    const started = performance.now()
    let posts = 0
    const { config, newId, time } = context
    const nextId = () => newId(time.now(account), account.room)
    const findings = await probeAll({
      context,
      account,
      newId: nextId,
      make(payment, event_type) {
        const { payment_id, events, base_url } = payment
        const at = events.at(-1)?.at ?? time.now(account)
        const resource = presentPayment(payment, keptAddresses(config, base_url))
        const eventTypes = event_type ? [event_type] : PAID
        const change = { payment_id, at, eventTypes, behaviour: behaviourOf(payment), resource }
        return messagesFor(change, [webhook], nextId)[0]
      },
      post(message, words, forgery) {
        posts += 1
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
      },
      maySend: (messages, ms = POST_MS) =>
        posts + messages <= MOST_POSTS &&
        performance.now() - started + ms <= MOST_MS &&
        !isAbandoned(),
    })
    return { posts, findings: findings.toSorted((one, other) => byId(one.rule, other.rule)) }
  })

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
  const control = await probe.post(message, CONTROL)
  if (!isAccepted(control)) return nothingSeen({ lacking: firstMend(control), unclear: [control] })
  const findings = await probeForgeries(probe, first, others)
  for (const rule of probeRules)
    findings.push(...findingsOf(rule, await judgeRule(probe, rule, first)))
  return findings
}

const firstMend = (control: Exchange): string =>
  `The receiver did not accept the true message, so nothing can be judged: mend that first (W3). ${causeOf(control) ?? ''}`.trim()

const nothingSeen = (why: Judged): Finding[] =>
  [...forgeryRules, ...probeRules].flatMap(rule => findingsOf(rule, why))

/** A receiver that breaks the rule must break it twice, and accept the true message in between. */
async function judgeRule(probe: Probe, rule: ProbeRule, first: Payment): Promise<Judged> {
  const { after = 0, breaks = isRefused, passed = 'The receiver accepted it.' } = rule
  const messages = messagesOf(probe, rule, first)
  if (!messages) return {}
  const ms = POST_MS * (rule.atOnce ? 1 : messages.length)
  if (!probe.maySend(messages.length, ms)) return OUT_OF_TIME
  const missing = await countMissing(probe)
  const answers = await sendAll(probe, rule, messages)
  if (!breaks(answers)) return { right: answers, passed }
  const message = probe.make(first)
  if (!message || !probe.maySend(1 + messages.length, POST_MS + ms)) return OUT_OF_TIME
  const control = await probe.post(message, CONTROL)
  const again = await sendAll(probe, rule, messagesOf(probe, rule, first) ?? [])
  const unclear = [...answers, control, ...again]
  if (rule.isUnknown && (await countMissing(probe)) > missing)
    return { lacking: READS_UNKNOWN, unclear }
  const before = [answers, again].flatMap(each => each.slice(0, after))
  if (rule.lacking && after > 0 && !before.some(isAccepted)) return { unclear }
  const isSteady = isAccepted(control) && breaks(again) && before.every(isAccepted)
  if (!isSteady) return { lacking: VARY, unclear }
  return { broken: [{ evidence: [...answers, ...again].filter(each => !isAccepted(each)) }] }
}

const isRefused = (answers: readonly Exchange[]): boolean => !answers.every(isAccepted)

const VARY = 'The answers of the receiver vary: it does not answer equal messages alike.'
const READS_UNKNOWN =
  'The receiver reads the payment, and this one does not exist, so its refusal shows nothing.'

/**
 * How many requests of the account were about something that does not exist. They are counted before and after, because
 * identifiers of two instances do not tell which was written first.
 */
async function countMissing({ context: { database, recorder }, account }: Probe): Promise<number> {
  await recorder?.flush()
  const filter = { kinds: ['api'], refused: true, status: 404 } as const
  return countExchanges(database, account.room, filter, Infinity)
}

function messagesOf(probe: Probe, rule: ProbeRule, payment: Payment): Message[] | undefined {
  const made = probe.make(payment)
  const make = (event_type: EventType) => probe.make(payment, event_type)
  return made && rule.messages(made, make, probe.newId)
}

async function sendAll(probe: Probe, rule: ProbeRule, messages: readonly Message[]) {
  const send = (message: Message) => probe.post(message, `${rule.id}: ${rule.words}`)
  return rule.atOnce ? Promise.all(messages.map(send)) : Array.fromAsync(messages, send)
}
