/** Rules about the requests of a client. */
import { SECOND } from '../../../core/time.ts'
import { hasSucceeded } from './outcomes.ts'
import type { RecordRule } from './rule.ts'
import type { Seen } from './seen.ts'

/** Requests in a second of each kind. */
const MOST_IN_A_SECOND = 15
/** Milliseconds. */
const REPEATED_WITHIN = 30 * SECOND
const LEAST_REFUSALS = 5

const madePayment = ({ operation, status }: Seen): boolean =>
  operation === 'createPayment' && status === 201

/** Within so many milliseconds of the account's time and of the machine's. */
const isWithin = (ms: number, first: Seen, later: Seen): boolean =>
  later.began - first.began < ms && later.at - first.at < ms

const kindOfPost = ({ operation }: Seen): string =>
  operation === 'createPayment' || operation === 'capturePayment' ? operation : 'others'

const rate: RecordRule = {
  key: 'P13',
  id: 'P13',
  title: 'The rate limit',
  sentence: 'GOV.UK Pay answers 429 P0900 to more than 15 such requests in a second.',
  advice: 'Make fewer at once, and repeat after a 429. Ask its support before a load test.',
  source: 'Rate limits',
  lacking: 'No POST was sent to /v1.',
  judge({ seen }) {
    const posts = seen.filter(({ kind, method }) => kind === 'api' && method === 'POST')
    const evidence = [...Map.groupBy(posts, kindOfPost).values()].flatMap(ofKind =>
      ofKind.filter((each, i) => {
        const first = ofKind[i - MOST_IN_A_SECOND]
        return first !== undefined && isWithin(SECOND, first, each)
      }),
    )
    return { broken: evidence.length > 0 ? [{ level: 'note', evidence }] : [], right: posts }
  },
}

const featureRule = (key: string, feature: string, uses: (each: Seen) => boolean): RecordRule => ({
  key,
  id: 'P14',
  title: `Before you go live: ${feature}`,
  sentence: `GOV.UK Pay must switch on ${feature} for the service first.`,
  advice: 'Ask its support before you go live.',
  source: 'MOTO and agreements',
  lacking: 'No payment was created.',
  judge({ seen }) {
    const evidence = seen.filter(each => each.kind === 'api' && uses(each))
    return {
      broken: evidence.length > 0 ? [{ level: 'note', evidence }] : [],
      right: seen.filter(madePayment),
    }
  },
})

const features = [
  featureRule('P14-moto', 'moto: true', each => madePayment(each) && each.created?.isMoto === true),
  featureRule(
    'P14-moto_api',
    'the mode moto_api',
    each => madePayment(each) && each.created?.mode === 'moto_api',
  ),
  featureRule(
    'P14-agreements',
    'agreements',
    each =>
      (each.operation === 'createAgreement' && each.status === 201) ||
      (madePayment(each) &&
        (each.created?.mode === 'agreement' || each.created?.setsUpAgreement === true)),
  ),
]

const agreementCancelled: RecordRule = {
  key: 'P8',
  id: 'P8',
  title: 'Cancelling agreements',
  sentence: 'GOV.UK Pay answers 400 P2501: only an active agreement can be cancelled.',
  advice: 'Leave an agreement as it is that was never used.',
  source: 'Cancelling an agreement that is only `created`',
  lacking: 'No agreement was cancelled.',
  judge({ seen, neverActive }) {
    const cancelled = seen.filter(
      each => each.operation === 'cancelAgreement' && hasSucceeded(each) && !each.isReplaced,
    )
    const evidence = cancelled.filter(({ about = '' }) => neverActive.has(about))
    return { broken: evidence.length > 0 ? [{ level: 'warn', evidence }] : [], right: cancelled }
  },
}

const withoutKey: RecordRule = {
  key: 'C4',
  id: 'C4',
  title: 'Idempotency-Key of recurring payments',
  sentence: 'If the answer is lost and the request is repeated, the user pays twice.',
  advice:
    'Send an Idempotency-Key with each payment in agreement mode, the same one when you repeat it.',
  source: 'Documentation of GOV.UK Pay: Take a recurring payment',
  lacking: 'No agreement payment was made.',
  judge({ seen }) {
    const creates = seen.filter(each => madePayment(each) && each.created?.mode === 'agreement')
    const evidence = creates.filter(({ created }) => !created?.hasKey)
    return { broken: evidence.length > 0 ? [{ level: 'warn', evidence }] : [], right: creates }
  },
}

