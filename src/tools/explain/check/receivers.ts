/** Rules about the receivers of an account and their answers. */

import { MINUTE, SECOND } from '../../../core/time.ts'
import { attempts as attemptsOf } from '../../../pay/differences/messages.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import { sendsTheSame, type Webhook } from '../../../pay/webhooks/webhook.ts'
import type { Evidence } from '../../record/exchange.ts'
import { causeOf } from '../causes.ts'
import { isGapSince } from './outcomes.ts'
import type { AccountRecord } from './record.ts'
import { hasSucceeded, LOSING, type Result, type Row, rulesOf } from './rule.ts'

const TOO_SLOW = SECOND
const ATTEMPTS = 10
const LAST_MESSAGES = 3
/** After such a pause a receiver may have to start first. Milliseconds of account time. */
const QUIET = 10 * MINUTE

/** An active webhook with all attempts to it. */
type Receiver = { webhook: Webhook; attempts: readonly Evidence[] }

/** The most milliseconds between the last attempt that a request waited for and the request's answer. */
const SOON = 50

/** Attempts during a request of the application about the same payment, which waits for them under some behaviours. */
function awaitedIn({ exchanges }: AccountRecord): Set<Evidence> {
  const awaited = new Set<Evidence>()
  /** By payment: when the last of the requests that have begun was answered. */
  const ends = new Map<string | null, number>()
  const isRequest = ({ kind }: Evidence) => Number(kind === 'api')
  const inTime = (one: Evidence, other: Evidence) =>
    one.began - other.began || isRequest(other) - isRequest(one)
  for (const exchange of exchanges.toSorted(inTime)) {
    const { kind, payment_id, began, ms } = exchange
    const end = ends.get(payment_id) ?? 0
    if (kind === 'api') ends.set(payment_id, Math.max(end, began + ms))
    else if (payment_id !== null && began + ms <= end + SOON) awaited.add(exchange)
  }
  return awaited
}

/**
 * Joins the results for all receivers, except those that say that they are of tests. If one result is unclear, nothing
 * is `right`. With `awaited` (W5) only attempts that a request waited for count. Other rules leave out their timeouts.
 */
function resultOfReceivers(
  record: AccountRecord,
  resultOf: (receiver: Receiver) => Result,
  awaited = false,
): Result {
  const { exchanges, webhooks } = record
  const ofRequests = awaitedIn(record)
  const sent = exchanges.filter(
    exchange =>
      exchange.kind === 'out' &&
      (awaited ? ofRequests.has(exchange) : !isTimeout(exchange) || !ofRequests.has(exchange)),
  )
  const byWebhook = Map.groupBy(sent, ({ webhook_id }) => webhook_id)
  const results = webhooks
    .map(webhook => ({ webhook, attempts: byWebhook.get(webhook.webhook_id) ?? [] }))
    .filter(({ attempts }) => !attempts.some(({ test }) => test))
    .map(receiver => ({ ...resultOf(receiver), webhook: receiver.webhook }))
  return {
    violations: results.flatMap(({ violations = [], webhook }) =>
      violations.map(violation => ({ ...violation, webhook })),
    ),
    right: results.some(({ unclear }) => unclear) ? [] : results.flatMap(({ right = [] }) => right),
  }
}

/** The attempts since the last change of a webhook, without those that somebody made by hand. */
const sinceChange = ({ webhook: { changed = 0 }, attempts }: Receiver): Evidence[] =>
  attempts.filter(({ began, hand }) => began >= changed && !hand)

const isAnswered = ({ status }: Evidence): boolean => status !== null
const isTimeout = ({ result = '' }: Evidence): boolean => result.startsWith('timeout')

/** The webhooks whose receiver gets messages more than once, one list for each address. */
const duplicatesIn = (webhooks: readonly Webhook[]): Webhook[][] =>
  [...Map.groupBy(webhooks, ({ callback_url }) => new URL(callback_url).href).values()]
    .map(same => same.filter(one => same.some(other => other !== one && sendsTheSame(one, other))))
    .filter(same => same.length > 0)

