/** Rules about how a client learns the outcome of a payment or a refund. */

import { isSuccess } from '../../../core/http-status.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import { documented } from '../../../pay/differences/source.ts'
import type { EventType } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import { endOf } from './facts.ts'
import { type Learnt, learntIn } from './learnt.ts'
import { type AccountRecord, idOf } from './record.ts'
import { hasDone, hasSucceeded, type Result, type Row, rulesOf } from './rule.ts'

/** Milliseconds of account time after which an outcome should have been read. */
export const READ_WITHIN = 10 * MINUTE
const SEARCH_AFTER_RETURN = MINUTE
/** Fewer payments can be chance. */
const LEAST_PAYMENTS = 3
/** The most reads in less than 10 seconds: one a second. */
const MOST_READS = 10
const READS_WITHIN = 10 * SECOND
/** Younger payments may still be paid. */
const OPEN_FOR = 3 * HOUR
/** The least milliseconds between two reads of a refund. */
const REFUND_READ_AFTER = 5 * MINUTE

const READS = ['readPayment', 'listPaymentEvents']

/** The facts of a request that created a payment. */
export const creationOf = ({ status, created }: Evidence) => (status === 201 ? created : undefined)

/** A create with a used key is answered with 200 and the present payment, so it counts as a read. */
const isRead = ({ kind, operation, status }: Evidence): boolean =>
  kind === 'api' &&
  (operation === 'createPayment' ? status === 200 : READS.includes(operation) && isSuccess(status))

/** A missing exchange proves nothing if the record has a gap since then. */
export const isGapSince = ({ lastGap }: AccountRecord, { began }: Evidence): boolean =>
  lastGap >= began

const isOld = ({ now }: AccountRecord, { at }: Evidence, ms = READ_WITHIN): boolean =>
  at <= now - ms

const isOutcome = ({ state }: Learnt): boolean => !/^(?:created|started|submitted)/.test(state)

/** Whether the client has learnt such a state of the payment since an exchange; undefined if the record cannot tell. */
function createLearnt(record: AccountRecord, is: (learnt: Learnt) => boolean) {
  /** When the client last did so, by the end of the payment's identifier. Its own create does not count. */
  const last = new Map(
    learntIn(record.exchanges)
      .filter(is)
      .filter(({ by }) => by.operation !== 'createPayment' || by.status === 200)
      .flatMap(({ by, ends }) => ends.map(end => [end, by.began] as const)),
  )
  return (since: Evidence) => {
    const newest = ['', endOf(idOf(since))].map(end => last.get(end) ?? -1)
    return Math.max(...newest) >= since.began || (isGapSince(record, since) ? undefined : false)
  }
}

/** Whether both exchanges began within `ms` milliseconds, on the account's clock and on the machine's. */
export const isWithin = (ms: number, first: Evidence, later: Evidence): boolean =>
  later.began - first.began < ms && later.at - first.at < ms

/** Every run of `count` exchanges, one after the other, within `ms` milliseconds. */
export const runsOf = (count: number, ms: number, all: readonly Evidence[]): Evidence[][] =>
  all.flatMap((last, i) => {
    const first = all[i + 1 - count]
    return first && isWithin(ms, first, last) ? [all.slice(i + 1 - count, i + 1)] : []
  })

const isEnd = ({ kind, state = '' }: Evidence): boolean =>
  kind === 'page' && /^(?:success|capturable|failed|error|cancelled)/.test(state)

const ifEnough = <Found>(found: Found[]): Found[] => (found.length >= LEAST_PAYMENTS ? found : [])

/** The result for payments whose state the client should have learnt. Young payments do not count. */
export function resultOfLearning(
  record: AccountRecord,
  all: readonly Evidence[],
  is = isOutcome,
): Required<Pick<Result, 'violations' | 'right'>> {
  const hasLearnt = createLearnt(record, is)
  const right = all.filter(hasLearnt)
  const evidence = all.filter(exchange => isOld(record, exchange) && hasLearnt(exchange) === false)
  const isNone = all.every(exchange => hasLearnt(exchange) === false)
  const level = evidence.length < LEAST_PAYMENTS ? 'note' : isNone ? 'fail' : 'warn'
  return { violations: [{ evidence, level }], right }
}

