/** Rules from the list of differences. They are evaluated when an exchange is recorded; the check reads the results. */
import type { Behaviour } from '../../../core/account.ts'
import { version } from '../../../core/version.ts'
import { differences } from '../../../pay/differences/all.ts'
import { type Asked, type Difference, differs } from '../../../pay/differences/difference.ts'
import * as beyond from '../../../pay/differences/production.ts'
import type { Evidence, Facts, Headers } from '../../record/exchange.ts'
import type { AnsweredAttempt, FactWriter, RawRequest } from '../../record/row.ts'
import { factsOfAttempt, factsOfRequest, readRequest, short } from './facts.ts'
import type { AccountRecord } from './record.ts'
import { hasSucceeded, type Result, type Rule } from './rule.ts'

/** A row of a rule. The exchange keeps its `key`: the id, a hyphen, and the name of the difference. */
export type ProductionRow = ReturnType<typeof rowOf>[number]

function rowOf([name, difference]: [string, Difference]) {
  const { rule, subject, govukPay, source } = difference.about
  if (!rule) return []
  const { id, level, advice, among } = rule
  const { operation, modes, messages = false, lacking } = among
  /** Whether the row is about this operation, or this type of message. */
  const isAbout = (name: string) =>
    typeof operation === 'string' ? operation === name : (operation?.test(name) ?? true)
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
      /** Whether the row holds for accounts that behave as GOV.UK Pay too. */
      always: 'production' in difference,
      isAbout,
      /** Whether an exchange could break the row. */
      could: (seen: Evidence) =>
        seen.kind === (messages ? 'out' : 'api') &&
        (messages || hasSucceeded(seen)) &&
        operation !== undefined &&
        isAbout(seen.operation) &&
        (!modes || modes.some(mode => mode === seen.created?.mode)),
      breaks: (behaviour: Behaviour, asked: Asked) => differs(difference, behaviour, asked),
    },
  ]
}

export const productionRows = Object.entries<Difference>({ ...differences, ...beyond }).flatMap(
  rowOf,
)

/** Kept with each exchange, because another version may have recorded it without some of these rules. */
const RULE_SET = short([version, ...productionRows.map(({ key }) => key)].join(' '))

/** An account of `govuk-pay` shows most differences in its own answers, so it has only the rows that hold always. */
const rowsFor = (behaviour: Behaviour) =>
  behaviour === 'specification' ? productionRows : productionRows.filter(({ always }) => always)

/** Returns the texts of the broken rules of an exchange by their keys. Skips keys that this version does not know. */
export const violationsOf = (keys: readonly string[] = []) =>
  productionRows
    .filter(({ key }) => keys.includes(key))
    .map(({ id, level, title, sentence, advice }) => ({ rule: id, level, title, sentence, advice }))

export const HAS_FAILED =
  'This rule is not judged: it failed by a mistake in Farthing. The log of the service has the error.'
const OTHER_VERSION =
  'This rule is not judged: another version of Farthing recorded what was seen, with other rules.'

/** One rule for all rows of an id, with the text of the first row. */
export const productionRules: readonly Rule[] = productionRows
  .filter(({ id }, i) => productionRows.findIndex(row => row.id === id) === i)
  .map(first => ({
    ...first,
    evaluate(record) {
      const rows = rowsFor(record.behaviour).filter(({ id }) => id === first.id)
      return rows.length > 0 ? resultOf(rows, record) : undefined
    },
  }))

function resultOf(rows: readonly ProductionRow[], { exchanges }: AccountRecord): Result {
  const violations = rows
    .map(row => ({ ...row, evidence: exchanges.filter(({ broken }) => broken?.includes(row.key)) }))
    .filter(({ evidence }) => evidence.length > 0)
  if (violations.length > 0) return { violations }
  const isUnjudged = ({ unjudged }: Evidence) => rows.some(({ key }) => unjudged?.includes(key))
  if (exchanges.some(isUnjudged)) return { lacking: HAS_FAILED }
  const seen = exchanges.filter(exchange => !exchange.hand && rows.some(row => row.could(exchange)))
  const right = seen.filter(({ judged }) => judged === RULE_SET)
  return right.length === 0 && seen.length > 0 ? { lacking: OTHER_VERSION } : { right }
}

/** A cache of rows. Its keys, a behaviour with an operation or type of message, are few. */
const chosen = new Map<string, readonly ProductionRow[]>()

function rowsAbout(behaviour: Behaviour, operation: string, ofMessages = false) {
  const key = `${behaviour} ${operation}`
  const rows =
    chosen.get(key) ??
    rowsFor(behaviour).filter(row => row.messages === ofMessages && row.isAbout(operation))
  chosen.set(key, rows)
  return rows
}

/** A message in the form that the rules read, with the answer of its receiver. */
const asked = ({ event_type, url, body, failed, began }: AnsweredAttempt): Asked => ({
  operation: event_type,
  method: 'POST',
  url,
  headers: {},
  query: new URLSearchParams(),
  text: body,
  body: {},
  status: failed ? null : 200,
  refusal: undefined,
  response: '',
  began,
  sinceSuccess: Number.NaN,
})

/**
 * The rules run on input of clients while requests are served. A rule that throws is recorded as not applied to the
 * exchange; if the exchange cannot be read, every rule is. Only the first error is reported.
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
  const unread = (): Facts => ({
    judged: RULE_SET,
    unjudged: productionRows.map(({ key }) => key),
  })
  function evaluate(rows: readonly ProductionRow[], behaviour: Behaviour, asked: Asked): Facts {
    const [broken, unjudged]: [string[], string[]] = [[], []]
    for (const row of rows) {
      const breaks = guarded(() => row.breaks(behaviour, asked))
      if (breaks) broken.push(row.key)
      if (breaks === undefined) unjudged.push(row.key)
    }
    return {
      judged: RULE_SET,
      ...(broken.length > 0 && { broken }),
      ...(unjudged.length > 0 && { unjudged }),
    }
  }
  const factsOf = (raw: RawRequest, headers: Headers): Facts => {
    if (raw.kind === 'page' || !raw.url.startsWith('/v1/')) return factsOfRequest(raw, headers)
    const read = readRequest(raw, headers)
    const facts = factsOfRequest(raw, headers, read)
    // A response that a plan made says nothing about the request.
    if (raw.ended === 'replaced' || facts.own) return facts
    const { behaviour, operation } = raw
    return { ...evaluate(rowsAbout(behaviour, operation), behaviour, read), ...facts }
  }
  return {
    request: (raw, headers) => guarded(() => factsOf(raw, headers)) ?? unread(),
    attempt: raw =>
      guarded(() => ({
        ...(!raw.byHand &&
          evaluate(rowsAbout('specification', raw.event_type, true), 'specification', asked(raw))),
        ...factsOfAttempt(raw),
      })) ?? unread(),
  }
}
