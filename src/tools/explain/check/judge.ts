import type { Judge, Judged } from '../../record/exchange.ts'
import { factsOf } from './facts.ts'
import { attemptRules, RULE_SET, requestRules } from './production.ts'
import type { AttemptFacts, RequestFacts, Rule } from './rule.ts'

/**
 * The rules run beside the requests, on what clients send. One that throws breaks nothing, and is kept as one that has
 * not judged the exchange. Only the first error is reported.
 */
export function createJudge(
  onFault: (error: unknown) => void,
  rules: { request: readonly Rule<RequestFacts>[]; attempt: readonly Rule<AttemptFacts>[] } = {
    request: requestRules,
    attempt: attemptRules,
  },
): Judge {
  let isReported = false
  function judge<Facts>(among: readonly Rule<Facts>[], facts: Facts): Judged {
    const [broken, unjudged]: [string[], string[]] = [[], []]
    for (const { key, breaks } of among)
      try {
        if (breaks(facts)) broken.push(key)
      } catch (error) {
        if (!isReported) onFault(error)
        isReported = true
        unjudged.push(key)
      }
    return {
      judged: RULE_SET,
      ...(broken.length > 0 && { broken }),
      ...(unjudged.length > 0 && { unjudged }),
    }
  }
  return {
    request: request => judge(rules.request, factsOf(request)),
    attempt: attempt => judge(rules.attempt, attempt),
  }
}
