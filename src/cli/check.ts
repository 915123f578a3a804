import { writeFileSync } from 'node:fs'
import { asTypedHere } from '../core/invocation.ts'
import { iso } from '../core/time.ts'
import { duration } from '../core/values.ts'
import { type Html, html } from '../platform/web/html.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { colour, note, oneLine, print, printJson } from './output.ts'
import { option } from './parse.ts'
import { accountTime, type Body, connect, type Service, serviceOptions } from './running-service.ts'

/** The worst level first. */
const LEVELS = ['fail', 'warn', 'note'] as const
type Level = (typeof LEVELS)[number]

/** The same limit as in the control API. */
const later = option(duration(365))

const options = {
  since: {
    value: '<time>',
    meaning: 'such as 30s, 1h, 1d on the account’s clock (default: all that is kept)',
    parse: option(duration(36_525)),
  },
  asOf: {
    value: '<time>',
    meaning:
      'judge as if so much time had passed, such as 1d: outcomes that nobody has read by then',
    parse: (text: string) => {
      later(text)
      return text
    },
  },
  failOn: {
    value: '<level>',
    meaning: 'exit code 3 from this level on: fail, warn or note (default: fail)',
    values: LEVELS,
  },
  ignore: {
    value: '<rules>',
    meaning: 'such as P5,W1',
    parse: (text: string, before: string[] = []) => [
      ...before,
      ...text.split(',').map(rule => rule.trim()),
    ],
    isRepeatable: true,
  },
  situations: { meaning: 'print only which situations of production the application has met' },
  junit: { value: '<file>', meaning: 'also write a JUnit report, with a test case for each rule' },
  probe: {
    value: '<webhook-id>',
    meaning: 'also send messages to this webhook that try its receiver',
  },
  ...serviceOptions,
} as const
type CheckOptions = OptionsOf<typeof options>

/** Rules that a report may lack: those of probes, and those of the other behaviour. */
const OF_OTHERS = /^(?:R([1-9]|1[01])|P([1-9]|1\d|20))$/

export const check = defineCommand({
  summary: 'say what would break in production',
  more: 'It looks at the requests and webhook messages that the service has recorded. The page Check of the console lists all rules.',
  examples: [
    'farthing check',
    'farthing check --as-of 1d --since 1h --fail-on warn --ignore P5,W1',
    'farthing check --junit check.xml',
    'farthing check --situations',
  ],
  options,
  exitCodes: {
    [EXIT.failed]:
      'nothing was judged, the webhook of --probe is unknown, or the report could not be written',
    [EXIT.wrong]: 'a rule is broken, at the level of --fail-on or a worse one',
  },
  async run({ config, options }) {
    const { failOn = 'fail', ignore = [], junit, json } = options
    if (options.situations && (options.probe ?? options.ignore ?? options.failOn))
      throw wrongUsage('--situations shows no rule: leave out --probe, --ignore and --fail-on')
    const service = await connect(config(), options)
    const report = await readReport(service, options)
    const known: string[] = report.findings.map(({ rule }: Body) => rule)
    for (const rule of ignore)
      if (!known.includes(rule) && !OF_OTHERS.test(rule))
        throw wrongUsage(`There is no rule ${oneLine(rule)} to ignore.`)
    report.findings = report.findings.filter(({ rule }: Body) => !ignore.includes(rule))
    const counted: readonly string[] = LEVELS.slice(0, LEVELS.indexOf(failOn) + 1)
    const failing = report.findings.filter(({ level }: Body) => counted.includes(level))
    if (junit !== undefined) write(junit, junitOf(report, failing))
    if (json) printJson(options.situations ? report.situations : report)
    else if (options.situations) await showSituations(report, service)
    else show(report, service.url)
    if (options.situations) return 0
    if (failing.length > 0) return EXIT.wrong
    refuseNotSeen(report, options)
    return 0
  },
})

const isOfProbe = ({ rule }: Body): boolean => /^R\d/.test(rule)
const isNotSeen = ({ level }: Body): boolean => level === 'not seen'

function refuseNotSeen({ findings, kept }: Body, { probe }: CheckOptions): void {
  const ofProbe = findings.filter(isOfProbe)
  if (probe !== undefined && ofProbe.every(isNotSeen))
    throw new CommandError('The probe judged nothing, so nothing of it has passed.')
  if (!findings.every(isNotSeen)) return
  const why =
    kept > 0
      ? ''
      : ' Run your tests before. A test account has a record of its own: check it with its key, or with account.check().'
  throw new CommandError(`Nothing was judged, so nothing has passed.${why}`)
}

async function readReport(service: Service, options: CheckOptions): Promise<Body> {
  const { since, asOf, probe } = options
  const query = new URLSearchParams({
    ...(since !== undefined && { since: iso((await accountTime(service)) - since) }),
    ...(asOf !== undefined && { as_of: asOf }),
  })
  const path = `/control/webhooks/${encodeURIComponent(probe ?? '')}/probe`
  const probed = probe === undefined ? undefined : await service.ask('POST', path)
  const report = await service.ask('GET', `/control/check?${query}`)
  return {
    ...report,
    findings: [...report.findings, ...(probed?.findings ?? [])].map(finding => ({
      ...finding,
      advice: asTypedHere(finding.advice),
    })),
    situations: report.situations.map((situation: Body) => ({
      ...situation,
      line: asTypedHere(situation.line).replace('$FARTHING_URL', service.url),
    })),
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new CommandError(`${file} could not be written: ${String(error)}`)
  }
}

