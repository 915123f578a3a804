import { attemptRules, requestRules } from './production.ts'
import type { AttemptFacts, RequestFacts, Rule } from './rule.ts'

export type Checks = {
  /** The keys of the rules that a request breaks. */
  request(facts: RequestFacts): string[]
  /** The keys of the rules that an attempt breaks. */
  attempt(facts: AttemptFacts): string[]
}

/**
 * The rules run beside the requests, on what clients send. One that throws breaks nothing and counts as not broken.
 * Only the first error is reported.
 */
export function createChecks(
  onFault: (error: unknown) => void,
  rules: { request: readonly Rule<RequestFacts>[]; attempt: readonly Rule<AttemptFacts>[] } = {
    request: requestRules,
    attempt: attemptRules,
  },
): Checks {
  let isReported = false
  const isBroken = <Facts>({ breaks }: Rule<Facts>, facts: Facts): boolean => {
    try {
      return breaks(facts)
    } catch (error) {
      if (!isReported) onFault(error)
      isReported = true
      return false
    }
  }
  const keysOf = <Facts>(among: readonly Rule<Facts>[], facts: Facts): string[] =>
    among.filter(rule => isBroken(rule, facts)).map(({ key }) => key)
  return {
    request: facts => keysOf(rules.request, facts),
    attempt: facts => keysOf(rules.attempt, facts),
  }
}
