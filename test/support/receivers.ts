/** Receivers that would fail in production, and some that would not, with the findings of the check and of probes. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { statuses } from '../../src/pay/payments/payment.ts'
import { hex, type Keys, mistaken, right, signatureIn } from './checking-receivers.ts'
import type { Body } from './client.ts'
import { attemptsAt, client, type Integration, times } from './integration.ts'
import { cancelledPayment } from './journeys.ts'
import type { Behaviour, Received } from './receiver.ts'

/** Milliseconds within which two messages arrive that are sent at once, also on a busy machine. */
const SAME_MOMENT = 200

/** A message as a receiver sees it. */
type Arrived = {
  request: Received
  message: Body
  isRight: boolean
  keys: Keys
  /** The number of arrivals with this identifier, this one included. */
  times: number
  /** Resolves after a while to whether no other message was under way meanwhile. */
  isAlone: () => Promise<boolean>
  isKnownPayment: boolean
  /** Resolves to the status of the payment; 'none' if it does not exist. */
  read: () => Promise<string>
  /** Runs `work` after the answer. */
  later: (work: () => Promise<unknown>) => void
}

type Judge = (arrived: Arrived) => number | Promise<number>

export type JudgingReceiver = {
  judge: Judge
  /** The findings of a probe that are no pass. Absent if the receiver accepts no true message. */
  probed?: Record<string, string>
  /** The cause that is found by asking the receiver about a message that it refuses. */
  asked?: string
}

const right401 = (arrived: Arrived): number => (arrived.isRight ? 200 : 401)
const refusing =
  (isRefused: (arrived: Arrived) => boolean, status = 400): Judge =>
  arrived =>
    arrived.isRight && isRefused(arrived) ? status : right401(arrived)

/** Accepts only the signature that `expected` computes from the body. */
const expecting =
  (expected: (body: string, keys: Keys) => string): Judge =>
  ({ request, keys }) =>
    signatureIn(request) === expected(request.body, keys) ? 200 : 401

/** Answers 200 first, as the documentation says, and then reads the payment if it takes the message for true. */
const readingLater =
  (isTrue: (arrived: Arrived) => boolean): Judge =>
  arrived => {
    if (isTrue(arrived)) arrived.later(arrived.read)
    return 200
  }

const mistake = (cause: string): JudgingReceiver => ({
  judge: expecting(mistaken(cause)),
  asked: cause,
})

const printedAgain = (body: string, { own }: Keys) => hex(JSON.stringify(JSON.parse(body)), own)

const API_STATUSES: readonly string[] = statuses

/** The statuses that another public client expects with each event. */
const STATUSES_OF: Record<string, string[]> = {
  card_payment_succeeded: ['success', 'submitted', 'capturable'],
  card_payment_captured: ['success'],
  card_payment_failed: ['failed'],
  card_payment_cancelled: ['cancelled', 'failed'],
  card_payment_refunded: ['success'],
}

const notSeen = (...ids: string[]): Record<string, string> =>
  Object.fromEntries(ids.map(id => [id, 'not seen']))
/** The refusals of the receiver that is not steady. */
let refusals = 0

/** The rules whose results no answer shows, if a receiver accepts a forgery. */
const BY_ANSWERS_ALONE = notSeen('R3', 'R4', 'R8')

