/** Rules about the receivers of an account, from what they answered. */

import { MINUTE, SECOND } from '../../../core/time.ts'
import { duplicatesIn, type Webhook } from '../../../pay/webhooks/webhook.ts'
import { causeOf } from '../causes.ts'
import { hasSucceeded } from './outcomes.ts'
import type { Judgement, RecordFacts, RecordRule } from './rule.ts'
import type { Seen } from './seen.ts'

const TOO_SLOW = SECOND
const ATTEMPTS = 10
const LAST_MESSAGES = 3
/** A receiver that was not called for so long may have to start first. Milliseconds of account time. */
const QUIET = 10 * MINUTE
const MOST_ATTEMPTS = 2

/** The active webhooks whose receivers say by themselves what they answer. */
function judged({ seen, webhooks }: RecordFacts): Webhook[] {
  const ofTests = new Set(seen.filter(({ isOfTest }) => isOfTest).map(each => each.webhook_id))
  return webhooks.filter(({ webhook_id }) => !ofTests.has(webhook_id))
}

/** The attempts of a webhook without those that somebody made by hand. */
const attemptsTo = ({ seen }: RecordFacts, { webhook_id }: Webhook): Seen[] =>
  seen.filter(each => each.kind === 'out' && each.webhook_id === webhook_id && !each.byHand)

const isAnswered = ({ status }: Seen): boolean => status !== null
const isTimeout = ({ result = '' }: Seen): boolean => result.startsWith('timeout')

const withoutFirst = (attempts: Seen[]): Seen[] =>
  attempts.filter((each, i) => {
    const before = attempts[i - 1]
    return before !== undefined && each.at - before.at < QUIET
  })

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((one, other) => one - other)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}

/** The first two attempts without an answer in time that are in one minute of the machine with an answered one. */
function timeoutsIn(attempts: Seen[]): Seen[] {
  let answered: Seen | undefined
  let timeouts: Seen[] = []
  for (const each of attempts) {
    if (isTimeout(each)) timeouts = [...timeouts.slice(-1), each]
    else if (isAnswered(each)) answered = each
    const [first, second] = timeouts
    if (first && second && answered)
      if (each.began - Math.min(first.began, answered.began) < MINUTE) return timeouts
  }
  return []
}

function slowness(attempts: Seen[]): Judgement[] {
  const counted = withoutFirst(attempts)
  const timeouts = timeoutsIn(counted)
  if (timeouts.length > 0)
    return [
      {
        level: 'fail',
        evidence: timeouts,
        sentence:
          'The receiver sometimes does not answer in time. GOV.UK Pay then sends the message again, later.',
      },
    ]
  const answered = counted.filter(isAnswered).slice(-ATTEMPTS)
  const isSlow = answered.length === ATTEMPTS && median(answered.map(({ ms }) => ms)) > TOO_SLOW
  return isSlow ? [{ level: 'warn', evidence: answered }] : []
}

const slow: RecordRule = {
  key: 'W1',
  id: 'W1',
  title: 'Speed of receivers',
  sentence: 'Half of the answers of the receiver take more than a second.',
  advice: 'Answer 2xx first, and do the work afterwards.',
  source: 'Documentation of GOV.UK Pay: Webhooks',
  lacking:
    'No receiver but those of tests answered ten attempts, besides those after a pause of ten minutes.',
  judge(facts) {
    const ofWebhooks = judged(facts).map(webhook => attemptsTo(facts, webhook))
    return {
      broken: ofWebhooks.flatMap(slowness),
      right: ofWebhooks.flatMap(attempts => {
        const answered = withoutFirst(attempts).filter(isAnswered)
        return answered.length >= ATTEMPTS ? answered : []
      }),
    }
  },
}

const isRedirect = ({ status }: Seen): boolean => Math.floor((status ?? 0) / 100) === 3

const redirects: RecordRule = {
  key: 'W2',
  id: 'W2',
  title: 'Redirects of receivers',
  sentence: 'A redirect is not followed, so the message counts as not delivered.',
  advice:
    'Register the address to which the receiver redirects. Often only https or a slash at the end is missing.',
  source: 'Documentation of GOV.UK Pay: Webhooks',
  lacking: 'No receiver but those of tests answered a message.',
  judge(facts) {
    const answered = judged(facts)
      .flatMap(each => attemptsTo(facts, each))
      .filter(isAnswered)
    const evidence = answered.filter(isRedirect)
    return { broken: evidence.length > 0 ? [{ level: 'fail', evidence }] : [], right: answered }
  },
}

