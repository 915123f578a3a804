/** Rules about how a client learns the outcome of a payment. */

import { isSuccess } from '../../../core/http-status.ts'
import { MINUTE, SECOND } from '../../../core/time.ts'
import type { RecordFacts, RecordRule } from './rule.ts'
import type { Seen } from './seen.ts'

/** Milliseconds of account time after which an outcome should have been read. */
const READ_WITHIN = 10 * MINUTE
const SEARCH_AFTER_RETURN = MINUTE
/** Fewer can be chance. */
const LEAST_PAYMENTS = 3
/** Reads in less than 10 seconds. One a second is 10. */
const MOST_READS = 10
const READS_WITHIN = 10 * SECOND

const READS = ['readPayment', 'listPaymentEvents', 'listRefunds']

export const hasSucceeded = ({ status }: Seen): boolean => isSuccess(status)

const isRead = (each: Seen): boolean =>
  each.kind === 'api' && READS.includes(each.operation) && hasSucceeded(each)

const isTaken = (each: Seen): boolean =>
  each.kind === 'out' && hasSucceeded(each) && !each.isPrinted && each.byHand !== 'other'

const sinceOf = (facts: RecordFacts, payment_id: string | null, { began }: Seen): Seen[] =>
  (facts.ofPayment.get(payment_id ?? '') ?? []).filter(each => each.began >= began)

/** Something that is missing from the record proves nothing if a gap touches the time since then. */
const isGapSince = ({ gaps }: RecordFacts, { began }: Seen): boolean =>
  gaps.some(({ to }) => to >= began)

const isOld = ({ now }: RecordFacts, { at }: Seen): boolean => at <= now - READ_WITHIN

/** Whether a search since then listed the payment. undefined: one did whose response is not wholly kept, perhaps. */
function createListings({ seen }: RecordFacts): (ended: Seen) => boolean | undefined {
  const newest = new Map<string, number>()
  let newestCut = -1
  for (const { listed = [], isCut, began } of seen) {
    if (isCut) newestCut = began
    for (const payment_id of listed) newest.set(payment_id, began)
  }
  return ({ payment_id, began }) => {
    if ((newest.get(payment_id ?? '') ?? -1) >= began) return true
    return newestCut >= began ? undefined : false
  }
}

/**
 * Whether the client learnt the outcome: by a read, a search or a message that was taken. undefined where the record
 * does not tell.
 */
function createLearnt(facts: RecordFacts): (ended: Seen) => boolean | undefined {
  const isListedSince = createListings(facts)
  return ended => {
    const listed = isListedSince(ended)
    const since = sinceOf(facts, ended.payment_id, ended)
    if (listed || since.some(each => isRead(each) || isTaken(each))) return true
    return isGapSince(facts, ended) ? undefined : listed
  }
}

const endsOnPages = ({ seen }: RecordFacts): Seen[] => seen.filter(({ isEnd }) => isEnd)

const neverRead: RecordRule = {
  key: 'C1',
  id: 'C1',
  title: 'Reading the outcome',
  sentence: 'Payments ended on the pages and nobody read how. The return of the user says nothing.',
  advice:
    'Read the payment when the user returns, and later those whose users did not return. Or take the messages of a webhook.',
  source: 'Documentation of GOV.UK Pay: How GOV.UK Pay works',
  lacking:
    'Fewer than 3 payments ended on the pages 10 minutes ago or more, in a time of which all is kept.',
  judge(facts) {
    const hasLearnt = createLearnt(facts)
    const ends = endsOnPages(facts)
    const unread = ends.filter(each => isOld(facts, each) && hasLearnt(each) === false)
    const level = ends.every(each => hasLearnt(each) === false) ? 'fail' : 'warn'
    const isBroken = unread.length >= LEAST_PAYMENTS
    return {
      broken: isBroken ? [{ level, evidence: unread }] : [],
      right: ends.filter(hasLearnt),
    }
  },
}

