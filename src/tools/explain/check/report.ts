/** The check of an account: every rule over the record that is kept of it. */
import { setImmediate } from 'node:timers/promises'
import type { Account } from '../../../core/account.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import type { ToolContext } from '../../context.ts'
import { type Described, findingOf } from './finding.ts'
import { hasSucceeded, outcomeRules } from './outcomes.ts'
import { type ProductionRule, productionRules } from './production.ts'
import { receiverRules } from './receivers.ts'
import { readRecord } from './record.ts'
import { clientRules } from './requests.ts'
import type { Among, Finding, RecordFacts, RecordRule, Verdict } from './rule.ts'
import type { Seen } from './seen.ts'

export type Report = {
  version: string
  account: string
  /** The account's times; null where nothing is kept. */
  from: string | null
  to: string
  /** Exchanges, and those that were only counted. */
  kept: number
  not_kept: number
  findings: Finding[]
}

export const recordRules: readonly RecordRule[] = [
  ...clientRules,
  ...outcomeRules,
  ...receiverRules,
]

/** The identifiers of all rules but those of probes, in the order of docs/check.md. */
export const ruleIds: readonly string[] = [
  ...new Set([...productionRules, ...recordRules].map(({ id }) => id)),
].toSorted((one, other) => rankOf(one) - rankOf(other))

/** C10 comes after C9. A comparison of texts by number would load a collator, at every start. */
function rankOf(id: string): number {
  return id.charCodeAt(0) * 1_000 + Number(id.slice(1))
}

const byRule = (one: { rule: string }, other: { rule: string }): number =>
  ruleIds.indexOf(one.rule) - ruleIds.indexOf(other.rule)

export const levels: readonly Verdict[] = ['fail', 'warn', 'note', 'pass', 'not seen']

type Asked = { since?: number | undefined; rule?: string | undefined }

/** `since`: looks at what happened then or later, in milliseconds of the account's time. `rule`: only at this one. */
export const checkAccount = (
  context: ToolContext,
  account: Account,
  asked: Asked = {},
): Promise<Report> =>
  context.reading(account.room, `check ${asked.since} ${asked.rule}`, () =>
    check(context, account, asked),
  )

async function check(
  context: ToolContext,
  account: Account,
  { since, rule }: Asked,
): Promise<Report> {
  const { facts, kept, not_kept, from } = await readRecord(context, account, since)
  const isAsked = ({ id }: { id: string }) => rule === undefined || id === rule
  const tasks = [
    ...[...byKey(productionRules.filter(isAsked)).values()].flatMap(rules =>
      ofProduction(rules, facts),
    ),
    ...recordRules.filter(isAsked).map(each => ofRecord(each, facts)),
  ]
  const findings = await judgeAll(tasks, context.onRuleFault)
  return {
    version,
    account: account.name,
    from: from === null ? null : iso(from),
    to: iso(facts.now),
    kept,
    not_kept,
    findings: inOrder(together(findings).toSorted(byRule)),
  }
}

/** What one rule says, or the parts of one. */
export type Task = { rule: Described; judge: () => Finding[] }

/** A rule that throws has judged nothing, and hides no other. */
export async function judgeAll(
  tasks: readonly Task[],
  onFault: (error: unknown) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { rule, judge } of tasks) {
    try {
      findings.push(...judge())
    } catch (error) {
      onFault(error)
      findings.push(notSeen(rule, HAS_FAILED))
    }
    // One rule takes some milliseconds over 10,000 exchanges. Requests are answered in between.
    await setImmediate()
  }
  return findings
}

const HAS_FAILED =
  'This rule is not judged: it failed by a mistake in Farthing. The log of the service has the error.'
const OTHER_VERSION =
  'This rule is not judged: another version of Farthing recorded what was seen, with other rules.'

const byKey = (rules: readonly ProductionRule[]) =>
  Map.groupBy(rules, each => each.with ?? each.key)

/** The finding of production rules that make one together, at the worst level that was seen. */
function ofProduction(rules: readonly ProductionRule[], { seen }: RecordFacts): Task[] {
  const [rule] = rules
  if (!rule) return []
  const hasFailed = ({ unjudged }: Seen) => rules.some(({ key }) => unjudged?.includes(key))
  const judge = () => {
    for (const each of inOrder(rules)) {
      const evidence = seen.filter(({ broken }) => broken?.includes(each.key))
      if (evidence.length > 0) return [findingOf(each, each.level, evidence)]
    }
    if (seen.some(hasFailed)) return [notSeen(rule, HAS_FAILED)]
    const among = seen.filter(isAmong(rule.among))
    const lacking = among.length > 0 ? OTHER_VERSION : rule.among.lacking
    return [
      passing(
        rule,
        lacking,
        among.filter(({ isJudged }) => isJudged),
      ),
    ]
  }
  return [{ rule, judge }]
}

const isAmong =
  ({ operations }: Among) =>
  (each: Seen): boolean => {
    if (!hasSucceeded(each) || each.byHand) return false
    if (operations === 'messages') return each.kind === 'out'
    return each.kind === 'api' && (operations === 'any' || operations.includes(each.operation))
  }

function ofRecord(rule: RecordRule, facts: RecordFacts): Task {
  const judge = () => {
    const { broken, right } = rule.judge(facts)
    if (broken.length === 0) return [passing(rule, rule.lacking, right)]
    return broken.map(({ level, evidence, times, sentence = rule.sentence }) => ({
      ...findingOf({ ...rule, sentence }, level, evidence),
      ...(times !== undefined && { times }),
    }))
  }
  return { rule, judge }
}

const passing = (rule: Described, lacking: string, right: readonly Seen[]): Finding =>
  right.length > 0
    ? findingOf({ ...rule, sentence: 'Nothing that was seen breaks this rule.' }, 'pass', right)
    : notSeen(rule, lacking)

const notSeen = (rule: Described, sentence: string): Finding =>
  findingOf({ ...rule, sentence }, 'not seen', [])

const inOrder = <Leveled extends { level: Verdict }>(given: readonly Leveled[]): Leveled[] =>
  given.toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))

/** Of the parts of one rule those that are broken; if none is, one of them: one that failed before one that passed. */
function together(findings: Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ rule }) => rule).values()].flatMap(ofRule => {
    const broken = ofRule.filter(({ level }) => level !== 'pass' && level !== 'not seen')
    if (broken.length > 0) return broken
    const failed = ofRule.filter(({ sentence }) => sentence === HAS_FAILED)
    return [...failed, ...inOrder(ofRule)].slice(0, 1)
  })
}
