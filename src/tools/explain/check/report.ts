/** The check of an account: applies every rule to its record. */
import { setImmediate } from 'node:timers/promises'
import { type Account, givenName } from '../../../core/account.ts'
import type { Database } from '../../../core/ports.ts'
import { remember } from '../../../core/remember.ts'
import { iso } from '../../../core/time.ts'
import { version } from '../../../core/version.ts'
import type { ToolContext } from '../../context.ts'
import { newestId } from '../../record/store.ts'
import { outcomeRules } from './outcomes.ts'
import { HAS_FAILED, productionRules } from './production.ts'
import { receiverRules } from './receivers.ts'
import { type AccountRecord, readRecord, type Window } from './record.ts'
import { recurringRules } from './recurring.ts'
import { requestRules } from './requests.ts'
import { byId, type Finding, findingsOf, levels, type Result, type Rule } from './rule.ts'
import { situationsOf } from './situations.ts'

export type Report = Awaited<ReturnType<typeof checkAccount>>

/** All rules but those of probes, in the order of their identifiers. */
export const rules: readonly Rule[] = [
  ...productionRules,
  ...requestRules,
  ...outcomeRules,
  ...recurringRules,
  ...receiverRules,
].toSorted((one, other) => byId(one.id, other.id))

/** The identifiers of all rules but those of probes, in order. */
export const ruleIds: readonly string[] = rules.map(({ id }) => id)

/** With `rule` it applies only that rule. */
export const checkAccount = (
  context: ToolContext,
  account: Account,
  { rule, ...window }: Window & { rule?: string | undefined } = {},
) =>
  context.reading({ account }, `check ${window.since} ${window.later} ${rule}`, async () => {
    const record = await readRecord(context, account, window)
    const { kept, not_kept, from, now } = record
    const chosen = rules.filter(({ id }) => rule === undefined || id === rule)
    const findings = await evaluateAll(chosen, record, context.onRuleFault)
    return {
      version,
      account: givenName(account),
      /** The account's times. `from` is null if nothing is kept. */
      from: from === null ? null : iso(from),
      to: iso(now),
      /** The number of exchanges in the record, and of those that were only counted. */
      kept,
      not_kept,
      findings: levels.flatMap(level => findings.filter(finding => finding.level === level)),
      situations: rule === undefined ? await situationsOf(record) : [],
    }
  })

/** A rule that throws has no result, and does not stop the others. */
export async function evaluateAll(
  rules: readonly Rule[],
  record: AccountRecord,
  onFault: (error: unknown) => void,
): Promise<Finding[]> {
  const resultOf = ({ needs = 0, evaluate }: Rule): Result | undefined => {
    if (needs > 0 && record.now - record.since <= needs) return { lacking: TOO_SHORT }
    try {
      return evaluate(record)
    } catch (error) {
      onFault(error)
      return { lacking: HAS_FAILED }
    }
  }
  const findings: Finding[] = []
  for (const rule of rules) {
    findings.push(...findingsOf(rule, resultOf(rule)))
    // One rule takes some milliseconds over 10,000 exchanges. Requests are answered in between.
    await setImmediate()
  }
  return findings
}

const TOO_SHORT = 'The time that is looked at is too short for this rule: see since and as_of.'

/** The fails beside *Check* in the navigation. `at`: when they were counted, on the account's clock, if not now. */
export type Fails = { fails: number; at?: number }

type Counted = { newest: string | undefined; fails: number; kept: number; at: number; wall: number }

/** A check of more exchanges takes 30 ms and more: pages show the last number with its time, and do not wait. */
const MANY = 1_000
/** Milliseconds until a number is counted anew. */
const VALID = 10_000
const MOST_ROOMS = 1_000

/** By the database of a service, and by room. */
const counts = new WeakMap<Database, Map<string, Counted>>()

export async function countFails(context: ToolContext, account: Account): Promise<Fails> {
  const { database, time } = context
  const last = counts.get(database)?.get(account.room)
  const isYoung = last && time.wall() - last.wall < VALID
  if (isYoung && last.newest === (await newestId(database, account.room)))
    return { fails: last.fails }
  if (!last || last.kept <= MANY) return { fails: failsIn(await checkAndCount(context, account)) }
  // If this check fails, the next page repeats it, and the page *Check* shows the error.
  if (!isYoung) void checkAndCount(context, account).catch(() => undefined)
  return { fails: last.fails, at: last.at }
}

/** Checks an account, and remembers the number of fails for other pages. */
export async function checkAndCount(context: ToolContext, account: Account): Promise<Report> {
  const { database, time } = context
  const [at, wall] = [time.now(account), time.wall()]
  const newest = await newestId(database, account.room)
  const report = await checkAccount(context, account)
  const ofService = counts.get(database) ?? new Map<string, Counted>()
  counts.set(database, ofService)
  const counted = { newest, fails: failsIn(report), kept: report.kept, at, wall }
  remember(ofService, account.room, counted, MOST_ROOMS)
  return report
}

export const failsIn = ({ findings }: Report): number =>
  findings.filter(({ level }) => level === 'fail').length
