import { setImmediate } from 'node:timers/promises'
import { iso } from '../../../core/time.ts'
import { webhookName } from '../../../pay/webhooks/webhook.ts'
import {
  type Finding,
  type Judgement,
  MOST_EVIDENCE,
  type Rule,
  type RuleText,
  type Shown,
  type Verdict,
} from './rule.ts'

/** What is reported of a rule, with the exchanges that show it, in any order. */
export function findingOf(
  rule: RuleText,
  level: Verdict,
  { evidence, times = evidence.length, webhook, ...told }: Omit<Judgement, 'level'>,
): Finding {
  const { id, title, sentence, advice, source } = { ...rule, ...told }
  const inTime = evidence.toSorted((one, other) => one.began - other.began)
  const [first, newest] = [inTime[0], inTime.at(-1)]
  return {
    rule: id,
    level,
    title,
    sentence: webhook ? `${sentence} It is the webhook ${webhookName(webhook)}.` : sentence,
    advice,
    source,
    times,
    first: first ? iso(first.at) : null,
    newest: newest ? iso(newest.at) : null,
    evidence: inTime
      .slice(-MOST_EVIDENCE)
      .map(({ exchange_id }) => exchange_id)
      .toReversed(),
    ...(webhook && { webhook_id: webhook.webhook_id }),
  }
}

/** What a rule says that has one judgement at most. */
export const judged = (
  evidence: readonly Shown[],
  right: readonly Shown[] = [],
  more: Partial<Judgement> = {},
): ReturnType<Rule['judge']> => ({
  broken: evidence.length > 0 ? [{ ...more, evidence }] : [],
  right,
})

/** A rule that throws has judged nothing, and hides no other. */
export async function judgeAll<Looked>(
  rules: readonly Rule<Looked>[],
  looked: Looked,
  onFault: (error: unknown) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const rule of rules) {
    try {
      findings.push(...judge(rule, looked))
    } catch (error) {
      onFault(error)
      findings.push(notSeen(rule, HAS_FAILED))
    }
    // One rule takes some milliseconds over 10,000 exchanges. Requests are answered in between.
    await setImmediate()
  }
  return findings
}

export const HAS_FAILED =
  'This rule is not judged: it failed by a mistake in Farthing. The log of the service has the error.'

export function judge<Looked>(rule: Rule<Looked>, looked: Looked): Finding[] {
  const {
    broken,
    right,
    unclear = [],
    lacking = rule.lacking,
    passed = PASSED,
  } = rule.judge(looked)
  if (broken.length > 0) return broken.map(each => findingOf(rule, each.level ?? rule.level, each))
  if (right.length === 0) return [notSeen(rule, lacking, unclear)]
  return [findingOf(rule, 'pass', { evidence: right, sentence: passed })]
}

const PASSED = 'Nothing that was seen breaks this rule.'

export const notSeen = (
  rule: RuleText,
  sentence: string,
  evidence: readonly Shown[] = [],
): Finding => findingOf(rule, 'not seen', { evidence, sentence })
