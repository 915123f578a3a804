/** What the check says of an integration: where it would break with GOV.UK Pay. */

import { isSuccess } from '../../../core/http-status.ts'
import { iso } from '../../../core/time.ts'
import { type Webhook, webhookName } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AccountRecord } from './record.ts'

/**
 * `fail`: will break in production. `warn`: is likely to. `note`: to know before going live. `pass`: evidence was seen, and
 * it is right. `not seen`: there was nothing to judge.
 */
export const levels = ['fail', 'warn', 'note', 'pass', 'not seen'] as const
export type Verdict = (typeof levels)[number]
export type Level = Exclude<Verdict, 'pass' | 'not seen'>

/** What is shown of a rule that is broken. */
export type RuleText = ReturnType<typeof textOf>

/**
 * `id`: as in docs/check.md, such as P4. `level`: the worst one, if the rule has several. `title`: the subject in a few
 * words. `source`: an address, made with `inCode` or `documented`.
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

/** An exchange that shows something. */
type Sighting = Pick<Evidence, 'exchange_id' | 'began' | 'at'>

export const hasSucceeded = ({ status }: Pick<Evidence, 'status'>): boolean => isSuccess(status)

export const hasDone = (operation: string) => (each: Pick<Evidence, 'operation' | 'status'>) =>
  each.operation === operation && hasSucceeded(each)

/** After these the source of GOV.UK Pay asks with a GET without body and signature. */
export const LOSING = [301, 302, 303]

/** A message that its receiver got whole and accepted. */
export const isTaken = ({ kind, status, redirected = 0, printed }: Evidence): boolean =>
  kind === 'out' && isSuccess(status) && !LOSING.includes(redirected) && !printed

/** What a rule says, with the exchanges that show it. */
type Judgement = Partial<RuleText> & {
  evidence: readonly Sighting[]
  /** How often it was seen, if not every time is among the evidence. */
  times?: number
  /** The webhook that it is about. */
  webhook?: Webhook
}

/** The result of a rule. If nothing is broken or right, nothing could be judged. */
export type Judged = {
  broken?: readonly Judgement[]
  /** What could have broken it, and did not. */
  right?: readonly Sighting[]
  /** Why nothing could be judged, in place of the rule's own sentence. */
  lacking?: string
  /** Exchanges from which the rule cannot tell. */
  unclear?: readonly Sighting[]
  /** Said where it passes. */
  passed?: string
}

/** A pure function over the record of an account, with a text. */
export type Rule = RuleText & {
  /** Said where nothing could be judged. */
  lacking: string
  /** Milliseconds of account time that must have passed since what it judges. */
  needs?: number
  /** undefined: it is no rule for an account of this behaviour. */
  judge: (record: AccountRecord) => Judged | undefined
}

/** What a report says of one rule, with what shows it. */
export type Finding = ReturnType<typeof findingOf>

export const MOST_EVIDENCE = 20

function findingOf(found: Omit<RuleText & Judgement, 'level'> & { level: Verdict }) {
  const { id, level, title, sentence, advice, source, webhook } = found
  const { evidence, times = evidence.length } = found
  const inTime = evidence.toSorted((one, other) => one.began - other.began)
  const [first, newest] = [inTime[0], inTime.at(-1)]
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
    /** Identifiers of exchanges, newest first: at most MOST_EVIDENCE. */
    evidence: inTime
      .toReversed()
      .slice(0, MOST_EVIDENCE)
      .map(({ exchange_id }) => exchange_id),
    /** The webhook that it is about. */
    ...(webhook && { webhook_id: webhook.webhook_id }),
  }
}

/** Of a rule without `lacking`, the result must have it where nothing could be judged. */
export function findingsOf(
  rule: RuleText & { lacking?: string },
  judged: Judged | undefined,
): Finding[] {
  if (!judged) return []
  const { broken = [], right = [], unclear = [], passed = PASSED } = judged
  const { lacking = rule.lacking ?? '' } = judged
  const found = broken.filter(({ evidence, times = evidence.length }) => times > 0)
  if (found.length > 0) return found.map(each => findingOf({ ...rule, ...each }))
  if (right.length > 0)
    return [findingOf({ ...rule, level: 'pass', sentence: passed, evidence: right })]
  return [findingOf({ ...rule, level: 'not seen', sentence: lacking, evidence: unclear })]
}

const PASSED = 'Nothing that was seen breaks this rule.'

/** C10 comes after C9. A comparison of texts by number would load a collator, at every start. */
export const byId = (one: string, other: string): number => rankOf(one) - rankOf(other)

const rankOf = (id: string): number => id.charCodeAt(0) * 1_000 + Number(id.slice(1))
