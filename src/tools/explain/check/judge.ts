/** The production rules at work: on an exchange when it is recorded, and on what was kept. */
import { version } from '../../../core/version.ts'
import type { Evidence, Facts, Headers } from '../../record/exchange.ts'
import type { FactWriter, RawRequest } from '../../record/row.ts'
import { factsOfAttempt, factsOfRequest, readRequest, short } from './facts.ts'
import { attemptRows, type ProductionRow, requestRows } from './production.ts'
import type { AccountRecord } from './record.ts'
import type { Judged, Rule } from './rule.ts'

type ProductionRule = ProductionRow & { id: string }

export const productionRows: readonly ProductionRule[] = [...requestRows, ...attemptRows].map(
  row => ({ ...row, id: row.key.replace(/-.*/, '') }),
)

/** Kept with each exchange, because what another version recorded says nothing of a rule that it did not have. */
const RULE_SET = short([version, ...productionRows.map(({ key }) => key)].join(' '))

/** Returns the texts of the broken rules of an exchange by their keys. Skips keys that this version does not know. */
export const showBroken = (keys: readonly string[] = []) =>
  productionRows
    .filter(({ key }) => keys.includes(key))
    .map(({ id, level, sentence, advice }) => ({ rule: id, level, sentence, advice }))

/**
 * The rules run beside the requests, on what clients send. One that throws breaks nothing, and is kept as one that has
 * not judged the exchange. Only the first error is reported.
 */
export function createFactWriter(onFault: (error: unknown) => void): FactWriter {
  let isReported = false
  const guarded = <Read>(read: () => Read): Read | undefined => {
    try {
      return read()
    } catch (error) {
      if (!isReported) onFault(error)
      isReported = true
      return undefined
    }
  }
  function judge<Looked>(among: readonly ProductionRow<Looked>[], looked: Looked): Facts {
    const judged = Map.groupBy(among, ({ breaks }) => guarded(() => breaks(looked)))
    const [broken, unjudged] = [true, undefined].map(as => judged.get(as)?.map(({ key }) => key))
    return { judged: RULE_SET, ...(broken && { broken }), ...(unjudged && { unjudged }) }
  }
  const factsOf = (raw: RawRequest, headers: Headers): Facts => {
    if (raw.kind === 'page' || !raw.url.startsWith('/v1/')) return factsOfRequest(raw, headers)
    const read = readRequest(raw, headers)
    const facts = factsOfRequest(raw, headers, read)
    // A response that a plan made says nothing about the request.
    const isJudged = raw.ended !== 'replaced' && !facts.own
    // Where the account behaves as GOV.UK Pay, its own answer says what differs.
    const rows = raw.behaviour === 'specification' ? requestRows : []
    return { ...(isJudged && judge(rows, read)), ...facts }
  }
  return {
    request: (raw, headers) => guarded(() => factsOf(raw, headers)) ?? unjudgedBy(requestRows),
    attempt: raw =>
      guarded(() => ({
        ...(!raw.byHand && judge(attemptRows, raw)),
        ...factsOfAttempt(raw),
      })) ?? unjudgedBy(attemptRows),
  }
}

/** The facts of what could not be read by a mistake in Farthing. */
const unjudgedBy = (rows: readonly { key: string }[]): Facts => ({
  judged: RULE_SET,
  unjudged: rows.map(({ key }) => key),
})

export const HAS_FAILED =
  'This rule is not judged: it failed by a mistake in Farthing. The log of the service has the error.'
const OTHER_VERSION =
  'This rule is not judged: another version of Farthing recorded what was seen, with other rules.'

/** The rules over the record: one for all rows of an id, with the text of the first. */
export const productionRules: readonly Rule[] = productionRows
  .filter((row, i) => productionRows.findIndex(({ id }) => id === row.id) === i)
  .map(first => {
    const rows = productionRows.filter(({ id }) => id === first.id)
    return { ...first, lacking: first.among.lacking, judge: record => judgeRows(rows, record) }
  })

function judgeRows(rows: readonly ProductionRule[], { exchanges }: AccountRecord): Judged {
  const broken = rows
    .map(row => ({ ...row, evidence: exchanges.filter(each => each.broken?.includes(row.key)) }))
    .filter(({ evidence }) => evidence.length > 0)
  if (broken.length > 0)
    return { broken: broken.filter(({ key }) => !broken.some(each => each.insteadOf === key)) }
  const isUnjudged = ({ unjudged }: Evidence) => rows.some(({ key }) => unjudged?.includes(key))
  if (exchanges.some(isUnjudged)) return { lacking: HAS_FAILED }
  const could = (each: Evidence) => rows.some(({ among }) => among.could?.(each))
  const seen = exchanges.filter(each => could(each) && !each.hand)
  const right = seen.filter(({ judged }) => judged === RULE_SET)
  return right.length === 0 && seen.length > 0 ? { lacking: OTHER_VERSION } : { right }
}
