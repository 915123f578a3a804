/** What the application was told of its payments, and what it did about the messages that it took. */
import { SECOND } from '../../../core/time.ts'
import type { Created, Evidence } from '../../record/exchange.ts'
import { endOf, endsIn } from './facts.ts'
import type { AccountRecord } from './record.ts'
import { idOf, isTaken } from './rule.ts'

/** Milliseconds of the machine within which the application shows that it acted on a message. */
const ACTS_WITHIN = 5 * SECOND

/** By a read, by a search that listed payments, in the answer to its POST, or by a message that it took. */
export type Told = {
  by: Evidence
  /** Of the payments, as `Facts.state` has it. */
  state: string
  /** The ends of their identifiers; '' for any. */
  ends: string[]
}

/** In the order in which it was told. Exchanges about payments alone. */
export const toldIn = (exchanges: readonly Evidence[]): Told[] =>
  exchanges.flatMap((by): Told[] => {
    const { kind, shown, listed = {} } = by
    const isTold = kind === 'api' ? shown && !shown.startsWith('refund') : hasArrived(by)
    const states = Object.entries(listed).map(([state, ends]) => [state, endsIn(ends)] as const)
    if (isTold) states.push([shown ?? '', [endOf(idOf(by))]])
    return states.map(([state, ends]) => ({ by, state, ends }))
  })

const hasArrived = (each: Evidence): boolean => isTaken(each) && each.hand !== 'other'

/** When the application was last told of a payment, by the end of its identifier. Its own create tells it of none. */
export const lastTold = (told: readonly Told[]): Map<string, number> =>
  new Map(
    told
      .filter(({ by }) => by.operation !== 'createPayment' || by.status === 200)
      .flatMap(({ by, ends }) => ends.map(end => [end, by.began] as const)),
  )

/** What is known of a payment. */
export type Known = {
  created: Created | undefined
  /** It was authorised before. */
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
    told: toldIn(exchanges),
    /** undefined for what counts for nothing. */
    knownOf: (end: string): Known | undefined =>
      hidden.has(end) ? undefined : (known.get(end) ?? { created: undefined, authorised: false }),
    answers: exchanges.filter(
      ({ kind, ended }) => kind === 'api' && (ended === 'sent' || ended === 'replaced'),
    ),
    /** Messages that a receiver of the application accepted. */
    taken: exchanges.filter(
      each => isTaken(each) && !each.test && (each.hand !== 'other' || each.probe !== undefined),
    ),
    acted: actedIn(exchanges),
  }
}

/**
 * Messages after which the application asked about their payment. A request proves nothing that may have another reason: the
 * user had just come back, or the application asks again and again.
 */
function actedIn(exchanges: readonly Evidence[]): Set<Evidence> {
  const acted = new Set<Evidence>()
  /** By payment: the newest message since the last request, and when something else last happened. */
  const [newest, others] = [new Map<string, Evidence>(), new Map<string, number>()]
  for (const each of exchanges) {
    const { kind, operation, began } = each
    const id = idOf(each)
    if (kind === 'out') newest.set(id, each)
    const message = newest.get(id)
    if (kind === 'out' || kind === 'action' || operation === 'createPayment') continue
    const isReaction =
      kind === 'api' &&
      message !== undefined &&
      began <= message.began + message.ms + ACTS_WITHIN &&
      (others.get(id) ?? -Infinity) < message.began - ACTS_WITHIN
    if (isReaction) acted.add(message)
    else others.set(id, began)
    newest.delete(id)
  }
  return acted
}