export const judgingReceivers: Record<string, JudgingReceiver> = {
  // A third public client does this. It goes by the event alone, and accepts an unknown event.
  'checks rightly': { judge: right401, probed: {}, asked: 'accepts' },
  'checks nothing': {
    judge: async ({ read }) => {
      await read()
      return 200
    },
    probed: { R1: 'fail', R2: 'fail', ...BY_ANSWERS_ALONE, R11: 'fail' },
    asked: 'checks-nothing',
  },
  'answers 200, whatever comes': {
    judge: () => 200,
    probed: notSeen('R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8', 'R9', 'R10', 'R11'),
  },
  'answers 200, and reads the payments of true messages': {
    judge: readingLater(({ isRight }) => isRight),
    probed: BY_ANSWERS_ALONE,
  },
  'answers 200, and prints JSON again before it looks': {
    judge: readingLater(
      ({ request, keys }) => signatureIn(request) === printedAgain(request.body, keys),
    ),
    probed: { ...BY_ANSWERS_ALONE, R5: 'fail' },
  },
  'answers 200, and does nothing about statuses that it does not know': {
    judge: readingLater(
      ({ isRight, message }) => isRight && API_STATUSES.includes(message.resource.state.status),
    ),
    probed: { ...BY_ANSWERS_ALONE, R10: 'fail' },
  },
  'has no key': {
    judge: async ({ request, keys, read }) => {
      const expected = ['undefined', keys.own].map(each => hex(request.body, each))
      if (!expected.includes(signatureIn(request))) return 401
      await read()
      return 200
    },
    probed: { ...BY_ANSWERS_ALONE, R11: 'fail' },
  },
  'prints JSON again': { judge: expecting(printedAgain), probed: { R5: 'fail' } },
  'prints JSON with two spaces': mistake('body:printed-pretty-2'),
  'prints JSON as PHP does': mistake('body:printed-php'),
  'reads Latin-1': { ...mistake('body:latin-1'), probed: { R6: 'fail' } },
  'compares base64': mistake('digest:base64'),
  'compares upper case': mistake('digest:upper'),
  'refuses all': { judge: () => 401, asked: 'unknown' },
  'is not idempotent': { judge: refusing(({ times }) => times > 1, 409), probed: { R3: 'warn' } },
  'needs to know the payment': {
    judge: refusing(({ isKnownPayment }) => !isKnownPayment, 404),
    probed: { R4: 'warn', R10: 'not seen' },
  },
  'needs to know the payment, and reads it after it has answered': {
    judge: arrived => {
      if (arrived.isRight) arrived.later(arrived.read)
      return arrived.isKnownPayment ? right401(arrived) : 404
    },
    probed: { R4: 'warn', R10: 'not seen' },
  },
  // The client of STATUSES_OF: it answers 500 if the status of the payment does not match the event.
  'reads the payment and compares its status with the event': {
    judge: async ({ isRight, message, read }) => {
      if (!isRight) return 401
      return STATUSES_OF[message.event_type]?.includes(await read()) ? 200 : 500
    },
    probed: notSeen('R4', 'R10'),
  },
  'is strict about unknown fields': {
    judge: refusing(({ message }) => 'a_field_that_is_new' in message.resource),
    probed: { R7: 'warn' },
    asked: 'accepts',
  },
  'fails when two come at once': {
    judge: async arrived => (arrived.isRight ? ((await arrived.isAlone()) ? 200 : 500) : 401),
    probed: { R8: 'warn' },
  },
  'needs the links': {
    judge: refusing(({ message }) => !message.resource._links, 500),
    probed: { R9: 'warn', R10: 'fail' },
  },
  'refuses the resource type PAYMENT once': {
    judge: refusing(({ message }) => message.resource_type === 'PAYMENT' && refusals++ === 0),
    probed: { R9: 'not seen' },
  },
  'takes the resource type payment alone': {
    judge: refusing(({ message }) => message.resource_type !== 'payment', 422),
    probed: { R9: 'warn', R10: 'fail' },
  },
  // A public client of a department knows only these statuses, and answers 500 to any other.
  'knows only the statuses of the API': {
    judge: refusing(({ message }) => !API_STATUSES.includes(message.resource.state.status), 500),
    probed: { R10: 'fail' },
  },
}

type Surroundings = {
  keys: Keys
  knows: (payment_id: string) => boolean
  read: (payment_id: string) => Promise<string>
  /** Lets seconds pass before it does something after its answer. */
  pass: () => void
}

export function judging(
  judge: Judge,
  { keys, knows, read, pass }: Surroundings,
): Behaviour & { isBusy(): boolean } {
  const seen = new Map<string, number>()
  let busy = 0
  let underWay = 0
  let mostUnderWay = 0
  return {
    plain: true,
    isBusy: () => busy > 0,
    async onRequest({ request, response }) {
      const message = JSON.parse(request.body)
      const { webhook_message_id: id, resource_id } = message
      const times = (seen.get(id) ?? 0) + 1
      seen.set(id, times)
      busy += 1
      underWay += 1
      mostUnderWay = underWay === 1 ? 1 : Math.max(mostUnderWay, underWay)
      const works: (() => Promise<unknown>)[] = []
      const status = await judge({
        request,
        message,
        keys,
        isRight: signatureIn(request) === right(request.body, keys),
        times,
        isAlone: async () => {
          await sleep(SAME_MOMENT)
          await setImmediate() // reads messages that have arrived in the meantime first
          return mostUnderWay === 1
        },
        isKnownPayment: knows(resource_id),
        read: () => read(resource_id),
        later: work => works.push(work),
      })
      underWay -= 1
      const answered = new Promise(resolve => response.on('finish', resolve))
      response.writeHead(status).end()
      await answered
      if (works.length > 0) pass()
      await Promise.all(works.map(work => work()))
      busy -= 1
    },
  }
}

