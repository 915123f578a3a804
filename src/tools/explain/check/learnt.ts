/** The states of payments that the application learnt, and the messages on which it acted. */
import { SECOND } from '../../../core/time.ts'
import type { Created, Evidence } from '../../record/exchange.ts'
import { endOf, endsIn } from './facts.ts'
import { type AccountRecord, idOf } from './record.ts'
import { isTaken } from './rule.ts'

/** Milliseconds of machine time. A request within them shows that the application acted on a message. */
const ACTS_WITHIN = 5 * SECOND

export type Learnt = ReturnType<typeof learntIn>[number]

/**
 * The states that the application learnt from a read, a search, the answer to its POST, or a message that it accepted,
 * in order of time. `state`: in the form of `Facts.state`. `ends`: of the payments' identifiers; '' for any.
 */
export const learntIn = (exchanges: readonly Evidence[]) =>
  exchanges.flatMap(by => {
    const { kind, shown = '', listed = {} } = by
    const learnt = Object.entries(listed).map(([state, ends]) => ({
      by,
      state,
      ends: endsIn(ends),
    }))
    const showsState = kind === 'api' ? shown !== '' && !shown.startsWith('refund') : hasArrived(by)
    if (showsState) learnt.push({ by, state: shown, ends: [endOf(idOf(by))] })
    return learnt
  })

const hasArrived = (message: Evidence): boolean => isTaken(message) && message.hand !== 'other'

/** Facts about a payment. */
export type Known = {
  created: Created | undefined
  /** Whether the payment has been authorised. */
  authorised: boolean
}

export type View = ReturnType<typeof viewOf>

export function viewOf({ exchanges, ofPayment, own }: AccountRecord) {
  const hidden = new Set([...own].map(id => endOf(id ?? '')))
  const known = new Map(
    [...ofPayment].map(([id, all]): [string, Known] => {
      const authorised = all.some(({ state = '' }) => /^(?:capturable|submitted)/.test(state))
      return [endOf(id), { created: all.find(({ created }) => created)?.created, authorised }]
    }),
  )
  return {
    exchanges,
    learnt: learntIn(exchanges),
    /** undefined for a payment that the rules leave out. */
    knownOf: (end: string): Known | undefined =>
      hidden.has(end) ? undefined : (known.get(end) ?? { created: undefined, authorised: false }),
    answers: exchanges.filter(
      ({ kind, ended }) => kind === 'api' && (ended === 'sent' || ended === 'replaced'),
    ),
    /** Messages that a receiver of the application accepted. */
    taken: exchanges
      .filter(isTaken)
      .filter(({ hand, probe, test }) => !test && (hand !== 'other' || probe !== undefined)),
    acted: actedIn(exchanges),
  }
}

/**
 * Messages after which the application asked about their payment. A request proves nothing if it may have another
 * reason: the user had just come back, or the application polls.
 */
function actedIn(exchanges: readonly Evidence[]): Set<Evidence> {
  const acted = new Set<Evidence>()
  /** By payment: the messages that no request has followed yet, and when something else last happened. */
  const [pending, others] = [new Map<string, Evidence[]>(), new Map<string, number>()]
  for (const exchange of exchanges) {
    const { kind, operation, began } = exchange
    const id = idOf(exchange)
    const messages = pending.get(id) ?? []
    if (kind === 'out') {
      messages.push(exchange)
      pending.set(id, messages)
    }
    if (kind === 'out' || kind === 'action' || operation === 'createPayment') continue
    // Each of several messages that come together may be followed by a request.
    const message = messages.pop()
    const isReaction =
      kind === 'api' &&
      message !== undefined &&
      began <= message.began + message.ms + ACTS_WITHIN &&
      (others.get(id) ?? -Infinity) < message.began - ACTS_WITHIN
    if (isReaction) acted.add(message)
    else others.set(id, began)
  }
  return acted
}
