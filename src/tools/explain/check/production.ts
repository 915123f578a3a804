/**
 * The rules that follow from the list of differences: what production would make of a request, or of a message that was
 * taken. They are judged when the exchange is recorded, and the check reads what was found.
 */
import type { Behaviour } from '../../../core/account.ts'
import { version } from '../../../core/version.ts'
import { differences } from '../../../pay/differences/all.ts'
import { type Asked, type Difference, differs } from '../../../pay/differences/difference.ts'
import * as beyond from '../../../pay/differences/production.ts'
import type { Evidence, Facts, Headers } from '../../record/exchange.ts'
import type { AnsweredAttempt, FactWriter, RawRequest } from '../../record/row.ts'
import { factsOfAttempt, factsOfRequest, readRequest, short } from './facts.ts'
import type { AccountRecord } from './record.ts'
import { hasSucceeded, type Judged, type Rule } from './rule.ts'

/** A row of a rule. Kept with the exchange is its `key`: the id, and behind a hyphen what tells it from others of that id. */
export type ProductionRow = ReturnType<typeof rowOf>[number]

function rowOf([name, each]: [string, Difference]) {
  const { rule, subject, govukPay, source } = each.about
  if (!rule) return []
  const { id, level, advice, among } = rule
  const { operation, modes, messages = false, lacking } = among
  /** Whether it looks at what this operation asks, or at this type of message. */
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
      /** It holds where the account behaves as GOV.UK Pay too. */
      always: 'production' in each,
      isAbout,
      /** Whether an exchange could break it. */
      could: (seen: Evidence) =>
        seen.kind === (messages ? 'out' : 'api') &&
        (messages || hasSucceeded(seen)) &&
        operation !== undefined &&
        isAbout(seen.operation) &&
        (!modes || modes.some(mode => mode === seen.created?.mode)),
      breaks: (behaviour: Behaviour, asked: Asked) => differs(each, behaviour, asked),
    },
  ]
}

export const productionRows = Object.entries<Difference>({ ...differences, ...beyond }).flatMap(
  rowOf,
)

/** Kept with each exchange, because what another version recorded says nothing of a rule that it did not have. */
const RULE_SET = short([version, ...productionRows.map(({ key }) => key)].join(' '))

/** Where the account behaves as GOV.UK Pay, its own answers say what differs. */
const rowsFor = (behaviour: Behaviour) =>
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

/** The rows for an operation of an account of that behaviour, or for a type of message, which are few. */
const chosen = new Map<string, readonly ProductionRow[]>()

function rowsAbout(behaviour: Behaviour, operation: string, ofMessages = false) {
  const key = `${behaviour} ${operation}`
  const rows =
    chosen.get(key) ??
    rowsFor(behaviour).filter(row => row.messages === ofMessages && row.isAbout(operation))
  chosen.set(key, rows)
  return rows
}

/** A message as the rules see it: what was sent, and the answer of its receiver. */
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
 * The rules run beside the requests, on what clients send. One that throws breaks nothing, and is kept as one that has
 * not judged the exchange; where it cannot be read at all, no rule has. Only the first error is reported.
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
  function judge(rows: readonly ProductionRow[], behaviour: Behaviour, looked: Asked): Facts {
    const [broken, unjudged]: [string[], string[]] = [[], []]
    for (const row of rows) {
      const breaks = guarded(() => row.breaks(behaviour, looked))
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
    return { ...judge(rowsAbout(behaviour, operation), behaviour, read), ...facts }
  }
  return {
    request: (raw, headers) => guarded(() => factsOf(raw, headers)) ?? unread(),
    attempt: raw =>
      guarded(() => ({
        ...(!raw.byHand &&
          judge(rowsAbout('specification', raw.event_type, true), 'specification', asked(raw))),
        ...factsOfAttempt(raw),
      })) ?? unread(),
  }
}
