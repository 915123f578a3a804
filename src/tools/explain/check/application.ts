/** What the application was told, and what it did about the messages that it took. */
import { SECOND } from '../../../core/time.ts'
import type { Created, Evidence } from '../../record/exchange.ts'
import { endOf, endsIn } from './facts.ts'
import { idOf } from './outcomes.ts'
import type { AccountRecord } from './record.ts'
import { hasSucceeded } from './rule.ts'

/** Milliseconds of the machine after a message, within which the application shows that it acted on it. */
const ACTS_WITHIN = 5 * SECOND

/** What the application was told of the state of a payment: by a read, by a search that listed it, or in the answer to its POST. */
export type Told = {
  by: Evidence
  state: string
  of: Created | undefined
  /** It was authorised before. */
  authorised: boolean
}

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
  const unknown = { of: undefined, authorised: false }
  const toldOf = (by: Evidence, state: string, end: string): Told => ({
    by,
    state,
    ...(known.get(end) ?? unknown),
  })
  const told = answers.flatMap(by => {
    const listed = Object.entries(by.listed ?? {}).flatMap(([state, ends]) =>
      endsIn(ends).flatMap(end => (hidden.has(end) ? [] : toldOf(by, state, end))),
    )
    return by.shown === undefined ? listed : [toldOf(by, by.shown, endOf(idOf(by))), ...listed]
  })
  /** Messages that a receiver of the application accepted. */
  const taken = exchanges.filter(
    each =>
      each.kind === 'out' &&
      hasSucceeded(each) &&
      !each.printed &&
      !each.test &&
      (each.hand !== 'other' || each.probe !== undefined),
  )
  /** Those after which it did something about their payment, before it got another one about it. */
  const acted = new Set<Evidence>()
  /** Of each payment when the next request begins, if it comes before the next message. */
  const next = new Map<string, number>()
  for (const each of exchanges.toReversed()) {
    const { kind, began, ms, probe } = each
    if (kind === 'api') next.set(idOf(each), began)
    if (kind !== 'out') continue
    // The payment of R4 does not exist.
    if (probe !== 'R4' && (next.get(idOf(each)) ?? Infinity) <= began + ms + ACTS_WITHIN)
      acted.add(each)
    next.delete(idOf(each))
  }
  return { exchanges, answers, told, taken, acted }
}