/** Milliseconds that make a receiver slow if half of its answers take as long. */
export const SLOW = 1_001

/** A receiver that answers three messages with this status. */
const answers = (what: string, expected: string, status: number, after = '') =>
  client(`a receiver that ${what} three messages${after}`, expected, async keeper => {
    await keeper.hook(status)
    await times(3, () => keeper.payAndRead())
    if (after) await keeper.leaveGap()
  })

/** A receiver with these attempts in the record, a second apart; `pause`: milliseconds before the last. */
const attempted = (
  what: string,
  expected: string,
  attempts: Parameters<typeof attemptsAt>[1],
  pause = 0,
) =>
  client(`a receiver that is ${what}`, expected, async keeper => {
    const webhook = await keeper.hook()
    await keeper.record(SECOND, attemptsAt(webhook, attempts.slice(0, -1)))
    keeper.service.clock.advance(pause)
    await keeper.record(SECOND, attemptsAt(webhook, attempts.slice(-1)))
  })

/** A receiver with one worker: attempts time out while its own requests about the payments wait `ms` milliseconds. */
const waiting = (what: string, expected: string, ms: number, ...payments: string[]) =>
  client(`a receiver whose requests wait ${what}`, expected, async ({ hook, record }) => {
    const webhook = await hook()
    await record(SECOND, attemptsAt(webhook, [9, 9]))
    for (const payment_id of payments) {
      await record(0, [{ payment_id, operation: 'cancelPayment', status: 204, ms }])
      await record(SECOND, attemptsAt(webhook, ['timeout', 'timeout'], payment_id))
    }
  })

export const receivers: Record<string, Integration> = Object.fromEntries([
  answers('redirects', 'W2 fail x6, P15 note', 302),
  answers('redirects with the same method', 'P15 note, W2 note x6', 307),
  answers('refuses', 'W3 fail x6, P15 note', 500),
  answers('refuses', 'P15 note', 500, ', with a gap in the record after them'),
  client('a receiver that refuses two messages', 'P15 note', async ({ hook, payAndRead }) => {
    await hook(500)
    await times(2, () => payAndRead())
  }),
  ...[200, 400].map(status =>
    client(
      `a receiver that answers ${status} to a message that GOV.UK Pay does not send`,
      status === 200 ? 'P11 note, P15 note' : 'P15 note',
      async ({ api, hook }) => {
        await hook(status, ['card_payment_cancelled'])
        await cancelledPayment(api)
      },
    ),
  ),
  client('one that is registered twice', 'W4 warn x2, P15 note, P15 note', async keeper => {
    const { callback_url } = await keeper.hook()
    await keeper.api.post('/control/webhooks', { callback_url })
  }),
  attempted('slow ten times', 'W1 warn x10, P15 note', [9, ...Array(10).fill(SLOW)]),
  attempted('slow nine times', 'P15 note', [9, ...Array(9).fill(SLOW)]),
  attempted('just fast enough', 'P15 note', [9, ...Array(10).fill(1_000)]),
  attempted('late twice', 'W1 fail x2, P15 note', [9, 'timeout', 9, 'timeout']),
  attempted('late twice, not in one minute', 'P15 note', [9, 'timeout', 9, 'timeout'], MINUTE),
  attempted('late once', 'P15 note', [9, 'timeout', 9, 9]),
  waiting('for messages to itself', 'P15 note, W5 note x6', 4_050, 'one', 'two', 'three'),
  waiting('for something else, and that is late twice', 'W1 fail x2, P15 note', 2_900, 'one'),
])
