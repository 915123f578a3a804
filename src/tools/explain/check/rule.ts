/** What the check says of an integration: where it would break with GOV.UK Pay. */
import type { AccountTime } from '../../../core/ports.ts'
import type { Webhook } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'

/** `fail`: will break in production. `warn`: is likely to. `note`: to know before going live. */
export type Level = 'fail' | 'warn' | 'note'

/** `pass`: evidence was seen, and it is right. `not seen`: there was nothing to judge. */
export type Verdict = Level | 'pass' | 'not seen'

/** What is shown of a rule that is broken. */
export type RuleText = {
  /** As in docs/check.md, such as P4. */
  id: string
  /** The worst where a rule has several. */
  level: Level
  /** The subject in a few words. */
  title: string
  sentence: string
  advice: string
  /** An address: see sources.ts. */
  source: string
}

/** An exchange that shows something. */
export type Shown = Pick<Evidence, 'exchange_id' | 'began' | 'at'>

/** What a rule says, with the exchanges that show it. */
export type Judgement = Partial<RuleText> & {
  evidence: readonly Shown[]
  /** How often it was seen, if not every time is among the evidence. */
  times?: number
  /** The webhook that it is about. */
  webhook?: Webhook
}

/**
 * A pure function with a text. What it looks at is the record of an account, or what a receiver answered to the messages
 * of a probe.
 */
export type Rule<Looked = AccountRecord> = RuleText & {
  /** Said where nothing could be judged. */
  lacking: string
  /** Milliseconds of account time that must have passed since what it judges. */
  needs?: number
  judge: (looked: Looked) => {
    broken: readonly Judgement[]
    /** What could have broken it, and did not. */
    right: readonly Shown[]
    /** In place of the rule's own. */
    lacking?: string
    /** What decides nothing. */
    unclear?: readonly Shown[]
    /** Said where it passes. */
    passed?: string
  }
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
  /** The webhook that it is about. */
  webhook_id?: string
}

export const MOST_EVIDENCE = 20

/** The record of an account as the rules see it, without what Farthing's own commands and the console sent. Times in milliseconds. */
export type AccountRecord = {
  /** The account's time, or the later one as of which is judged. */
  now: AccountTime
  /** As of a later time nobody can have gone on. */
  isLater: boolean
  /** In the order in which they began. Gaps are apart. */
  seen: readonly Evidence[]
  ofPayment: ReadonlyMap<string, readonly Evidence[]>
  /** Times of the machine between which exchanges were only counted. */
  gaps: readonly { from: number; to: number }[]
  /** The active ones, without those of `farthing listen`. */
  webhooks: readonly Webhook[]
  /** Agreements that were cancelled before they were active. */
  neverActive: ReadonlySet<string>
  /** Payments that the API made, and that are capturable since this time of the account. */
  capturable: readonly { payment_id: string; since: AccountTime }[]
  /** When the newest payment of the account was created; 0 without any. */
  newest: number
  /** Payments that the API made, and that nobody ended. */
  open: readonly string[]
}