const readBySearch: RecordRule = {
  key: 'C2',
  id: 'C2',
  title: 'Where the outcome is read',
  sentence: 'In GOV.UK Pay a search may show a payment as it was before the user returned.',
  advice: 'Read the payment by its payment_id when the user returns.',
  source: 'Documentation of GOV.UK Pay: Reporting',
  lacking: 'No payment was read after its user had returned.',
  judge(facts) {
    const searches = Map.groupBy(facts.seen.filter(hasSucceeded), ({ searched }) => searched)
    const [evidence, right]: [Seen[], Seen[]] = [[], []]
    for (const ended of endsOnPages(facts)) {
      if (sinceOf(facts, ended.payment_id, ended).some(each => isRead(each) || isTaken(each)))
        right.push(ended)
      else if (!isGapSince(facts, ended)) {
        const ofReference = searches.get(ended.reference?.toLowerCase() ?? '') ?? []
        const search = ofReference.find(
          ({ began, at }) => began >= ended.began && at <= ended.at + SEARCH_AFTER_RETURN,
        )
        if (search) evidence.push(search)
      }
    }
    const isBroken = evidence.length >= LEAST_PAYMENTS
    return { broken: isBroken ? [{ level: 'warn', evidence }] : [], right }
  },
}

/** The first read of a payment that is one too many, in both times. */
function excessiveRead(ofPayment: readonly Seen[]): Seen | undefined {
  let reads: Seen[] = []
  for (const each of ofPayment) {
    if (each.isChange) reads = []
    else if (each.kind === 'api' && each.operation === 'readPayment' && hasSucceeded(each)) {
      reads.push(each)
      const first = reads.at(-1 - MOST_READS)
      if (first && each.began - first.began < READS_WITHIN && each.at - first.at < READS_WITHIN)
        return each
    }
  }
  return undefined
}

const polling: RecordRule = {
  key: 'C3',
  id: 'C3',
  title: 'Polling',
  sentence: 'Payments were read more than 10 times in 10 seconds while nothing changed.',
  advice:
    'Read a payment when its user returns. To wait, read at most once a second, or use a webhook.',
  source: 'Rate limits',
  lacking: 'No payment was read.',
  judge({ ofPayment }) {
    const excessive = [...ofPayment.values()].map(excessiveRead).filter(each => each !== undefined)
    const isBroken = excessive.length >= LEAST_PAYMENTS
    return {
      broken: isBroken ? [{ level: 'warn', evidence: excessive }] : [],
      right: [...ofPayment.values()].flatMap(each => each.filter(isRead)),
    }
  },
}

const isAgreementCreate = ({ status, created }: Seen): boolean =>
  status === 201 && created?.mode === 'agreement'

const believedAtOnce: RecordRule = {
  key: 'C9',
  id: 'C9',
  title: 'The outcome of agreement payments',
  sentence:
    'GOV.UK Pay answers created to a payment in agreement mode. Success or failure comes later, and nobody read it.',
  advice: 'Read the payment later, or take the messages of a webhook.',
  source: 'Payments in agreement mode',
  lacking: 'No agreement payment was made 10 minutes ago or more.',
  judge(facts) {
    const hasLearnt = createLearnt(facts)
    const creates = facts.seen.filter(isAgreementCreate)
    const evidence = creates.filter(each => isOld(facts, each) && hasLearnt(each) === false)
    return {
      broken: evidence.length > 0 ? [{ level: 'fail', evidence }] : [],
      right: creates.filter(hasLearnt),
    }
  },
}

const pageAgain: RecordRule = {
  key: 'C10',
  id: 'C10',
  title: 'Opening a payment page again',
  sentence:
    'In GOV.UK Pay next_url can be opened once. Here it was opened again after the payment.',
  advice: 'Create a new payment for a new try. To show an old one, read it.',
  source: 'The token in `next_url`',
  lacking: 'No payment ended on the pages.',
  judge(facts) {
    const ends = endsOnPages(facts)
    const again = ends.flatMap(ended => {
      const opened = sinceOf(facts, ended.payment_id, ended).filter(
        ({ kind, operation }) => kind === 'page' && operation === 'openPaymentPage',
      )
      return opened.length > 1 ? [opened] : []
    })
    const isBroken = again.length >= LEAST_PAYMENTS
    const evidence = again.flat()
    return {
      broken: isBroken ? [{ level: 'note', evidence, times: again.length }] : [],
      right: ends,
    }
  },
}

export const outcomeRules: readonly RecordRule[] = [
  neverRead,
  readBySearch,
  polling,
  believedAtOnce,
  pageAgain,
]
