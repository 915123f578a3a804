/** The table *Where GOV.UK Pay differs* of docs/spec-gaps.md. */
import { differences } from '../src/pay/differences/all.ts'
import type { Difference } from '../src/pay/differences/difference.ts'
import { sourceName } from '../src/pay/differences/source.ts'

const START = '<!-- differences: npm run examples writes this table from src/pay/differences -->\n'
const END = '<!-- end of differences -->'

const inCell = (text: string): string => text.replaceAll('|', '\\|')

const isRule = (text: string | undefined): text is string => /^P\d+$/.test(text ?? '')

const rowOf = ({ about }: Difference): string => {
  const { subject, govukPay, specification, source, rule, noRule } = about
  const cells = [
    subject,
    `${govukPay} ([${sourceName(source)}](${source}))`,
    specification,
    rule?.id ?? (isRule(noRule) ? noRule : 'none'),
  ]
  return `| ${cells.map(inCell).join(' | ')} |\n`
}

/** The text of the document with the table as it is now. */
export function withTable(document: string): string {
  const [before = '', rest = ''] = document.split(START)
  const after = rest.slice(rest.indexOf(END))
  const rows = Object.values(differences).map(rowOf).join('')
  const head = '| Subject | GOV.UK Pay | Specification | Rule |\n|---|---|---|---|\n'
  return `${before}${START}\n${head}${rows}\n${after}`
}