/** The attempts of each message of a webhook, in the order of the messages. */
function messagesTo(facts: RecordFacts, { webhook_id }: Webhook): Seen[][] {
  const attempts = facts.seen.filter(
    each => each.kind === 'out' && each.webhook_id === webhook_id && each.byHand !== 'other',
  )
  return [...Map.groupBy(attempts, ({ message_id }) => message_id).values()]
}

/** The second attempt of the newest message may be on its way. */
const hasEnded = (attempts: Seen[]): boolean =>
  attempts.some(hasSucceeded) || attempts.length >= MOST_ATTEMPTS

const ACCEPTED_NONE = 'The receiver accepted none of its last three messages.'

function refusing(facts: RecordFacts, webhook: Webhook): Judgement[] {
  const last = messagesTo(facts, webhook).filter(hasEnded).slice(-LAST_MESSAGES)
  const [first] = last.flat()
  const newest = last.flat().at(-1)
  if (!first || !newest || last.length < LAST_MESSAGES) return []
  if (last.flat().some(hasSucceeded) || facts.gaps.some(({ to }) => to >= first.began)) return []
  const { status, result = '' } = newest
  // W2 says what to do then.
  if (isRedirect(newest)) return []
  const sentence = `${ACCEPTED_NONE} ${causeOf({ status, result }) ?? ''}`.trim()
  return [{ level: 'fail', evidence: last.flat(), sentence }]
}

const refuses: RecordRule = {
  key: 'W3',
  id: 'W3',
  title: 'Accepting messages',
  sentence: ACCEPTED_NONE,
  advice:
    'Mend the receiver. The message in the console has its response. If that is 400, 401 or 403, Ask the receiver there, or farthing verify --ask MESSAGE_ID, finds the mistake.',
  source: 'Documentation of GOV.UK Pay: Webhooks',
  lacking:
    'There is a receiver that accepted no message, or no receiver but those of tests got one.',
  judge(facts) {
    const webhooks = judged(facts)
    const accepted = webhooks.flatMap(webhook => {
      const attempts = messagesTo(facts, webhook).slice(-LAST_MESSAGES).flat()
      return attempts.length > 0 ? [attempts.filter(hasSucceeded)] : []
    })
    return {
      broken: webhooks.flatMap(webhook => refusing(facts, webhook)),
      right: accepted.every(each => each.length > 0) ? accepted.flat() : [],
    }
  },
}

/** The requests that registered these webhooks, as far as they are kept. */
const registrations = ({ seen }: RecordFacts, webhooks: readonly Webhook[]): Seen[] =>
  seen.filter(
    ({ operation, about }) =>
      operation === 'createWebhook' && webhooks.some(({ webhook_id }) => webhook_id === about),
  )

const registeredTwice: RecordRule = {
  key: 'W4',
  id: 'W4',
  title: 'Webhooks with one callback URL',
  sentence:
    'Two active webhooks have one callback URL and an event in common: it gets each such message twice.',
  advice: 'Deactivate one of the webhooks.',
  source: 'Documentation of GOV.UK Pay: Webhooks',
  lacking: 'The account has no active webhook.',
  judge(facts) {
    const { webhooks } = facts
    const twice = duplicatesIn(webhooks).flat()
    const evidence = registrations(facts, twice)
    return {
      broken: twice.length > 0 ? [{ level: 'warn', evidence, times: twice.length }] : [],
      right: registrations(facts, webhooks),
    }
  },
}

const ADDRESS = /^(?:[\d.]+|\[.*\])$/

const hasLiveHost = ({ callback_url }: Webhook): boolean => {
  const { hostname } = new URL(callback_url)
  return /\.gov\.uk\.?$/i.test(hostname) && !ADDRESS.test(hostname)
}

const liveHost: RecordRule = {
  key: 'P15',
  id: 'P15',
  title: 'The host of a live webhook',
  sentence: 'The callback URL of a live webhook must have a host that ends in .gov.uk.',
  advice:
    'Register the address of your service in production there. Nothing is to be changed in tests.',
  source: 'Host of a live webhook',
  lacking: 'The account has no active webhook.',
  judge(facts) {
    const others = facts.webhooks.filter(each => !hasLiveHost(each))
    const evidence = registrations(facts, others)
    return {
      broken: others.length > 0 ? [{ level: 'note', evidence, times: others.length }] : [],
      right: registrations(facts, facts.webhooks),
    }
  },
}

export const receiverRules: readonly RecordRule[] = [
  liveHost,
  slow,
  redirects,
  refuses,
  registeredTwice,
]