const repeated: RecordRule = {
  key: 'C5',
  id: 'C5',
  title: 'Repeating a create',
  sentence: 'The answer to a create was lost and the same create was sent again: two payments.',
  advice:
    'After a lost answer search for the reference first. In agreement mode repeat with the same Idempotency-Key.',
  source: 'Idempotency-Key in the modes web and moto_api',
  lacking:
    'No answer to a create was lost. A plan can do that: reset, or a fault with when: after.',
  judge({ seen }) {
    const creates = seen.filter(
      ({ kind, operation, created }) =>
        kind === 'api' && operation === 'createPayment' && created && !created.hasKey,
    )
    const equals = [...Map.groupBy(creates, ({ created }) => created?.content).values()]
    const evidence = equals.flatMap(equal =>
      equal.filter((each, i) => {
        const before = equal[i - 1]
        return before?.isLost && isWithin(REPEATED_WITHIN, before, each)
      }),
    )
    const lost = creates.filter(({ isLost }) => isLost)
    return { broken: evidence.length > 0 ? [{ level: 'fail', evidence }] : [], right: lost }
  },
}

const tellsTooMuch: RecordRule = {
  key: 'C6',
  id: 'C6',
  title: 'What return_url contains',
  sentence:
    'return_url contains the reference, the email or metadata of the payment. Addresses stand in logs and browser histories.',
  advice:
    'Put an identifier in return_url that you made for this payment only, or a secure cookie on the user.',
  source: 'Documentation of GOV.UK Pay: Choosing the return URL',
  lacking: 'No payment was created in web mode, with a return_url that is recorded in full.',
  judge({ seen }) {
    const creates = seen.filter(each => madePayment(each) && each.created?.mode === 'web')
    const evidence = creates.filter(({ created }) => created?.tells)
    const right = creates.filter(({ created }) => created?.tells === false)
    return { broken: evidence.length > 0 ? [{ level: 'warn', evidence }] : [], right }
  },
}

const neverCaptured: RecordRule = {
  key: 'C7',
  id: 'C7',
  title: 'Capturing payments',
  sentence: 'Payments have waited for a capture for a day or more. In the end they expire there.',
  advice: 'Capture or cancel each payment that you create with delayed_capture.',
  source: 'Documentation of GOV.UK Pay: Delayed capture',
  lacking: 'No payment was captured.',
  judge({ seen, ofPayment, uncaptured }) {
    const evidence = uncaptured
      .flatMap(payment_id => ofPayment.get(payment_id)?.filter(madePayment) ?? [])
      .toSorted((one, other) => one.began - other.began)
    return {
      broken: uncaptured.length > 0 ? [{ level: 'warn', evidence, times: uncaptured.length }] : [],
      right: seen.filter(each => each.operation === 'capturePayment' && hasSucceeded(each)),
    }
  },
}

const isRefusal = ({ kind, status, code, isReplaced }: Seen): boolean =>
  kind === 'api' && code !== undefined && !isReplaced && (status ?? 0) >= 400 && (status ?? 0) < 500

const refusedAgain: RecordRule = {
  key: 'C8',
  id: 'C8',
  title: 'Repeating refused requests',
  sentence:
    'The same request was refused five times or more, and none of its kind succeeded in between.',
  advice:
    'Read the code and the description of the refusal, and do not repeat the request unchanged.',
  source: 'Documentation of GOV.UK Pay: Error codes',
  lacking: 'No request was refused.',
  judge({ seen }) {
    const groups = new Map<string, Map<string, Seen[]>>()
    const found = new Set<Seen[]>()
    for (const each of seen) {
      if (each.kind === 'api' && hasSucceeded(each)) groups.delete(each.operation)
      if (!isRefusal(each)) continue
      const { operation, code, field = '', refused = '' } = each
      const ofOperation = groups.get(operation) ?? new Map<string, Seen[]>()
      groups.set(operation, ofOperation)
      const key = [code, field, refused].join('\n')
      const equal = ofOperation.get(key) ?? []
      ofOperation.set(key, equal)
      equal.push(each)
      if (equal.length >= LEAST_REFUSALS) found.add(equal)
    }
    return {
      broken: found.size > 0 ? [{ level: 'warn', evidence: [...found].flat() }] : [],
      right: seen.filter(isRefusal),
    }
  },
}

export const clientRules: readonly RecordRule[] = [
  rate,
  ...features,
  agreementCancelled,
  withoutKey,
  repeated,
  tellsTooMuch,
  neverCaptured,
  refusedAgain,
]
