/** A report of the check in the form of JUnit, as the schema junit-10.xsd of Jenkins describes it. */
import type { Body } from './running-service.ts'

/** XML 1.0 allows no other control characters, and no half of a character. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(FORBIDDEN, '\u{FFFD}')
    .replace(/[&<>"]/g, found => ENTITIES[found] ?? '')

/** `failing` are those of its findings that count as failures. */
export function junitOf({ account, to, findings, situations }: Body, failing: Body[]): string {
  const rules: Body[][] = [...Map.groupBy(findings, ({ rule }: Body) => rule).values()]
  const failed = rules.filter(rule => rule.some(each => failing.includes(each)))
  const skipped = rules.filter(([first]) => first.level === 'not seen')
  const suite = [
    'name="farthing check"',
    `tests="${rules.length}"`,
    `failures="${failed.length}"`,
    'errors="0"',
    `skipped="${skipped.length}"`,
    'time="0"',
    `timestamp="${escaped(to)}"`,
    `package="${escaped(account)}"`,
  ]
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `<testsuite ${suite.join(' ')}>`,
    ...rules.flatMap(rule => testCase(rule, failing)),
    `<system-out>${escaped(situations.map(situationLine).join('\n'))}</system-out>`,
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const situationLine = ({ situation, met, evidence, line }: Body): string =>
  met ? `met: ${situation} (${evidence})` : `not met: ${situation}. ${line}`

function testCase(findings: Body[], failing: Body[]): string[] {
  const [{ rule, title }] = findings
  const lines = findings.flatMap(finding => {
    const { level, sentence, advice, source, evidence, times } = finding
    if (level === 'not seen') return [`<skipped message="${escaped(sentence)}"/>`]
    const often = times === 1 ? 'once' : `${times} times`
    const seen = [`${level}, seen ${often}`, ...evidence]
    const text = [sentence, ...(level === 'pass' ? [] : [advice, `Source: ${source}`])]
    const output = (lines: string[]) => `<system-out>${escaped(lines.join('\n'))}</system-out>`
    if (!failing.includes(finding)) return [output([...text, ...seen])]
    const message = escaped(sentence)
    return [
      `<failure type="${level}" message="${message}">${escaped(text.join('\n'))}</failure>`,
      output(seen),
    ]
  })
  const name = escaped(`${rule} ${title}`)
  return [`<testcase classname="farthing.check" name="${name}" time="0">`, ...lines, '</testcase>']
}
