/** Findings of the check: where an integration would break with GOV.UK Pay. */

import { isSuccess } from '../../../core/http-status.ts'
import { iso } from '../../../core/time.ts'
import type { Level } from '../../../pay/differences/difference.ts'
import { type Webhook, webhookName } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AccountRecord } from './record.ts'

/** The worst first. `pass`: there was evidence, and it is right. `not seen`: there was no evidence. */
export const levels = ['fail', 'warn', 'note', 'pass', 'not seen'] as const
export type Verdict = (typeof levels)[number]
export type { Level }

/**
 * The text that a report shows for a broken rule. `id`: as in docs/check.md, such as P4. `level`: the worst, if there
 * are several. `title`: the subject. `source`: an address, made with `inCode` or `documented`.
 */
export type TextRow = [
  id: string,
  level: Level,
  title: string,
  sentence: string,
  advice: string,
  source: string,
]

export const textOf = ([id, level, title, sentence, advice, source]: TextRow) => ({
  id,
  level,
  title,
  sentence,
  advice,
  source,
})
export type RuleText = ReturnType<typeof textOf>

/** A pure function over the record of an account. undefined: accounts of this behaviour do not have the rule. */
type RuleFunction = (record: AccountRecord) => Result | undefined

/** `lacking`: the sentence for no evidence. `needs`: milliseconds of account time that the record must cover. */
export type Row = [...text: TextRow, lacking: string, evaluate: RuleFunction, needs?: number]

export const rulesOf = (rows: readonly Row[]): Rule[] =>
  rows.map(([id, level, title, sentence, advice, source, lacking, evaluate, needs = 0]) => {
    const text = textOf([id, level, title, sentence, advice, source])
    return { ...text, lacking, evaluate, needs }
  })
export type Rule = RuleText & { lacking: string; evaluate: RuleFunction; needs?: number }

/** An exchange that is evidence. */
type Sighting = Pick<Evidence, 'exchange_id' | 'began' | 'at'>

/** `times`: the number of cases, if the evidence does not have each. `webhook`: the webhook that breaks the rule. */
type Violation = Partial<RuleText> & {
  evidence: readonly Sighting[]
  times?: number
  webhook?: Webhook
}

/** The result of a rule. Without `violations` and `right` there was no evidence. */
export type Result = {
  violations?: readonly Violation[]
  /** Exchanges that could have broken the rule, and did not; and the sentence for them. */
  right?: readonly Sighting[]
  passed?: string
  /** `lacking` replaces that of the rule. `unclear`: exchanges that prove neither. */
  lacking?: string
  unclear?: readonly Sighting[]
}

export const hasSucceeded = ({ status }: Pick<Evidence, 'status'>): boolean => isSuccess(status)

export const hasDone = (operation: string) => (exchange: Pick<Evidence, 'operation' | 'status'>) =>
  exchange.operation === operation && hasSucceeded(exchange)

/** By its source GOV.UK Pay follows these redirects with a GET without body and signature. */
export const LOSING = [301, 302, 303]

/** Whether this is a message that its receiver got whole and accepted. */
export const isTaken = ({ kind, status, redirected = 0, printed }: Evidence): boolean =>
  kind === 'out' && isSuccess(status) && !LOSING.includes(redirected) && !printed

/** The result of one rule in a report, with its evidence. */
export type Finding = ReturnType<typeof findingOf>

export const MOST_EVIDENCE = 20

function findingOf(rule: RuleText, level: Verdict, violation: Violation) {
  const { id, title, sentence, advice, source } = { ...rule, ...violation }
  const { evidence, times = evidence.length, webhook } = violation
  const inTime = evidence.toReversed().toSorted((one, other) => other.began - one.began)
  const [newest, first] = [inTime[0], inTime.at(-1)]
  return {
    rule: id,
    level,
    title,
    /** The consequence in production; with `not seen`, the evidence that is lacking. */
    sentence: webhook ? `${sentence} It is the webhook ${webhookName(webhook)}.` : sentence,
    advice,
    source,
    /** The number of cases. */
    times,
    /** The account's times of the first and the newest evidence; null without any. */
    first: first ? iso(first.at) : null,
    newest: newest ? iso(newest.at) : null,
    /** Identifiers of exchanges, newest first. */
    evidence: inTime.slice(0, MOST_EVIDENCE).map(({ exchange_id }) => exchange_id),
    ...(webhook && { webhook_id: webhook.webhook_id }),
  }
}

/** If the rule has no `lacking`, a result without evidence must have it. */
export function findingsOf(
  rule: RuleText & { lacking?: string },
  result: Result | undefined,
): Finding[] {
  if (!result) return []
  const { violations = [], right = [], passed = PASSED, unclear = [] } = result
  const { lacking = rule.lacking ?? '' } = result
  const found = violations.filter(({ evidence, times = evidence.length }) => times > 0)
  if (found.length > 0)
    return found.map(violation => findingOf(rule, violation.level ?? rule.level, violation))
  return right.length > 0
    ? [findingOf(rule, 'pass', { evidence: right, sentence: passed })]
    : [findingOf(rule, 'not seen', { evidence: unclear, sentence: lacking })]
}

const PASSED = 'Nothing that was seen breaks this rule.'

/** C10 comes after C9. A numeric `localeCompare` would load a collator at every start. */
export const byId = (one: string, other: string): number => rankOf(one) - rankOf(other)

const rankOf = (id: string): number => id.charCodeAt(0) * 1_000 + Number(id.slice(1))
