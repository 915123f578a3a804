/** The production rules at work: on an exchange when it is recorded, and on what was kept. */
import { hash } from 'node:crypto'
import { version } from '../../../core/version.ts'
import type { Facts } from '../../record/exchange.ts'
import type { AnsweredAttempt, Judge } from '../../record/row.ts'
import { factsOfAttempt, factsOfRequest, type ReadRequest, readRequest } from './facts.ts'
import { attemptRows, type ProductionRule, requestRows } from './production.ts'
import type { AccountRecord } from './record.ts'
import { HAS_FAILED, type Level, type Rule } from './rule.ts'

export const productionRows: readonly ProductionRule[] = [...requestRows, ...attemptRows]

const allKeys = productionRows.map(({ key }) => key).join(' ')

/** Kept with each exchange, because what another version recorded says nothing of a rule that it did not have. */
const RULE_SET = hash('sha1', `${version} ${allKeys}`).slice(0, 8)

type BrokenRule = { rule: string; level: Level; sentence: string; advice: string }

/** Returns the texts of the broken rules of an exchange by their keys. Skips keys that this version does not know. */
export const showBroken = (keys: readonly string[] = []): BrokenRule[] =>
  productionRows
    .filter(({ key }) => keys.includes(key))
    .map(({ id, level, sentence, advice }) => ({ rule: id, level, sentence, advice }))

type Rules = {
  request: readonly ProductionRule<ReadRequest>[]
  attempt: readonly ProductionRule<Pick<AnsweredAttempt, 'event_type' | 'failed'>>[]
}

/**
 * The rules run beside the requests, on what clients send. One that throws breaks nothing, and is kept as one that has
 * not judged the exchange. Only the first error is reported.
 */
export function createJudge(
  onFault: (error: unknown) => void,
  rules: Rules = { request: requestRows, attempt: attemptRows },
): Judge {
  let isReported = false
  const report = (error: unknown) => {
    if (!isReported) onFault(error)
    isReported = true
  }
  function judge<Looked>(among: readonly ProductionRule<Looked>[], looked: Looked): Facts {
    const [broken, unjudged]: [string[], string[]] = [[], []]
    for (const { key, breaks } of among)
      try {
        if (breaks(looked)) broken.push(key)
      } catch (error) {
        report(error)
        unjudged.push(key)
      }
    return {
      judged: RULE_SET,
      ...(broken.length > 0 && { broken }),
      ...(unjudged.length > 0 && { unjudged }),
    }
  }
  const guarded = (read: () => Facts): Facts => {
    try {
      return read()
    } catch (error) {
      report(error)
      return {}
    }
  }
  return {
    request: (raw, headers) =>
      guarded(() => {
        if (raw.kind === 'page' || !raw.url.startsWith('/v1/')) return factsOfRequest(raw, headers)
        const read = readRequest(raw, headers)
        const facts = factsOfRequest(raw, headers, read)
        // A response that a plan made says nothing about the request.
        const isJudged = raw.ended !== 'replaced' && !facts.own
        return { ...(isJudged && judge(rules.request, read)), ...facts }
      }),
    attempt: raw =>
      guarded(() => ({
        ...(!raw.byHand && judge(rules.attempt, raw)),
        ...factsOfAttempt(raw),
      })),
  }
}

const OTHER_VERSION =
  'This rule is not judged: another version of Farthing recorded what was seen, with other rules.'

/** The rules over the record. Rows linked by `with` are reported as one rule, at the worst level that was broken. */
export const productionRules: readonly Rule[] = productionRows
  .filter(row => row.with === undefined)
  .map((row): Rule => {
    const rows = [...productionRows.filter(each => each.with === row.key), row]
    return { ...row, lacking: row.among.lacking, judge: record => judgeRows(rows, row, record) }
  })

function judgeRows(
  rows: ProductionRule[],
  { key, among }: ProductionRule,
  { exchanges }: AccountRecord,
) {
  for (const { level, sentence, key: broken } of rows) {
    const evidence = exchanges.filter(each => each.broken?.includes(broken))
    if (evidence.length > 0) return { broken: [{ level, sentence, evidence }], right: [] }
  }
  const could = exchanges.filter(each => among.could(each) && !each.hand)
  const right = could.filter(({ judged }) => judged === RULE_SET)
  const hasFailed = exchanges.some(({ unjudged }) => unjudged?.includes(key))
  const isUnjudged = hasFailed || (could.length > 0 && right.length === 0)
  return {
    broken: [],
    right: hasFailed ? [] : right,
    ...(isUnjudged && { lacking: hasFailed ? HAS_FAILED : OTHER_VERSION }),
  }
}
