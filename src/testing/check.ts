import { CheckFailed } from './errors.ts'
import type { Call } from './http.ts'
import type { CheckOptions, CheckReport } from './public.d.ts'
import { checkOptions, duration, isoOf, milliseconds, moment, oneOf, type Rule } from './values.ts'

/** The worst level first. */
const LEVELS = ['fail', 'warn', 'note'] as const

const rules: Record<keyof CheckOptions, Rule> = {
  since: moment,
  asOf: duration,
  failOn: oneOf(LEVELS),
  ignore: [
    value => Array.isArray(value) && value.every(id => /^[PCWR]\d{1,2}$/.test(String(id))),
    "is not a list of rules such as ['P3']",
  ],
}

/** Rules that a report may lack: those of probes, and those of the other behaviour. */
const OF_OTHERS = /^(?:R([1-9]|1[01])|P([1-9]|1\d|20))$/

/** Rejects with a CheckFailed when a rule is broken at the level of `failOn` or a worse one. */
export async function checkAccount(call: Call, keep: () => string, options: CheckOptions = {}) {
  checkOptions('check', options, rules)
  const { since, asOf, failOn = 'fail', ignore = [] } = options
  const query = new URLSearchParams({
    ...(since !== undefined && { since: isoOf(since) }),
    ...(asOf !== undefined && { as_of: `${Math.ceil(milliseconds(asOf) / 1_000)}s` }),
  })
  const whole: CheckReport = await call('GET', `/control/check?${query}`)
  const unknown = ignore.find(
    rule => !OF_OTHERS.test(rule) && !whole.findings.some(finding => finding.rule === rule),
  )
  if (unknown) throw new TypeError(`check: there is no rule ${unknown} to ignore`)
  const findings = whole.findings.filter(({ rule }) => !ignore.includes(rule))
  const counted: readonly string[] = LEVELS.slice(0, LEVELS.indexOf(failOn) + 1)
  const violations = findings.filter(({ level }) => counted.includes(level))
  if (violations.length > 0) throw new CheckFailed(violations, keep())
  return { ...whole, findings }
}
