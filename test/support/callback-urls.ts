/** The cases of test/fixtures/callback-urls.json, and a Resolve with the addresses listed there. */
import type { Resolve } from '../../src/core/ports.ts'
import fixture from '../fixtures/callback-urls.json' with { type: 'json' }

type DnsAnswer = string[] | { error: string } | { sequence: string[][] }

export const callbackUrlCases = fixture.cases

/** Each new Resolve starts every sequence at its first entry. A name that is not listed has no address. */
export function createCaseResolve(): Resolve {
  const asked = new Map<string, number>()
  const answers: Record<string, DnsAnswer> = fixture.resolver
  return async host => {
    const nth = asked.get(host) ?? 0
    asked.set(host, nth + 1)
    const answer = answers[host] ?? []
    if (Array.isArray(answer)) return answer
    if ('error' in answer) return []
    return answer.sequence[Math.min(nth, answer.sequence.length - 1)] ?? []
  }
}
