/** Probes: messages that test a receiver. They are sent only on request. */
import type { Account } from '../../../core/account.ts'
import { behaviourOf, type Payment } from '../../../pay/payments/payment.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import type { ToolContext } from '../../context.ts'
import { sendingAlone } from '../../deliver/resend.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import type { Exchange } from '../../record/exchange.ts'
import { causeOf } from '../causes.ts'
import { resultOfForgery, resultOfReads, VARY, watchReads } from './probe-reads.ts'
import { forgeryRules, type ProbeRule, probeRules, toSend, trueMessage } from './probe-rules.ts'
import { createProbe, isAccepted, MOST_MS, OUT_OF_TIME, PAID, type Probe } from './probing.ts'
import { byId, type Finding, findingsOf, type Result } from './rule.ts'

/** The most paid payments that a probe reads. */
const MOST_PAYMENTS = 50

/**
 * Sends messages about paid payments of the account to the webhook's own address, and records each. They are no
 * attempts of any message. Resolves to undefined, and sends nothing, while other messages of the account are sent by
 * hand. `isAbandoned`: nobody waits any more.
 */
export const probeReceiver = (
  context: ToolContext,
  account: Account,
  webhook: Webhook,
  isAbandoned: () => boolean,
) =>
  sendingAlone(context, account, MOST_MS, async () => {
    const probe = createProbe(context, account, webhook, isAbandoned)
    const now = context.time.now(account)
    const paid = await findPayments(
      context.database,
      { account, now, filter: { status: 'success' } },
      {},
      { limit: MOST_PAYMENTS, order: 'newest' },
    )
    const findings = await probeAll(probe, paid, now)
    const inOrder = findings.toSorted((one, other) => byId(one.rule, other.rule))
    return { posts: probe.posts(), findings: inOrder }
  })

async function probeAll(probe: Probe, [first, ...others]: readonly Payment[], now: number) {
  if (!first)
    return nothingSeen({ lacking: 'No payment of the account is paid. Pay one, and probe again.' })
  const asIs = toSend(trueMessage, first, probe)
  if (!asIs)
    return nothingSeen({ lacking: `The webhook is subscribed to none of ${PAID.join(' and ')}.` })
  const [control] = (await probe.send(asIs)) ?? []
  if (!control) return nothingSeen({ lacking: 'Nobody waited for the answer.' })
  if (!isAccepted(control)) return nothingSeen({ lacking: firstMend(control), unclear: [control] })
  const results = new Map<ProbeRule, Result>()
  const evaluate = async (rule: ProbeRule) =>
    results.set(rule, await resultOfAnswers(probe, rule, first, control))
  // The most valuable rules come first. Rules that wait for reads run beside the messages of other rules.
  for (const rule of probeRules.filter(({ isFirst }) => isFirst)) await evaluate(rule)
  const tried = await tryForgeries(probe, first)
  const suspects = tried.flatMap(({ suspect }) => suspect ?? [])
  const rest = probeRules.filter(({ isFirst }) => !isFirst)
  const watching = watchReads(probe, now, others, suspects)
  const [watched] = await Promise.all([watching, ...rest.map(evaluate)])
  return [
    ...tried.flatMap(({ rule, once, suspect }) =>
      findingsOf(rule, suspect ? resultOfForgery(suspect, once, watched) : resultOfRefusals(once)),
    ),
    ...probeRules.flatMap(rule => {
      const answers = results.get(rule) ?? {}
      // A receiver that accepts a forgery accepts everything, so its answer is no proof.
      const isProof =
        suspects.length === 0 ||
        !answers.right ||
        ('sent' in watched && rule.isTrueIn === behaviourOf(first))
      return findingsOf(rule, isProof ? answers : resultOfReads(rule, answers, watched))
    }),
  ]
}

const firstMend = (control: Exchange): string =>
  `The receiver did not accept the true message, so nothing can be judged: mend that first (W3). ${causeOf(control) ?? ''}`.trim()

const nothingSeen = (why: Result): Finding[] =>
  [...forgeryRules, ...probeRules].flatMap(rule => findingsOf(rule, why))

/** Sends one of each forgery. `suspect`: the first forgery of the rule that is accepted. */
async function tryForgeries(probe: Probe, first: Payment) {
  const tried = []
  for (const rule of forgeryRules) {
    const once = await probe.send(rule.forgeries.flatMap(one => toSend(one, first, probe) ?? []))
    const suspect = rule.forgeries[once?.findIndex(isAccepted) ?? -1]
    tried.push({ rule, once, suspect })
  }
  return tried
}

function resultOfRefusals(once: readonly Exchange[] | undefined): Result {
  if (!once) return OUT_OF_TIME
  if (once.some(({ status }) => status === null))
    return { lacking: 'The receiver did not answer it.', unclear: once }
  return { right: once, passed: 'The receiver refused it.' }
}

const IS_TRUE = 'The account behaves so: the true message is printed like this, and was accepted.'

const isRefused = (answers: readonly Exchange[]): boolean => !answers.every(isAccepted)

const READS_UNKNOWN =
  'The receiver reads the payment before it answers, and this one does not exist, so its refusal shows nothing.'

/** A receiver breaks the rule only if it does so twice, and accepts the true message in between. */
async function resultOfAnswers(
  probe: Probe,
  rule: ProbeRule,
  first: Payment,
  accepted: Exchange,
): Promise<Result> {
  if (rule.isTrueIn === behaviourOf(first)) return { right: [accepted], passed: IS_TRUE }
  const { after = 0, breaks = isRefused, passed = 'The receiver accepted it.' } = rule
  const messages = toSend(rule, first, probe)
  if (!messages) return {}
  const answers = await probe.send(messages, rule)
  if (!answers) return OUT_OF_TIME
  if (!breaks(answers)) return { right: answers, passed }
  const control = await probe.send(toSend(trueMessage, first, probe) ?? [])
  const again = control && (await probe.send(toSend(rule, first, probe) ?? [], rule))
  if (!again) return OUT_OF_TIME
  const unclear = [...answers, ...control, ...again]
  const before = [answers, again].flatMap(answered => answered.slice(0, after))
  if (rule.lacking && after > 0 && !before.some(isAccepted)) return { unclear }
  const isSteady = control.every(isAccepted) && breaks(again) && before.every(isAccepted)
  if (!isSteady) return { lacking: VARY, unclear }
  const evidence = [...answers, ...again].filter(answer => !isAccepted(answer))
  if (rule.isUnknown && (await wasReadBefore(probe, [...answers, ...again])))
    return { lacking: READS_UNKNOWN, unclear }
  return { violations: [{ evidence }] }
}

/** Whether the receiver had read a payment when it first answered a message about it. Later reads are no reason. */
function wasReadBefore(probe: Probe, answers: readonly Exchange[]): Promise<boolean> {
  const first = [...Map.groupBy(answers, ({ payment_id }) => payment_id).values()].flatMap(all =>
    all.slice(0, 1),
  )
  return probe.readsShow(reads =>
    first.some(({ payment_id, began, ms }) =>
      reads.some(read => read.payment_id === payment_id && read.began <= began + ms),
    ),
  )
}
