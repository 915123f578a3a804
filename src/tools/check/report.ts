/** The check of an account: every rule over the record that is kept of it. */
import { setImmediate } from 'node:timers/promises'
import type { Account } from '../../core/account.ts'
import { iso } from '../../core/time.ts'
import { version } from '../../core/version.ts'
import type { Context } from '../../pay/context.ts'
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
].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))

const byRule = (one: { rule: string }, other: { rule: string }): number =>
  ruleIds.indexOf(one.rule) - ruleIds.indexOf(other.rule)

export const levels: readonly Verdict[] = ['fail', 'warn', 'note', 'pass', 'not seen']

/** `since`: looks at what happened then or later, in milliseconds of the account's time. `rule`: only at this one. */
export async function checkAccount(
  context: Context,
  account: Account,
  { since, rule }: { since?: number | undefined; rule?: string | undefined } = {},
): Promise<Report> {
  const { facts, kept, not_kept, from } = await readRecord(context, account, since)
  const isAsked = ({ id }: { id: string }) => rule === undefined || id === rule
  const judgements = [
    ...[...byKey(productionRules.filter(isAsked)).values()].map(
      rules => () => ofProduction(rules, facts),
    ),
    ...recordRules.filter(isAsked).map(each => () => ofRecord(each, facts)),
  ]
  const findings: Finding[] = []
  for (const judge of judgements) {
    findings.push(...judge())
    // One rule takes some milliseconds over 10,000 exchanges. Requests are answered in between.
    await setImmediate()
  }
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

const byKey = (rules: readonly ProductionRule[]) =>
  Map.groupBy(rules, each => each.with ?? each.key)

/** The finding of production rules that make one together, at the worst level that was seen. */
function ofProduction(rules: readonly ProductionRule[], { seen }: RecordFacts): Finding[] {
  const [rule] = rules
  if (!rule) return []
  for (const each of inOrder(rules)) {
    const evidence = seen.filter(({ broken }) => broken?.includes(each.key))
    if (evidence.length > 0) return [findingOf(each, each.level, evidence)]
  }
  return [passing(rule, rule.among.lacking, seen.filter(isAmong(rule.among)))]
}

const isAmong =
  ({ operations }: Among) =>
  (each: Seen): boolean => {
    if (!hasSucceeded(each) || each.byHand) return false
    if (operations === 'messages') return each.kind === 'out'
    return each.kind === 'api' && (operations === 'any' || operations.includes(each.operation))
  }

function ofRecord(rule: RecordRule, facts: RecordFacts): Finding[] {
  const { broken, right } = rule.judge(facts)
  if (broken.length === 0) return [passing(rule, rule.lacking, right)]
  return broken.map(({ level, evidence, times, sentence = rule.sentence }) => ({
    ...findingOf({ ...rule, sentence }, level, evidence),
    ...(times !== undefined && { times }),
  }))
}

const passing = (rule: Described, lacking: string, right: readonly Seen[]): Finding =>
  right.length > 0
    ? findingOf({ ...rule, sentence: 'Nothing that was seen breaks this rule.' }, 'pass', right)
    : findingOf({ ...rule, sentence: lacking }, 'not seen', [])

const inOrder = <Leveled extends { level: Verdict }>(given: readonly Leveled[]): Leveled[] =>
  given.toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))

/** Of the parts of one rule those that are broken; if none is, one of them. */
function together(findings: Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ rule }) => rule).values()].flatMap(ofRule => {
    const broken = ofRule.filter(({ level }) => level !== 'pass' && level !== 'not seen')
    return broken.length > 0 ? broken : inOrder(ofRule).slice(0, 1)
  })
}