const COLOURS = { fail: 'red', warn: 'yellow', note: 'cyan' } as const

function show({ kept, not_kept, from, to, findings, situations }: Body, url: string): void {
  const missing = not_kept > 0 ? `; ${not_kept} more were not kept` : ''
  const window =
    from === null
      ? 'Nothing was recorded, so nothing was checked'
      : `${kept} requests and deliveries since ${from}`
  print(`${window}${missing}. The account’s clock says ${to}.`)
  const byLevel = Map.groupBy<string, Body>(findings, ({ level }) => level)
  for (const level of LEVELS)
    for (const finding of byLevel.get(level) ?? []) showOne(level, finding, url)
  const count = (level: string) => byLevel.get(level)?.length ?? 0
  print(
    `\n${count('fail')} fail, ${count('warn')} warn, ${count('note')} note. Passed: ${count('pass')}. Nothing to judge: ${count('not seen')}.`,
  )
  const { line: probe } = situations.find(({ line }: Body) => line.includes('check --probe')) ?? {}
  if (probe && !findings.some(isOfProbe)) print(`Receivers: not probed in this run: ${probe}`)
  const ofState = (state: boolean | null) =>
    situations.filter(({ met }: Body) => met === state).length
  const unclear = ofState(null) > 0 ? `, ${ofState(null)} cannot be seen` : ''
  print(
    `Situations of production: ${ofState(true)} of ${situations.length} met${unclear}. --situations has the others.`,
  )
  if (count('fail') + count('warn') + count('note') > 0)
    note(`${url}/console/check has all rules. --ignore leaves some out.`)
  const notSeen = findings.filter(isOfProbe).filter(isNotSeen)
  for (const [sentence, rules] of Map.groupBy(notSeen, ({ sentence }: Body) => sentence)) {
    const ids = rules.map(({ rule }: Body) => rule)
    print(`\nNot judged: ${ids.join(', ')}\n  ${oneLine(sentence, 500)}`)
  }
}

async function showSituations({ situations }: Body, { ask, url }: Service): Promise<void> {
  const { has } = await ask('GET', '/control')
  if (!has.includes('plans'))
    print('Start Farthing with FARTHING_CONTROL=true: the lines with /control/ need it.')
  for (const { situation, met, evidence, line } of situations) {
    print(`${metName(met).padEnd(14)}  ${oneLine(situation)}`)
    if (evidence !== null) print(`                ${url}/console/requests/${evidence}`)
    if (!met) print(`                ${oneLine(uncommented(line), 500)}`)
  }
}

const often = (times: number): string => (times === 1 ? 'once' : `${times} times`)

function showOne(level: Level, finding: Body, url: string): void {
  const { rule, title, sentence, advice, times, evidence } = finding
  print(`\n${colour(COLOURS[level], `${rule} ${level}`)}  ${oneLine(title)} (${often(times)})`)
  print(`  ${oneLine(sentence, 500)}`)
  print(`  ${oneLine(advice, 500)}`)
  if (evidence.length > 0) print(`  ${url}/console/requests/${evidence[0]}`)
}

/** XML 1.0 allows no other control characters, and no half of a character. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

/** `failing`: the findings that count as failures. The tag `html` escapes for XML as well. */
function junitOf({ account, to, findings, situations }: Body, failing: Body[]): string {
  const rules: Body[][] = [...Map.groupBy(findings, ({ rule }: Body) => rule).values()]
  const failed = rules.filter(rule => rule.some(finding => failing.includes(finding)))
  const skipped = rules.filter(([first]) => first.level === 'not seen')
  const document = html`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="farthing check" tests="${rules.length}" failures="${failed.length}" errors="0" skipped="${skipped.length}" time="0" timestamp="${to}" package="${account}">
${rules.map(
  rule => html`<testcase classname="farthing.check" name="${rule[0].rule} ${rule[0].title}" time="0">
${rule.map(finding => resultOf(finding, failing))}</testcase>
`,
)}${systemOut(situations.map(situationLine))}</testsuite>
</testsuites>
`
  return String(document).toWellFormed().replace(FORBIDDEN, '\u{FFFD}')
}

const metName = (met: boolean | null): string =>
  met === null ? 'cannot be seen' : met ? 'met' : 'not met'

/** The line, or if it is only a comment, the text of that comment. */
const uncommented = (line: string): string => line.replace(/^# /, '')

const situationLine = ({ situation, met, evidence, line }: Body): string =>
  [`${metName(met)}: ${situation}`, evidence && `(${evidence})`, met ? '' : uncommented(line)]
    .filter(Boolean)
    .join(' ')

const systemOut = (lines: string[]) => html`<system-out>${lines.join('\n')}</system-out>\n`

function resultOf(finding: Body, failing: Body[]): Html {
  const { level, sentence, advice, source, evidence, times } = finding
  if (level === 'not seen') return html`<skipped message="${sentence}"/>\n`
  const seen = [`${level}, seen ${often(times)}`, ...evidence]
  const text = [sentence, ...(level === 'pass' ? [] : [advice, `Source: ${source}`])]
  if (!failing.includes(finding)) return systemOut([...text, ...seen])
  return html`<failure type="${level}" message="${sentence}">${text.join('\n')}</failure>
${systemOut(seen)}`
}
