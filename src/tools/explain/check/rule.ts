/** What the check says of an integration: where it would break with GOV.UK Pay. */
import type { AccountTime } from '../../../core/ports.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import type { Seen } from './seen.ts'

/** `fail`: will break in production. `warn`: is likely to. `note`: to know before going live. */
export type Level = 'fail' | 'warn' | 'note'

/** `pass`: evidence was seen, and it is right. `not seen`: there was nothing to judge. */
export type Verdict = Level | 'pass' | 'not seen'

/** What is shown of a rule that is broken. */
export type RuleText = {
  /** As in docs/check.md, such as P4. */
  id: string
  level: Level
  /** The subject in a few words. */
  title: string
  sentence: string
  advice: string
  /** The subject of a row of docs/spec-gaps.md, or a part of GOV.UK Pay's documentation. */
  source: string
}

/** The exchanges that would break a rule or, if they succeeded, show that it is kept. */
export type Among = {
  /** `any`: requests under /v1. `messages`: attempts to deliver one. */
  operations: readonly string[] | 'any' | 'messages'
  /** Said where there were none. */
  lacking: string
}

/** A rule that looks at one exchange when it is recorded: the whole body is at hand, and the card number too. */
export type Rule<Facts> = RuleText & {
  /** What is kept with the exchange. Rules of one id differ in level or sentence. */
  key: string
  /** The key of the rule with which it makes one finding, at the worse level. */
  with?: string
  among: Among
  breaks: (facts: Facts) => boolean
}

/** What a report says of one rule, with what shows it. */
export type Finding = {
  rule: string
  level: Verdict
  title: string
  /** What happens in production; with `not seen`, what is lacking. */
  sentence: string
  advice: string
  source: string
  /** How often it was seen. */
  times: number
  /** The account's times of the first and the newest; null where no exchange shows it. */
  first: string | null
  newest: string | null
  /** Identifiers of exchanges, newest first: at most MOST_EVIDENCE. */
  evidence: string[]
}

export const MOST_EVIDENCE = 20

/** A request under /v1 and its response, before anything is masked. */
export type RequestFacts = {
  operation: string
  /** Milliseconds of the account's time. */
  at: AccountTime
  status: number | null
  /** Of a refusal. */
  code: string | undefined
  description: string | undefined
  /** In lower case. */
  headers: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The fields of the JSON or of the form; {} without any. */
  body: Readonly<Record<string, unknown>>
}

/** An attempt to deliver a message. */
export type AttemptFacts = { event_type: string; failed: boolean }

/** What a rule over the record says, with the exchanges that show it. */
export type Judgement = {
  level: Level
  evidence: readonly Seen[]
  /** How often it was seen, if not every time is among the evidence. */
  times?: number
  /** In place of the rule's sentence. */
  sentence?: string
}

/** A rule that looks at the kept record of an account when somebody asks. */
export type RecordRule = Omit<RuleText, 'level'> & {
  key: string
  /** Said where nothing could be judged. */
  lacking: string
  judge: (facts: RecordFacts) => {
    broken: readonly Judgement[]
    /** What shows that it is kept. */
    right: readonly Seen[]
  }
}

/** The record of an account as the rules see it. Times in milliseconds. */
export type RecordFacts = {
  /** The account's time. */
  now: AccountTime
  /** In the order in which they began. Gaps are apart. */
  seen: readonly Seen[]
  ofPayment: ReadonlyMap<string, readonly Seen[]>
  /** Times of the machine between which exchanges were only counted. */
  gaps: readonly { from: number; to: number }[]
  /** The active ones, without those of `farthing listen`. */
  webhooks: readonly Webhook[]
  /** Agreements that were cancelled before they were active. */
  neverActive: ReadonlySet<string>
  /** Payments that have waited for a capture for a day, after which the account created another. */
  uncaptured: readonly string[]
}
