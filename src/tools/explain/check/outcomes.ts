/** Rules about how a client learns the outcome of a payment or a refund. */

import { isSuccess } from '../../../core/http-status.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import { documented } from '../../../pay/differences/source.ts'
import type { EventType } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import { endOf } from './facts.ts'
import { lastTold, type Told, toldIn } from './learnt.ts'
import type { AccountRecord } from './record.ts'
import { hasDone, hasSucceeded, idOf, type Judged, type Row, rulesOf } from './rule.ts'

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
/** A refund should be read no sooner after it was read before. */
const REFUND_READ_AFTER = 5 * MINUTE

const READS = ['readPayment', 'listPaymentEvents']

/** What the request for a payment that was made asked for. */
export const made = ({ status, created }: Evidence) => (status === 201 ? created : undefined)

/** A create with a used key is answered 200, with the payment as it is. */
const isRead = ({ kind, operation, status }: Evidence): boolean =>
  kind === 'api' &&
  (operation === 'createPayment' ? status === 200 : READS.includes(operation) && isSuccess(status))

/** Something that is missing from the record proves nothing if a gap touches the time since then. */
export const isGapSince = ({ lastGap }: AccountRecord, { began }: Evidence): boolean =>
  lastGap >= began

const isOld = ({ now }: AccountRecord, { at }: Evidence, ms = READ_WITHIN): boolean =>
  at <= now - ms

const isOutcome = ({ state }: Told): boolean => !/^(?:created|started|submitted)/.test(state)

/** Whether the client was told so of a payment since then. undefined where the record does not show it. */
function createLearnt(
  record: AccountRecord,
  is: (told: Told) => boolean,
): (since: Evidence) => boolean | undefined {
  const last = lastTold(toldIn(record.exchanges).filter(is))
  return since => {
    const newest = ['', endOf(idOf(since))].map(end => last.get(end) ?? -1)
    return Math.max(...newest) >= since.began || (isGapSince(record, since) ? undefined : false)
  }
}

/** Within so many milliseconds of the account's time and of the machine's. */
export const isWithin = (ms: number, first: Evidence, later: Evidence): boolean =>
  later.began - first.began < ms && later.at - first.at < ms

/** Each so many in a row, from the first to the last within these milliseconds. */
export const runsOf = (count: number, ms: number, all: readonly Evidence[]): Evidence[][] =>
  all.flatMap((each, i) => {
    const first = all[i + 1 - count]
    return first && isWithin(ms, first, each) ? [all.slice(i + 1 - count, i + 1)] : []
  })

const isEnd = ({ kind, state = '' }: Evidence): boolean =>
  kind === 'page' && /^(?:success|capturable|failed|error|cancelled)/.test(state)

const ifEnough = <Found>(found: Found[]): Found[] => (found.length >= LEAST_PAYMENTS ? found : [])

/** Of payments of which the client should have been told so since, unless they are young: how many it was not, and how bad that is. */
export function judgeLearnt(
  record: AccountRecord,
  all: readonly Evidence[],
  is = isOutcome,
): Required<Pick<Judged, 'broken' | 'right'>> {
  const hasLearnt = createLearnt(record, is)
  const right = all.filter(hasLearnt)
  const evidence = all.filter(each => isOld(record, each) && hasLearnt(each) === false)
  const isNone = all.every(each => hasLearnt(each) === false)
  const level = evidence.length < LEAST_PAYMENTS ? 'note' : isNone ? 'fail' : 'warn'
  return { broken: [{ evidence, level }], right }
}

const eventsOf = ({ state = '' }: Evidence): EventType[] =>
  /^(?:failed|error)/.test(state)
    ? ['card_payment_failed']
    : ['card_payment_succeeded', 'card_payment_captured']

/** The first read of a payment that is one too many. */
function excessiveRead(ofPayment: readonly Evidence[]): Evidence | undefined {
  const looks = ofPayment.filter(each => each.state || hasDone('readPayment')(each))
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
      const ends = record.exchanges.filter(each => isEnd(each) && record.made.has(idOf(each)))
      // Whoever takes messages and does not want this one takes the payment for open.
      const isByWebhook = toldIn(record.exchanges).some(({ by }) => by.kind === 'out')
      const isWanted = (each: Evidence) =>
        !isByWebhook ||
        record.webhooks.some(({ subscriptions }) =>
          eventsOf(each).some(type => subscriptions.includes(type)),
        )
      return judgeLearnt(record, ends.filter(isWanted))
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
      /** By the reference, the first search for it after the exchange. */
      const next = new Map<string | undefined, Evidence>()
      for (const each of record.exchanges.toReversed()) {
        if (each.searched && hasSucceeded(each)) next.set(each.searched, each)
        if (!isEnd(each) || !record.made.has(idOf(each))) continue
        const search = next.get(each.reference)
        const isLearnt = hasLearntElsewhere(each)
        if (isLearnt) right.push(each)
        else if (search && search.at <= each.at + SEARCH_AFTER_RETURN && isLearnt === false)
          evidence.push(search)
      }
      return { broken: [{ evidence: ifEnough(evidence) }], right }
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
      const excessive = [...ofPayment.values()].flatMap(each => excessiveRead(each) ?? [])
      return { broken: [{ evidence: ifEnough(excessive) }], right: exchanges.filter(isRead) }
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
        // A read while it is open shows a next_url of its own.
        const opened = all.filter(each => isOpening(each) || (isRead(each) && each.began < end))
        const again = opened.filter((each, i) => {
          const before = opened[i - 1]
          return isOpening(each) && (each.began >= end || (before && isOpening(before)))
        })
        // Once after the end, and twice before it, do not count.
        const parts = [...Map.groupBy(again, ({ began }) => began < end).values()]
        return parts.flatMap(each => (each.length > 1 ? each : []))
      }
      const again = [...ofPayment.values()].map(openingsAgain).filter(({ length }) => length > 0)
      const found = ifEnough(again)
      const broken = [{ evidence: found.flat(), times: found.length }]
      return { broken, right: exchanges.filter(isOpening) }
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
      const open = [...record.made.values()].filter(
        each =>
          made(each)?.mode === 'web' &&
          isOld(record, each, OPEN_FOR) &&
          !record.ofPayment.get(idOf(each))?.some(isEnded),
      )
      const { broken, right } = judgeLearnt(record, open, () => true)
      return { broken: broken.map(({ evidence }) => ({ evidence })), right }
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
      const evidence = payments.filter(made)
      const right = exchanges.filter(hasDone('capturePayment'))
      return { broken: [{ evidence, times: waiting.length }], right }
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
      return { broken: [{ evidence }], right: reads }
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
    ({ made, ofPayment }) => {
      const paid = (each: Evidence) =>
        ofPayment.get(idOf(each))?.find(({ state = '' }) => /^(?:success|capturable)/.test(state))
      const pairs = [...Map.groupBy(made.values(), ({ reference }) => reference).values()]
      // More of one reference are a constant.
      const two = pairs.filter(({ length }) => length === 2)
      const evidence = two.flatMap(([first, second]) => {
        const end = first && paid(first)
        return end && second && end.began > second.began && paid(second) ? [second] : []
      })
      return { broken: [{ evidence }], right: two.flat() }
    },
  ],
]

export const outcomeRules = rulesOf(rows)
