/** The rules that follow from the list of differences: what production would make of a request, or of a message that was taken. */
import type { Behaviour } from '../../../core/account.ts'
import { version } from '../../../core/version.ts'
import { differences } from '../../../pay/differences/all.ts'
import { type Asked, type Difference, differs } from '../../../pay/differences/difference.ts'
import * as beyond from '../../../pay/differences/production.ts'
import type { Evidence } from '../../record/exchange.ts'
import { short } from './facts.ts'
import type { AccountRecord } from './record.ts'
import { hasSucceeded, type Judged, type Rule, type RuleText } from './rule.ts'

export type ProductionRow = RuleText & {
  /** Kept with the exchange: the id, and behind a hyphen what tells it from other rows of that id. */
  key: string
  lacking: string
  /** It is about messages. */
  messages: boolean
  /** It holds where the account behaves as GOV.UK Pay too. */
  always: boolean
  /** The exchanges that could break it. */
  could(each: Evidence): boolean
  breaks(behaviour: Behaviour, asked: Asked): boolean
}

function rowOf([name, each]: [string, Difference]): ProductionRow[] {
  const { rule, subject, govukPay, source } = each.about
  if (!rule) return []
  const { id, level, advice, among } = rule
  const { operation, modes, messages = false, lacking } = among
  const by = source.startsWith('https://docs') ? 'documentation' : 'source'
  return [
    {
      id,
      key: `${id}-${name}`,
      level,
      title: subject,
      sentence: `By its ${by} GOV.UK Pay: ${govukPay}.`,
      advice,
      source,
      lacking,
      messages,
      always: 'production' in each,
      could: ({ kind, created, ...done }) =>
        kind === (messages ? 'out' : 'api') &&
        (messages || hasSucceeded(done)) &&
        (typeof operation === 'string'
          ? operation === done.operation
          : operation?.test(done.operation) === true) &&
        (!modes || modes.some(mode => mode === created?.mode)),
      breaks: (behaviour, asked) => differs(each, behaviour, asked),
    },
  ]
}

export const productionRows: readonly ProductionRow[] = Object.entries<Difference>({
  ...differences,
  ...beyond,
}).flatMap(rowOf)

/** Kept with each exchange, because what another version recorded says nothing of a rule that it did not have. */
export const RULE_SET = short([version, ...productionRows.map(({ key }) => key)].join(' '))

/** Where the account behaves as GOV.UK Pay, its own answers say what differs. */
export const rowsFor = (behaviour: Behaviour): readonly ProductionRow[] =>
  behaviour === 'specification' ? productionRows : productionRows.filter(({ always }) => always)

/** Returns the texts of the broken rules of an exchange by their keys. Skips keys that this version does not know. */
export const showBroken = (keys: readonly string[] = []) =>
  productionRows
    .filter(({ key }) => keys.includes(key))
    .map(({ id, level, sentence, advice }) => ({ rule: id, level, sentence, advice }))

export const HAS_FAILED =
  'This rule is not judged: it failed by a mistake in Farthing. The log of the service has the error.'
const OTHER_VERSION =
  'This rule is not judged: another version of Farthing recorded what was seen, with other rules.'

/** The rules over the record: one for all rows of an id, with the text of the first. */
export const productionRules: readonly Rule[] = productionRows
  .filter(({ id }, i) => productionRows.findIndex(row => row.id === id) === i)
  .map(first => ({
    ...first,
    judge(record) {
      const rows = rowsFor(record.behaviour).filter(({ id }) => id === first.id)
      return rows.length > 0 ? judgeRows(rows, record) : undefined
    },
  }))

function judgeRows(rows: readonly ProductionRow[], { exchanges }: AccountRecord): Judged {
  const broken = rows
    .map(row => ({ ...row, evidence: exchanges.filter(each => each.broken?.includes(row.key)) }))
    .filter(({ evidence }) => evidence.length > 0)
  if (broken.length > 0) return { broken }
  const isUnjudged = ({ unjudged }: Evidence) => rows.some(({ key }) => unjudged?.includes(key))
  if (exchanges.some(isUnjudged)) return { lacking: HAS_FAILED }
  const seen = exchanges.filter(each => !each.hand && rows.some(row => row.could(each)))
  const right = seen.filter(({ judged }) => judged === RULE_SET)
  return right.length === 0 && seen.length > 0 ? { lacking: OTHER_VERSION } : { right }
}