const eventsOf = ({ state = '' }: Evidence): EventType[] =>
  /^(?:failed|error)/.test(state)
    ? ['card_payment_failed']
    : ['card_payment_succeeded', 'card_payment_captured']

/** The first read of a payment that is one too many. */
function excessiveRead(ofPayment: readonly Evidence[]): Evidence | undefined {
  const looks = ofPayment.filter(exchange => exchange.state || hasDone('readPayment')(exchange))
  const runs = runsOf(MOST_READS + 1, READS_WITHIN, looks)
  return runs.find(run => !run.some(({ state }) => state))?.at(-1)
}

const OPEN = /^(?:created|started|failed P0020)/

const isOpening = ({ kind, operation }: Evidence): boolean =>
  kind === 'page' && operation === 'openPaymentPage'

const rows: Row[] = [
  [
    'C1',
    'fail',
    'Reading the outcome',
    'Payments ended on the pages and nobody read how. The return of the user says nothing.',
    'Read the payment when the user returns, and later those whose users did not return. Or take the messages of a webhook.',
    documented('making_payments/#accepting-your-users-when-they-return'),
    'No payment ended on the pages 10 minutes ago or more, in a time of which all is kept.',
    record => {
      const ends = record.exchanges.filter(isEnd).filter(end => record.creates.has(idOf(end)))
      // An application whose webhooks leave this event out treats the payment as open.
      const isByWebhook = learntIn(record.exchanges).some(({ by }) => by.kind === 'out')
      const isWanted = (end: Evidence) =>
        !isByWebhook ||
        record.webhooks.some(({ subscriptions }) =>
          eventsOf(end).some(type => subscriptions.includes(type)),
        )
      return resultOfLearning(record, ends.filter(isWanted))
    },
    READ_WITHIN,
  ],
  [
    'C2',
    'warn',
    'Where the outcome is read',
    'Its documentation says that a search of GOV.UK Pay may show a payment as it was before the user returned.',
    'Read the payment by its payment_id when the user returns.',
    documented('api_reference/#data-consistency'),
    'No payment was read after its user had returned.',
    record => {
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      const hasLearntElsewhere = createLearnt(record, ({ by }) => !by.listed)
      /** By reference: the first search for it after the exchange. */
      const next = new Map<string | undefined, Evidence>()
      for (const exchange of record.exchanges.toReversed()) {
        if (exchange.searched && hasSucceeded(exchange)) next.set(exchange.searched, exchange)
        if (!isEnd(exchange) || !record.creates.has(idOf(exchange))) continue
        const search = next.get(exchange.reference)
        const isLearnt = hasLearntElsewhere(exchange)
        if (isLearnt) right.push(exchange)
        else if (search && search.at <= exchange.at + SEARCH_AFTER_RETURN && isLearnt === false)
          evidence.push(search)
      }
      return { violations: [{ evidence: ifEnough(evidence) }], right }
    },
  ],
  [
    'C3',
    'note',
    'Polling',
    'Payments were read more than 10 times in 10 seconds while nothing changed. Its documentation calls the limit for GETs very high.',
    'Read a payment when its user returns. To wait, read at most once a second, or use a webhook.',
    documented('api_reference/#rate-limits'),
    'No payment was read.',
    ({ exchanges, ofPayment }) => {
      const excessive = [...ofPayment.values()].flatMap(exchanges => excessiveRead(exchanges) ?? [])
      return { violations: [{ evidence: ifEnough(excessive) }], right: exchanges.filter(isRead) }
    },
  ],
  [
    'C10',
    'note',
    'Opening a payment page again',
    'Its documentation says that next_url can be opened once in GOV.UK Pay. Here it was opened again.',
    'Read the payment for a new next_url while it is open. Create a new one for a new try.',
    documented('making_payments/#resume-an-incomplete-payment'),
    'The page of no payment was opened.',
    ({ exchanges, ofPayment }) => {
      const openingsAgain = (all: readonly Evidence[]) => {
        const end = all.find(isEnd)?.began ?? Infinity
        // A read of an open payment returns a new next_url.
        const opened = all.filter(
          exchange => isOpening(exchange) || (isRead(exchange) && exchange.began < end),
        )
        const again = opened.filter((exchange, i) => {
          const before = opened[i - 1]
          return isOpening(exchange) && (exchange.began >= end || (before && isOpening(before)))
        })
        // A single repetition, before or after the end, does not count.
        const parts = [...Map.groupBy(again, ({ began }) => began < end).values()]
        return parts.flatMap(part => (part.length > 1 ? part : []))
      }
      const again = [...ofPayment.values()].map(openingsAgain).filter(({ length }) => length > 0)
      const found = ifEnough(again)
      const violations = [{ evidence: found.flat(), times: found.length }]
      return { violations, right: exchanges.filter(isOpening) }
    },
  ],
  [
    'C12',
    'note',
    'Payments that were left open',
    'Payments were open for three hours, and nobody read them again. A user who paid may not have returned.',
    'Let a job read the payments of the last hours whose outcome you do not know.',
    documented('integrate_with_govuk_pay/#use-an-automatic-mop-up-job-recommended'),
    'No payment was open for three hours while others were read.',
    record => {
      if (!record.exchanges.some(isRead)) return {}
      const isEnded = ({ state = '' }: Evidence) => state !== '' && !OPEN.test(state)
      const open = [...record.creates.values()].filter(
        create =>
          creationOf(create)?.mode === 'web' &&
          isOld(record, create, OPEN_FOR) &&
          !record.ofPayment.get(idOf(create))?.some(isEnded),
      )
      const { violations, right } = resultOfLearning(record, open, () => true)
      return { violations: violations.map(({ evidence }) => ({ evidence })), right }
    },
    OPEN_FOR,
  ],
  [
    'C7',
    'warn',
    'Capturing payments',
    'Payments have waited for a capture for a day or more. Its documentation says that they expire after five days.',
    'Capture or cancel each payment that you create with delayed_capture.',
    documented('delayed_capture/#delay-taking-a-payment'),
    'No payment was captured.',
    ({ exchanges, newest, ofPayment, capturable }) => {
      const waiting = capturable.filter(({ since }) => since + DAY <= newest)
      const payments = waiting.flatMap(({ payment_id }) => ofPayment.get(payment_id) ?? [])
      const evidence = payments.filter(creationOf)
      const right = exchanges.filter(hasDone('capturePayment'))
      return { violations: [{ evidence, times: waiting.length }], right }
    },
    DAY,
  ],
  [
    'C16',
    'note',
    'Reading the status of a refund',
    'The status of a refund that was submitted was read three times or more, each within five minutes after the one before.',
    'Read it at most every five minutes: it may take half an hour to change.',
    documented(
      'api_reference/refund_status_reference/#attributes-you-ll-get-in-a-check-the-status-of-a-refund-response',
    ),
    'No refund was read.',
    ({ exchanges }) => {
      const reads = exchanges.filter(hasDone('readRefund'))
      const pairs = [...Map.groupBy(reads, ({ about }) => about).values()]
        .flatMap(all => runsOf(2, REFUND_READ_AFTER, all))
        .filter(([one]) => one?.shown === 'refund submitted')
      const tooSoon = new Set(pairs.map(([, again]) => again))
      const evidence = pairs.flatMap(([one, again]) => (again && tooSoon.has(one) ? [again] : []))
      return { violations: [{ evidence }], right: reads }
    },
  ],
  [
    'C19',
    'note',
    'Two payments for one reference',
    'A second payment of a reference was created while the first was open, and both were paid.',
    'Read the first payment. While it is open, send the user to its new next_url, and create another one only when it is over and not paid.',
    documented('making_payments/#resume-an-incomplete-payment'),
    'No two payments had one reference.',
    ({ creates, ofPayment }) => {
      const paid = (create: Evidence) =>
        ofPayment.get(idOf(create))?.find(({ state = '' }) => /^(?:success|capturable)/.test(state))
      const pairs = [...Map.groupBy(creates.values(), ({ reference }) => reference).values()]
      // A reference of more than two payments is a constant.
      const two = pairs.filter(({ length }) => length === 2)
      const evidence = two.flatMap(([first, second]) => {
        const end = first && paid(first)
        return end && second && end.began > second.began && paid(second) ? [second] : []
      })
      return { violations: [{ evidence }], right: two.flat() }
    },
  ],
]

export const outcomeRules = rulesOf(rows)
