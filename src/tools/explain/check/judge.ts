/** Looks at an exchange when it is recorded: the facts that the check needs, and the rules of production that it breaks. */
import type { Behaviour } from '../../../core/account.ts'
import type { Asked } from '../../../pay/differences/difference.ts'
import type { Facts, Headers } from '../../record/exchange.ts'
import type { AnsweredAttempt, FactWriter, RawRequest } from '../../record/row.ts'
import { factsOfAttempt, factsOfRequest, readRequest } from './facts.ts'
import { type ProductionRow, productionRows, RULE_SET, rowsFor } from './production.ts'

const requestRows = {
  specification: rowsFor('specification').filter(({ messages }) => !messages),
  'govuk-pay': rowsFor('govuk-pay').filter(({ messages }) => !messages),
}
const messageRows = productionRows.filter(({ messages }) => messages)

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
  function judge(rows: readonly ProductionRow[], behaviour: Behaviour, looked: Asked): Facts {
    const judged = Map.groupBy(rows, row => guarded(() => row.breaks(behaviour, looked)))
    const [broken, unjudged] = [true, undefined].map(as => judged.get(as)?.map(({ key }) => key))
    return { judged: RULE_SET, ...(broken && { broken }), ...(unjudged && { unjudged }) }
  }
  const factsOf = (raw: RawRequest, headers: Headers): Facts => {
    if (raw.kind === 'page' || !raw.url.startsWith('/v1/')) return factsOfRequest(raw, headers)
    const read = readRequest(raw, headers)
    const facts = factsOfRequest(raw, headers, read)
    // A response that a plan made says nothing about the request.
    const isJudged = raw.ended !== 'replaced' && !facts.own
    const { behaviour } = raw
    return { ...(isJudged && judge(requestRows[behaviour], behaviour, read)), ...facts }
  }
  return {
    request: (raw, headers) => guarded(() => factsOf(raw, headers)) ?? unjudgedBy(productionRows),
    attempt: raw =>
      guarded(() => ({
        ...(!raw.byHand && judge(messageRows, 'specification', asked(raw))),
        ...factsOfAttempt(raw),
      })) ?? unjudgedBy(messageRows),
  }
}

/** The facts of what could not be read by a mistake in Farthing. */
const unjudgedBy = (rows: readonly ProductionRow[]): Facts => ({
  judged: RULE_SET,
  unjudged: rows.map(({ key }) => key),
})
