/** Rules about how a client learns the outcome of a payment or a refund. */

import { HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import { documented } from '../../../pay/differences/source.ts'
import type { EventType } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import { LISTED_ENDS } from './facts.ts'
import type { AccountRecord } from './record.ts'
import { hasDone, hasSucceeded, type Judged, type Rule } from './rule.ts'

/** Milliseconds of account time after which an outcome should have been read. */
const READ_WITHIN = 10 * MINUTE
const SEARCH_AFTER_RETURN = MINUTE
/** Fewer can be chance. */
const LEAST_PAYMENTS = 3
/** Reads in less than 10 seconds. One a second is 10. */
const MOST_READS = 10
const READS_WITHIN = 10 * SECOND
/** Payments that are younger may still be paid. */
const OPEN_FOR = 3 * HOUR
/** A refund that is read sooner has the status with which it was made, which may change for half an hour. */
const REFUND_READ_AFTER = 5 * SECOND
const REFUND_LASTS = 30 * MINUTE

const READS = ['readPayment', 'listPaymentEvents']

/** What the request for a payment that was made asked for. */
export const made = ({ status, created }: Evidence) => (status === 201 ? created : undefined)

const isRead = (each: Evidence): boolean =>
  each.kind === 'api' && READS.includes(each.operation) && hasSucceeded(each)

const isTaken = (each: Evidence): boolean =>
  each.kind === 'out' && hasSucceeded(each) && !each.printed && each.hand !== 'other'

const sinceOf = (record: AccountRecord, { payment_id, began }: Evidence): Evidence[] =>
  (record.ofPayment.get(payment_id ?? '') ?? []).filter(each => each.began >= began)

/** Something that is missing from the record proves nothing if a gap touches the time since then. */
export const isGapSince = ({ lastGap }: AccountRecord, { began }: Evidence): boolean =>
  lastGap >= began

const isOld = ({ now }: AccountRecord, { at }: Evidence, ms = READ_WITHIN): boolean =>
  at <= now - ms

/**
 * Whether the client learnt of the payment since then: by a read, a search or a message that was taken. undefined where
 * the record does not tell.
 */
function createLearnt(record: AccountRecord): (since: Evidence) => boolean | undefined {
  const listed = new Map<string, number>()
  for (const { listed: ends, began } of record.exchanges)
    for (const end of ends === 'all' ? [ends] : (ends?.match(LISTED_ENDS) ?? []))
      listed.set(end, began)
  return since => {
    const newest = ['all', since.payment_id?.slice(-5)].map(end => listed.get(end ?? '') ?? -1)
    if (Math.max(...newest) >= since.began) return true
    if (sinceOf(record, since).some(each => isRead(each) || isTaken(each))) return true
    return isGapSince(record, since) ? undefined : false
  }
}

/** Within so many milliseconds of the account's time and of the machine's. */
export const isWithin = (ms: number, first: Evidence, later: Evidence): boolean =>
  later.began - first.began < ms && later.at - first.at < ms

const isEnd = ({ kind, state = '' }: Evidence): boolean =>
  kind === 'page' && /^(?:success|capturable|failed|error|cancelled)/.test(state)

const ifEnough = <Found>(found: Found[]): Found[] => (found.length >= LEAST_PAYMENTS ? found : [])

/** These payments should be learnt of, unless they are young. */
function judgeLearnt(record: AccountRecord, creates: readonly Evidence[]): Judged {
  const hasLearnt = createLearnt(record)
  const evidence = creates.filter(each => isOld(record, each) && hasLearnt(each) === false)
  return { broken: [{ evidence }], right: creates.filter(hasLearnt) }
}

const eventsOf = ({ state = '' }: Evidence): EventType[] =>
  /^(?:failed|error)/.test(state)
    ? ['card_payment_failed']
    : ['card_payment_succeeded', 'card_payment_captured']

/** The first read of a payment that is one too many, in both times. */
function excessiveRead(ofPayment: readonly Evidence[]): Evidence | undefined {
  let reads: Evidence[] = []
  for (const each of ofPayment) {
    if (each.state) reads = []
    else if (hasDone('readPayment')(each)) {
      reads.push(each)
      const first = reads.at(-1 - MOST_READS)
      if (first && isWithin(READS_WITHIN, first, each)) return each
    }
  }
  return undefined
}

const isOpening = ({ kind, operation }: Evidence): boolean =>
  kind === 'page' && operation === 'openPaymentPage'

const READS_REFUND = ['readRefund', 'listRefunds']

export const outcomeRules: readonly Rule[] = [
  {
    id: 'C1',
    level: 'fail',
    title: 'Reading the outcome',
    sentence:
      'Payments ended on the pages and nobody read how. The return of the user says nothing.',
    advice:
      'Read the payment when the user returns, and later those whose users did not return. Or take the messages of a webhook.',
    source: documented('making_payments/#accepting-your-users-when-they-return'),
    lacking:
      'Fewer than 3 payments ended on the pages 10 minutes ago or more, in a time of which all is kept.',
    needs: READ_WITHIN,
    judge(record) {
      const hasLearnt = createLearnt(record)
      const ends = record.exchanges.filter(isEnd)
      const learnt = ends.filter(hasLearnt)
      const isByWebhook = learnt.some(each => sinceOf(record, each).some(isTaken))
      // Whoever takes messages and does not want this one takes the payment for open.
      const isWanted = (each: Evidence) =>
        !isByWebhook ||
        record.webhooks.some(({ subscriptions }) =>
          eventsOf(each).some(type => subscriptions.includes(type)),
        )
      const unread = ends.filter(
        each => isOld(record, each) && hasLearnt(each) === false && isWanted(each),
      )
      const level = ends.every(each => hasLearnt(each) === false) ? 'fail' : 'warn'
      return { broken: [{ evidence: ifEnough(unread), level }], right: learnt }
    },
  },
  {
    id: 'C2',
    level: 'warn',
    title: 'Where the outcome is read',
    sentence:
      'Its documentation says that a search of GOV.UK Pay may show a payment as it was before the user returned.',
    advice: 'Read the payment by its payment_id when the user returns.',
    source: documented('api_reference/#data-consistency'),
    lacking: 'No payment was read after its user had returned.',
    judge(record) {
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      /** By the reference, the first search for it after the exchange. */
      const next = new Map<string | undefined, Evidence>()
      for (const each of record.exchanges.toReversed()) {
        if (each.searched && hasSucceeded(each)) next.set(each.searched, each)
        if (!isEnd(each)) continue
        const search = next.get(each.reference)
        if (sinceOf(record, each).some(later => isRead(later) || isTaken(later))) right.push(each)
        else if (search && search.at <= each.at + SEARCH_AFTER_RETURN && !isGapSince(record, each))
          evidence.push(search)
      }
      return { broken: [{ evidence: ifEnough(evidence) }], right }
    },
  },
  {
    id: 'C3',
    level: 'note',
    title: 'Polling',
    sentence:
      'Payments were read more than 10 times in 10 seconds while nothing changed. Its documentation calls the limit for GETs very high.',
    advice:
      'Read a payment when its user returns. To wait, read at most once a second, or use a webhook.',
    source: documented('api_reference/#rate-limits'),
    lacking: 'No payment was read.',
    judge({ exchanges, ofPayment }) {
      const excessive = [...ofPayment.values()].flatMap(each => excessiveRead(each) ?? [])
      return { broken: [{ evidence: ifEnough(excessive) }], right: exchanges.filter(isRead) }
    },
  },
  {
    id: 'C9',
    level: 'fail',
    title: 'The outcome of agreement payments',
    sentence:
      'Its documentation says that GOV.UK Pay answers created to a payment in agreement mode. Success or failure comes later, and nobody read it.',
    advice: 'Read the payment later, or take the messages of a webhook.',
    source: documented('recurring_payments/#taking-recurring-payments'),
    lacking: 'No agreement payment was made 10 minutes ago or more.',
    needs: READ_WITHIN,
    judge: record =>
      judgeLearnt(
        record,
        record.exchanges.filter(each => made(each)?.mode === 'agreement'),
      ),
  },
  {
    id: 'C10',
    level: 'note',
    title: 'Opening a payment page again',
    sentence:
      'Its documentation says that next_url can be opened once in GOV.UK Pay. Here it was opened again.',
    advice: 'Read the payment for a new next_url while it is open. Create a new one for a new try.',
    source: documented('making_payments/#resume-an-incomplete-payment'),
    lacking: 'The page of no payment was opened.',
    judge({ exchanges, ofPayment }) {
      const openingsAgain = (all: readonly Evidence[]) => {
        const end = all.find(isEnd)?.began ?? Infinity
        const openings = all.filter(isOpening)
        const [, ...before] = openings.filter(({ began }) => began < end)
        const after = openings.filter(({ began }) => began >= end)
        // Twice before the end, and once after it, do not count.
        return [before, after].flatMap(again => (again.length > 1 ? again : []))
      }
      const again = [...ofPayment.values()].map(openingsAgain).filter(({ length }) => length > 0)
      const found = ifEnough(again)
      const broken = [{ evidence: found.flat(), times: found.length }]
      return { broken, right: exchanges.filter(isOpening) }
    },
  },
  {
    id: 'C12',
    level: 'note',
    title: 'Payments that were left open',
    sentence:
      'Payments were open for three hours, and nobody read them again. A user who paid may not have returned.',
    advice: 'Let a job read the payments of the last hours whose outcome you do not know.',
    source: documented('integrate_with_govuk_pay/#use-an-automatic-mop-up-job-recommended'),
    lacking: 'No payment was open for three hours while others were read.',
    needs: OPEN_FOR,
    judge(record) {
      if (!record.exchanges.some(isRead)) return {}
      const creates = record.open
        .flatMap(payment_id => record.ofPayment.get(payment_id) ?? [])
        .filter(each => made(each)?.mode === 'web')
      return judgeLearnt(
        record,
        creates.filter(each => isOld(record, each, OPEN_FOR)),
      )
    },
  },
  {
    id: 'C13',
    level: 'note',
    title: 'The outcome of refunds',
    sentence:
      'A refund was read within five seconds after it was made, and never again. Its documentation says that its status may lag by up to 30 minutes.',
    advice: 'Read the refund again half an hour later. It can fail.',
    source: documented(
      'api_reference/refund_status_reference/#attributes-you-ll-get-in-a-check-the-status-of-a-refund-response',
    ),
    lacking: 'No refund was read, and half an hour passed.',
    needs: REFUND_LASTS,
    judge(record) {
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      /** Of each payment, when the client last learnt of it, and the first read of a refund after the exchange. */
      const newest = new Map<string | null, number>()
      const next = new Map<string | null, Evidence>()
      for (const each of record.exchanges.toReversed()) {
        const { payment_id, operation, effect, at } = each
        const isOfRefund = READS_REFUND.includes(operation) && hasSucceeded(each)
        if (isOfRefund) next.set(payment_id, each)
        if (isOfRefund || isTaken(each) || isRead(each))
          newest.set(payment_id, Math.max(at, newest.get(payment_id) ?? 0))
        if (operation !== 'refundPayment' || !effect) continue
        const read = next.get(payment_id)
        if ((newest.get(payment_id) ?? 0) >= at + REFUND_READ_AFTER) right.push(each)
        else if (read && isOld(record, each, REFUND_LASTS) && !isGapSince(record, each))
          evidence.push(read)
      }
      return { broken: [{ evidence }], right }
    },
  },
]