/** The first two timeouts that are within one minute of machine time of an attempt that was answered. */
function timeoutsIn(attempts: Evidence[]): Evidence[] {
  let answered: Evidence | undefined
  let timeouts: Evidence[] = []
  for (const attempt of attempts) {
    if (isTimeout(attempt)) timeouts = [...timeouts.slice(-1), attempt]
    else if (isAnswered(attempt)) answered = attempt
    const [first, second] = timeouts
    if (first && second && answered)
      if (attempt.began - Math.min(first.began, answered.began) < MINUTE) return timeouts
  }
  return []
}

const LIMITS = 'Its source waits 3 seconds, an account of behaviour specification 2.'
const LATE = `The receiver sometimes does not answer in time. GOV.UK Pay then sends the message again, later. ${LIMITS}`

/** GOV.UK Pay follows these redirects with the same method. */
const KEEPING = [307, 308]

const FOLLOWED =
  'The receiver redirects. The source of GOV.UK Pay follows that with body and signature; an account of behaviour specification does not.'

/** `redirected` is the status of a redirect that the attempt followed. */
const isRedirect = ({ redirected, status }: Evidence, among = [...LOSING, ...KEEPING]): boolean =>
  among.includes(redirected ?? status ?? 0)

const ACCEPTED_NONE = 'The receiver accepted none of its last three messages.'

/** The requests that registered these webhooks, as far as the record has them. */
const registrations = ({ exchanges }: AccountRecord, webhooks: readonly Webhook[]): Evidence[] =>
  exchanges.filter(
    ({ operation, about }) =>
      operation === 'createWebhook' && webhooks.some(({ webhook_id }) => webhook_id === about),
  )

const hasLiveHost = ({ callback_url }: Webhook): boolean =>
  /\.gov\.uk\.?$/i.test(new URL(callback_url).hostname)

