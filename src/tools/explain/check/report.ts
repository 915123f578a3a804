/** The check of an account: every rule over the record that is kept of it. */
import { setImmediate } from 'node:timers/promises'
import { type Account, givenName } from '../../../core/account.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import type { ToolContext } from '../../context.ts'
import { outcomeRules } from './outcomes.ts'
import { HAS_FAILED, productionRules } from './production.ts'
import { receiverRules } from './receivers.ts'
import { type AccountRecord, readRecord, type Window } from './record.ts'
import { recurringRules } from './recurring.ts'
import { requestRules } from './requests.ts'
import { byId, type Finding, findingsOf, type Judged, levels, type Rule } from './rule.ts'
import { situationsOf } from './situations.ts'

export type Report = Awaited<ReturnType<typeof checkAccount>>

/** In the order of their identifiers. */
export const rules: readonly Rule[] = [
  ...productionRules,
  ...requestRules,
  ...outcomeRules,
  ...recurringRules,
  ...receiverRules,
].toSorted((one, other) => byId(one.id, other.id))

/** The identifiers of all rules but those of probes, in order. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id)

/** `rule`: looks only at this one. */
export const checkAccount = (
  context: ToolContext,
  account: Account,
  { rule, ...window }: Window & { rule?: string | undefined } = {},
) =>
  context.reading({ account }, `check ${window.since} ${window.later} ${rule}`, async () => {
    const record = await readRecord(context, account, window)
    const { kept, not_kept, from, now } = record
    const judged = rules.filter(({ id }) => rule === undefined || id === rule)
    const findings = await judgeAll(judged, record, context.onRuleFault)
    return {
      version,
      account: givenName(account),
      /** The account's times; null where nothing is kept. */
      from: from === null ? null : iso(from),
      to: iso(now),
      /** Exchanges, and those that were only counted. */
      kept,
      not_kept,
      findings: findings.toSorted(
        (one, other) => levels.indexOf(one.level) - levels.indexOf(other.level),
      ),
      situations: rule === undefined ? situationsOf(record) : [],
    }
  })

/** A rule that throws has judged nothing, and hides no other. */
export async function judgeAll(
  rules: readonly Rule[],
  record: AccountRecord,
  onFault: (error: unknown) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const rule of rules) {
    findings.push(...findingsOf(rule, judge(rule, record, onFault)))
    // One rule takes some milliseconds over 10,000 exchanges. Requests are answered in between.
    await setImmediate()
  }
  return findings
}

function judge(
  rule: Rule,
  record: AccountRecord,
  onFault: (error: unknown) => void,
): Judged | undefined {
  const { needs } = rule
  if (needs !== undefined && record.now - record.since <= needs) return { lacking: TOO_SHORT }
  try {
    return rule.judge(record)
  } catch (error) {
    onFault(error)
    return { lacking: HAS_FAILED }
  }
}

const TOO_SHORT = 'The time that is looked at is too short for this rule: see since and as_of.'
