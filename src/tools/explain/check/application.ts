/** What the application was told, and what it did about the messages that it took. */
import { SECOND } from '../../../core/time.ts'
import type { Created, Evidence } from '../../record/exchange.ts'
import { endOf, endsIn } from './facts.ts'
import { idOf } from './outcomes.ts'
import type { AccountRecord } from './record.ts'
import { isTaken } from './rule.ts'

/** Milliseconds of the machine after a message, within which the application shows that it acted on it. */
const ACTS_WITHIN = 5 * SECOND

/** What the application was told of the state of a payment: by a read, by a search that listed it, or in the answer to its POST. */
export type Told = {
  by: Evidence
  of: Created | undefined
  /** It was authorised before. */
  authorised: boolean
}

const UNKNOWN = { of: undefined, authorised: false }

export type View = ReturnType<typeof viewOf>

export function viewOf(record: AccountRecord) {
  const { exchanges, ofPayment, own } = record
  const answers = exchanges.filter(
    ({ kind, ended }) => kind === 'api' && (ended === 'sent' || ended === 'replaced'),
  )
  const hidden = new Set([...own].map(id => endOf(id ?? '')))
  /** What is known of each payment: the create, and whether it was authorised. */
  const known = new Map(
    [...ofPayment].map(([id, all]) => {
      const authorised = all.some(({ state = '' }) => /^(?:capturable|submitted)/.test(state))
      return [endOf(id), { of: all.find(({ created }) => created)?.created, authorised }] as const
    }),
  )
  /** By state, in the order in which it was told. */
  const told = new Map<string, Told[]>()
  const tell = (by: Evidence, state: string, end: string): void => {
    const all = told.get(state) ?? []
    all.push({ by, ...(known.get(end) ?? UNKNOWN) })
    told.set(state, all)
  }
  for (const by of answers) {
    const { shown, listed } = by
    if (shown !== undefined) tell(by, shown, endOf(idOf(by)))
    if (listed)
      for (const [state, ends] of Object.entries(listed))
        for (const end of endsIn(ends)) if (!hidden.has(end)) tell(by, state, end)
  }
  /** Messages that a receiver of the application accepted. */
  const taken = exchanges.filter(
    each => isTaken(each) && !each.test && (each.hand !== 'other' || each.probe !== undefined),
  )
  /** Those after which it did something about their payment, before it got another one about it. */
  const acted = new Set<Evidence>()
  /** Of each payment when the next request begins, if it comes before the next message. */
  const next = new Map<string, number>()
  for (const each of exchanges.toReversed()) {
    const { kind, began, ms } = each
    if (kind === 'api') next.set(idOf(each), began)
    if (kind !== 'out') continue
    if ((next.get(idOf(each)) ?? Infinity) <= began + ms + ACTS_WITHIN) acted.add(each)
    next.delete(idOf(each))
  }
  return { exchanges, answers, told, taken, acted }
}
