/** The check of an account: every rule over the record that is kept of it. */
import type { Account } from '../../../core/account.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import type { ToolContext } from '../../context.ts'
import { productionRules } from './judge.ts'
import { outcomeRules } from './outcomes.ts'
import { receiverRules } from './receivers.ts'
import { readRecord, type Window } from './record.ts'
import { requestRules } from './requests.ts'
import { byId, type Finding, HAS_FAILED, judgeAll, levels, notSeen, type Rule } from './rule.ts'
import { situationsOf } from './situations.ts'

export type Report = Awaited<ReturnType<typeof checkAccount>>

export const rules: readonly Rule[] = [
  ...productionRules,
  ...requestRules,
  ...outcomeRules,
  ...receiverRules,
]

/** The identifiers of all rules but those of probes, in order. */
export const ruleIds: readonly string[] = [...new Set(rules.map(({ id }) => id))].toSorted(byId)

/** `rule`: looks only at this one. */
export const checkAccount = (
  context: ToolContext,
  account: Account,
  { rule, ...window }: Window & { rule?: string | undefined } = {},
) =>
  context.reading(account.room, `check ${window.since} ${window.later} ${rule}`, async () => {
    const record = await readRecord(context, account, window)
    const { kept, not_kept, from } = record
    const { since } = window
    const isTooShort = ({ needs }: Rule) =>
      since !== undefined && needs !== undefined && record.now - since <= needs
    const all = rules.filter(({ id }) => rule === undefined || id === rule)
    const judged = all.filter(each => !isTooShort(each))
    const findings = [
      ...(await judgeAll(judged, record, context.onRuleFault)),
      ...all.filter(isTooShort).map(each => notSeen(each, TOO_SHORT)),
    ]
    return {
      version,
      account: account.name,
      /** The account's times; null where nothing is kept. */
      from: from === null ? null : iso(from),
      to: iso(record.now),
      /** Exchanges, and those that were only counted. */
      kept,
      not_kept,
      findings: inOrder(together(findings).toSorted((one, other) => byId(one.rule, other.rule))),
      situations: rule === undefined ? situationsOf(record) : [],
    }
  })

const TOO_SHORT = 'The time that is looked at is too short for this rule: see since and as_of.'

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((one, other) => levels.indexOf(one.level) - levels.indexOf(other.level))

/** Of the parts of one rule those that are broken; if none is, one of them: one that failed before one that passed. */
function together(findings: Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ rule }) => rule).values()].flatMap(ofRule => {
    const broken = ofRule.filter(({ level }) => level !== 'pass' && level !== 'not seen')
    if (broken.length > 0) return broken
    const failed = ofRule.filter(({ sentence }) => sentence === HAS_FAILED)
    return [...failed, ...inOrder(ofRule)].slice(0, 1)
  })
}
