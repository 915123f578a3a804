import { iso } from '../../../core/time.ts'
import type { Exchange } from '../../record/exchange.ts'
import { type Finding, MOST_EVIDENCE, type RuleText, type Verdict } from './rule.ts'

/** A rule, or a part of one. */
export type Described = Omit<RuleText, 'level'>

type Shown = Pick<Exchange, 'exchange_id' | 'began' | 'at'>

/** What is reported of a rule, with the exchanges that show it, in any order. */
export function findingOf(
  { id, title, sentence, advice, source }: Described,
  level: Verdict,
  evidence: readonly Shown[],
): Finding {
  const inTime = evidence.toSorted((one, other) => one.began - other.began)
  const [first, newest] = [inTime[0], inTime.at(-1)]
  return {
    rule: id,
    level,
    title,
    sentence,
    advice,
    source,
    times: evidence.length,
    first: first ? iso(first.at) : null,
    newest: newest ? iso(newest.at) : null,
    evidence: inTime
      .slice(-MOST_EVIDENCE)
      .map(({ exchange_id }) => exchange_id)
      .toReversed(),
  }
}
