/** What the check says of an integration: where it would break with GOV.UK Pay. */

import { isSuccess } from '../../../core/http-status.ts'
import { iso } from '../../../core/time.ts'
import type { Level } from '../../../pay/differences/difference.ts'
import { type Webhook, webhookName } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AccountRecord } from './record.ts'

/** The worst first. `pass`: evidence was seen, and it is right. `not seen`: there was nothing to judge. */
export const levels = ['fail', 'warn', 'note', 'pass', 'not seen'] as const
export type Verdict = (typeof levels)[number]
export type { Level }

/**
 * What is shown of a rule that is broken. `id`: as in docs/check.md, such as P4. `level`: the worst, if there are several.
 * `title`: the subject. `source`: an address, made with `inCode` or `documented`.
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

/** A pure function over the record of an account. undefined: it is no rule for an account of this behaviour. */
type Judge = (record: AccountRecord) => Judged | undefined

/** `lacking`: said where nothing could be judged. `needs`: milliseconds of account time since what it judges. */
export type Row = [...text: TextRow, lacking: string, judge: Judge, needs?: number]

export const rulesOf = (rows: readonly Row[]): Rule[] =>
  rows.map(([id, level, title, sentence, advice, source, lacking, judge, needs = 0]) => {
    const text = textOf([id, level, title, sentence, advice, source])
    return { ...text, lacking, judge, needs }
  })
export type Rule = RuleText & { lacking: string; judge: Judge; needs?: number }

/** An exchange that shows something. */
type Sighting = Pick<Evidence, 'exchange_id' | 'began' | 'at'>

/** The result of a rule. If nothing is broken or right, nothing could be judged. */
export type Judged = {
  /** `times`: how often it was seen, if not every time is among the evidence. `webhook`: the one that it is about. */
  broken?: readonly (Partial<RuleText> & {
    evidence: readonly Sighting[]
    times?: number
    webhook?: Webhook
  })[]
  /** What could have broken it, and did not; and what is said then. */
  right?: readonly Sighting[]
  passed?: string
  /** Why nothing could be judged, in place of the rule's own sentence; and exchanges from which it cannot tell. */
  lacking?: string
  unclear?: readonly Sighting[]
}

export const idOf = ({ payment_id }: Evidence): string => payment_id ?? ''

export const hasSucceeded = ({ status }: Pick<Evidence, 'status'>): boolean => isSuccess(status)

export const hasDone = (operation: string) => (each: Pick<Evidence, 'operation' | 'status'>) =>
  each.operation === operation && hasSucceeded(each)

/** After these the source of GOV.UK Pay asks with a GET without body and signature. */
export const LOSING = [301, 302, 303]

/** A message that its receiver got whole and accepted. */
export const isTaken = ({ kind, status, redirected = 0, printed }: Evidence): boolean =>
  kind === 'out' && isSuccess(status) && !LOSING.includes(redirected) && !printed

/** What a report says of one rule, with what shows it. */
export type Finding = ReturnType<typeof findingOf>

export const MOST_EVIDENCE = 20

type Found = NonNullable<Judged['broken']>[number]

function findingOf({ id, title, advice, source, ...said }: RuleText, level: Verdict, found: Found) {
  const { evidence, times = evidence.length, webhook, sentence = said.sentence } = found
  const inTime = evidence.toReversed().toSorted((one, other) => other.began - one.began)
  const [newest, first] = [inTime[0], inTime.at(-1)]
  return {
    rule: id,
    level,
    title,
    /** What happens in production; with `not seen`, what is lacking. */
    sentence: webhook ? `${sentence} It is the webhook ${webhookName(webhook)}.` : sentence,
    advice,
    source,
    /** How often it was seen. */
    times,
    /** The account's times of the first and the newest; null where no exchange shows it. */
    first: first ? iso(first.at) : null,
    newest: newest ? iso(newest.at) : null,
    /** Identifiers of exchanges, newest first. */
    evidence: inTime.slice(0, MOST_EVIDENCE).map(({ exchange_id }) => exchange_id),
    ...(webhook && { webhook_id: webhook.webhook_id }),
  }
}

/** Of a rule without `lacking`, the result must have it where nothing could be judged. */
export function findingsOf(
  rule: RuleText & { lacking?: string },
  judged: Judged | undefined,
): Finding[] {
  if (!judged) return []
  const { broken = [], right = [], passed = PASSED, unclear = [] } = judged
  const { lacking = rule.lacking ?? '' } = judged
  const found = broken.filter(({ evidence, times = evidence.length }) => times > 0)
  if (found.length > 0)
    return found.map(each => findingOf({ ...rule, ...each }, each.level ?? rule.level, each))
  return right.length > 0
    ? [findingOf(rule, 'pass', { evidence: right, sentence: passed })]
    : [findingOf(rule, 'not seen', { evidence: unclear, sentence: lacking })]
}

const PASSED = 'Nothing that was seen breaks this rule.'

/** C10 comes after C9. A comparison of texts by number would load a collator, at every start. */
export const byId = (one: string, other: string): number => rankOf(one) - rankOf(other)

const rankOf = (id: string): number => id.charCodeAt(0) * 1_000 + Number(id.slice(1))