const rows: Row[] = [
  [
    'P15',
    'note',
    'The host of a live webhook',
    'By its documentation the callback URL of a live webhook must have a host that ends in .gov.uk. In tests any host will do.',
    'Register the address of your service in production there, or ask its support for an exception.',
    documented('webhooks/#set-up-a-callback-url-to-receive-a-webhook-message'),
    'The account has no active webhook, or the request that registered it is not kept.',
    record => {
      const right = registrations(record, record.webhooks)
      const others = record.webhooks.filter(webhook => !hasLiveHost(webhook))
      const violations = others.map(webhook => ({
        webhook,
        evidence: right.filter(({ about }) => about === webhook.webhook_id),
        times: 1,
      }))
      return { violations, right }
    },
  ],
  [
    'W1',
    'warn',
    'Speed of receivers',
    `Half of the answers of the receiver take more than a second. ${LIMITS}`,
    'Answer 2xx first, and do the work afterwards.',
    inCode('webhooks settings', 'config.yaml', '99'),
    'No receiver, apart from those of tests, answered ten attempts. One after a pause of ten minutes does not count.',
    record =>
      resultOfReceivers(record, receiver => {
        const attempts = sinceChange(receiver).filter((attempt, i, all) => {
          const before = all[i - 1]
          return before !== undefined && attempt.at - before.at < QUIET
        })
        const answered = attempts.filter(isAnswered)
        const right = answered.length >= ATTEMPTS ? answered : []
        const timeouts = timeoutsIn(attempts)
        if (timeouts.length > 0)
          return { violations: [{ evidence: timeouts, level: 'fail', sentence: LATE }] }
        const last = right.slice(-ATTEMPTS)
        const times = last.map(({ ms }) => ms).toSorted((one, other) => one - other)
        const [before = 0, after = 0] = times.slice(ATTEMPTS / 2 - 1)
        return { violations: [{ evidence: (before + after) / 2 > TOO_SLOW ? last : [] }], right }
      }),
  ],
  [
    'W2',
    'fail',
    'Redirects of receivers',
    'The receiver redirects. The source of GOV.UK Pay follows that with a GET without body and signature, and takes a 2xx to it for delivered: the message is lost.',
    'Register the address to which the receiver redirects. Often only https or a slash at the end is missing.',
    inCode('webhooks', 'app/WebhooksModule.java', '120-124'),
    'No receiver but those of tests answered a message.',
    record =>
      resultOfReceivers(record, receiver => {
        const answered = sinceChange(receiver).filter(isAnswered)
        const evidence = answered.filter(attempt => isRedirect(attempt))
        const isLost = evidence.some(attempt => isRedirect(attempt, LOSING))
        const kept = isLost ? {} : ({ level: 'note', sentence: FOLLOWED } as const)
        return { violations: [{ ...kept, evidence }], right: answered }
      }),
  ],
  [
    'W3',
    'fail',
    'Accepting messages',
    ACCEPTED_NONE,
    'Mend the receiver. The message in the console has its response. If that is 400, 401 or 403, Ask the receiver there, or farthing verify --ask MESSAGE_ID, finds the mistake.',
    inCode('webhooks', 'deliveryqueue/managed/SendAttempter.java', '95'),
    'There is a receiver that accepted no message, or no receiver but those of tests got one.',
    record => {
      const { most, delays } = attemptsOf[record.behaviour]
      /** The number of attempts without a pause: the second may be on its way. Later ones are not waited for. */
      const atOnce = most - delays.length
      return resultOfReceivers(record, receiver => {
        const attempts = receiver.attempts.filter(({ hand }) => hand !== 'other')
        const messages = [...Map.groupBy(attempts, ({ message_id }) => message_id).values()]
        const newest = messages.slice(-LAST_MESSAGES).flat()
        const right = newest.filter(hasSucceeded)
        const last = messages
          .filter(all => all.some(hasSucceeded) || all.length >= atOnce)
          .slice(-LAST_MESSAGES)
        const [first] = last.flat()
        const end = last.flat().at(-1)
        // W2 reports redirects.
        const isRefusing =
          first &&
          end &&
          last.length === LAST_MESSAGES &&
          !last.flat().some(hasSucceeded) &&
          !isRedirect(end) &&
          !isGapSince(record, first)
        if (!isRefusing) return right.length === 0 && newest[0] ? { unclear: newest } : { right }
        const { status, result = '' } = end
        const sentence = `${ACCEPTED_NONE} ${causeOf({ status, result }) ?? ''}`.trim()
        return { violations: [{ evidence: last.flat(), sentence }], right }
      })
    },
  ],
  [
    'W4',
    'warn',
    'Webhooks with one callback URL',
    'Two active webhooks have one callback URL and an event in common: it gets each such message twice.',
    'Deactivate one of the webhooks.',
    inCode('webhooks', 'message/WebhookMessageService.java', '81'),
    'The account has no two active webhooks, or the requests that registered them are not kept.',
    record => {
      const violations = duplicatesIn(record.webhooks).map(webhooks => ({
        evidence: registrations(record, webhooks),
        times: webhooks.length,
        ...(webhooks[0] && { webhook: webhooks[0] }),
      }))
      const right = record.webhooks.length > 1 ? registrations(record, record.webhooks) : []
      return { violations, right }
    },
  ],
  [
    'W5',
    'note',
    'Requests that wait for their own message',
    'The receiver did not answer while a request of your service, which caused the message, waited for its own answer: a server with one worker cannot do both. With GOV.UK Pay the message comes after the answer.',
    'Nothing is to be mended for production. Give the server a second worker in tests, or use a test account of behaviour govuk-pay, where the message comes later too.',
    inCode('webhooks settings', 'config.yaml', '92-95'),
    'No message was sent while a request of the application waited for it.',
    record =>
      resultOfReceivers(
        record,
        receiver => {
          const attempts = sinceChange(receiver)
          return {
            violations: [{ evidence: attempts.filter(isTimeout) }],
            right: attempts.filter(hasSucceeded),
          }
        },
        true,
      ),
  ],
]

export const receiverRules = rulesOf(rows)
