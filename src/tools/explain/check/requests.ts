/** Rules about the requests of a client. */

import { DAY, MINUTE, SECOND } from '../../../core/time.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import type { Evidence } from '../../record/exchange.ts'
import { isWithin, made } from './outcomes.ts'
import { hasDone, hasSucceeded, type Rule } from './rule.ts'

/** Requests in a second of each kind. */
const MOST_IN_A_SECOND = 15
/** Fewer at once is the speed of Farthing, and not of the client. */
const LEAST_AT_ONCE = 3
/** Milliseconds. */
const REPEATED_WITHIN = 30 * SECOND
const LEAST_REFUSALS = 5

/** The client cannot know what it did: it had left, or a plan reset the connection or replaced the response. */
export const isLost = ({ ended, effect }: Evidence): boolean => ended !== 'sent' && effect === true

const LIMITED = ['createPayment', 'capturePayment']
const POSTS = /^(?:create|capture|cancel|refund|authorise)/

/** Features that must be switched on, and what uses them. */
const features: [feature: string, uses: (each: Evidence) => boolean][] = [
  ['moto: true', each => made(each)?.moto === true],
  ['the mode moto_api', each => made(each)?.mode === 'moto_api'],
  [
    'agreements',
    each =>
      hasDone('createAgreement')(each) ||
      made(each)?.mode === 'agreement' ||
      made(each)?.agreement === true,
  ],
]

const IDEMPOTENCY = documented(
  'recurring_payments/#use-idempotency-to-avoid-double-charging-a-user',
)

/** Those that repeat one of these whose answer was lost, within 30 seconds. */
const repeatedAmong = (equals: Iterable<readonly Evidence[]>): Evidence[] =>
  [...equals].flatMap(equal =>
    equal.filter((each, i) => {
      const before = equal[i - 1]
      return before && isLost(before) && isWithin(REPEATED_WITHIN, before, each)
    }),
  )

const isOfMetadata = (told: string): boolean => told.includes(':')
const nameOf = (told: string): string => told.slice(0, told.indexOf(':'))

const isRefusal = ({ kind, status, code, ended }: Evidence): boolean =>
  kind === 'api' &&
  code !== undefined &&
  (ended === 'sent' || ended === 'gone') &&
  (status ?? 0) >= 400 &&
  (status ?? 0) < 500

export const requestRules: readonly Rule[] = [
  {
    id: 'P13',
    level: 'note',
    title: 'The rate limit',
    sentence:
      'Its source and its documentation say that GOV.UK Pay answers 429 P0900 to more than 15 such requests in a second.',
    advice:
      'Make fewer at once, and repeat after a 429. A load test needs an agreement with its support, by e-mail.',
    source: inCode('publicapi settings', 'config.yaml', '42-43'),
    lacking: 'There were never three POSTs under way at the same time.',
    judge({ exchanges }) {
      const posts = exchanges.filter(
        ({ kind, operation }) => kind === 'api' && POSTS.test(operation),
      )
      const kinds = Map.groupBy(posts, ({ operation }) => LIMITED.indexOf(operation))
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      for (const ofKind of kinds.values()) {
        /** Where the newest three begin that were under way together. */
        let together = -1
        ofKind.forEach((each, i) => {
          const start = Math.max(0, i - MOST_IN_A_SECOND)
          const inFlight = ofKind
            .slice(start, i + 1)
            .flatMap((one, place) => (one.began + one.ms >= each.began ? [start + place] : []))
          together = Math.max(together, inFlight.at(-LEAST_AT_ONCE) ?? -1)
          if (together < start) return
          const first = ofKind[i - MOST_IN_A_SECOND]
          if (first && isWithin(SECOND, first, each)) evidence.push(each)
          else right.push(each)
        })
      }
      return { broken: [{ evidence }], right }
    },
  },
  {
    id: 'P14',
    level: 'note',
    title: 'Before you go live',
    sentence: 'Its documentation says that GOV.UK Pay must switch on some features first.',
    advice: 'Ask its support before you go live.',
    source: documented('moto_payments/#take-a-payment-over-the-phone-moto-payments'),
    lacking: 'No payment needed a feature that must be switched on.',
    judge({ exchanges }) {
      const broken = features.map(([feature, uses]) => ({
        title: `Before you go live: ${feature}`,
        sentence: `Its documentation says that GOV.UK Pay must switch on ${feature} for the service first.`,
        evidence: exchanges.filter(each => each.kind === 'api' && uses(each)),
      }))
      return { broken }
    },
  },
  {
    id: 'P8',
    level: 'warn',
    title: 'Cancelling agreements',
    sentence:
      'By its source GOV.UK Pay answers 400 P2501: only an active agreement can be cancelled.',
    advice: 'Do not cancel an agreement that was never active: leave it as it is.',
    source: inCode('connector', 'agreement/service/AgreementService.java', '128-141'),
    lacking: 'No agreement was cancelled.',
    judge({ exchanges, neverActive }) {
      const cancelled = exchanges
        .filter(hasDone('cancelAgreement'))
        .filter(({ ended }) => ended !== 'replaced')
      const evidence = cancelled.filter(({ about = '' }) => neverActive.has(about))
      return { broken: [{ evidence }], right: cancelled }
    },
  },
  {
    id: 'C4',
    level: 'warn',
    title: 'Idempotency-Key of recurring payments',
    sentence: 'If the answer is lost and the request is repeated, the user pays twice.',
    advice:
      'Send an Idempotency-Key with each payment in agreement mode, the same one when you repeat it.',
    source: IDEMPOTENCY,
    lacking: 'No agreement payment was made.',
    judge({ exchanges }) {
      const creates = exchanges.filter(each => made(each)?.mode === 'agreement')
      const evidence = creates.filter(({ created }) => !created?.key)
      return { broken: [{ evidence }], right: creates }
    },
  },
  {
    id: 'C5',
    level: 'fail',
    title: 'Repeating a create',
    sentence: 'The answer to a create was lost and the same create was sent again: two payments.',
    advice:
      'After a lost answer search for the reference first. In agreement mode repeat with the same Idempotency-Key.',
    source: IDEMPOTENCY,
    lacking:
      'No answer to a create was lost. A plan can do that: reset, or a fault with when: after.',
    judge({ exchanges }) {
      const creates = exchanges.filter(({ created, effect }) => created && !created.key && effect)
      const equals = Map.groupBy(creates, ({ created }) => created?.content).values()
      return { broken: [{ evidence: repeatedAmong(equals) }], right: creates.filter(isLost) }
    },
  },
  {
    id: 'C6',
    level: 'warn',
    title: 'What return_url contains',
    sentence:
      'return_url contains the reference, the email or metadata of the payment. Whoever guesses another one may see another payment.',
    advice:
      'Put a secure random identifier in return_url that you made for this payment only, or a cookie on the user.',
    source: documented(
      'integrate_with_govuk_pay/#identifying-your-user-when-they-return-to-your-service',
    ),
    lacking: 'No payment was created in web mode.',
    judge({ exchanges }) {
      const creates = exchanges.filter(each => made(each)?.mode === 'web')
      const metadata = creates.flatMap(({ created }) => created?.told ?? []).filter(isOfMetadata)
      const values = Map.groupBy(new Set(metadata), nameOf)
      // A value that is the same in all payments says nothing of one of them.
      const tells = (told: string) =>
        !isOfMetadata(told) || (values.get(nameOf(told))?.length ?? 0) > 1
      const evidence = creates.filter(({ created }) => created?.told?.some(tells))
      return { broken: [{ evidence }], right: creates }
    },
  },
  {
    id: 'C7',
    level: 'warn',
    title: 'Capturing payments',
    sentence:
      'Payments have waited for a capture for a day or more. Its documentation says that they expire after five days.',
    advice: 'Capture or cancel each payment that you create with delayed_capture.',
    source: documented('delayed_capture/#delay-taking-a-payment'),
    lacking: 'No payment was captured.',
    needs: DAY,
    judge({ exchanges, newest, ofPayment, capturable }) {
      const waiting = capturable.filter(({ since }) => since + DAY <= newest)
      const payments = waiting.flatMap(({ payment_id }) => ofPayment.get(payment_id) ?? [])
      const evidence = payments.filter(made)
      const right = exchanges.filter(hasDone('capturePayment'))
      return { broken: [{ evidence, times: waiting.length }], right }
    },
  },
  {
    id: 'C8',
    level: 'warn',
    title: 'Repeating refused requests',
    sentence:
      'The same request was refused five times or more within a minute, and none of its kind succeeded in between.',
    advice:
      'Read the code and the description of the refusal, and do not repeat the request unchanged.',
    source: documented('api_reference/#gov-uk-pay-api-error-codes'),
    lacking: 'No request was refused.',
    judge({ exchanges }) {
      const groups = new Map<string, Map<string, Evidence[]>>()
      const evidence = new Set<Evidence>()
      for (const each of exchanges) {
        if (each.kind === 'api' && hasSucceeded(each)) groups.delete(each.operation)
        if (!isRefusal(each)) continue
        const { operation, code, field = '', refused = '' } = each
        const ofOperation = groups.get(operation) ?? new Map<string, Evidence[]>()
        groups.set(operation, ofOperation)
        const key = [code, field, refused].join('\n')
        const newest = [...(ofOperation.get(key) ?? []), each].slice(-LEAST_REFUSALS)
        ofOperation.set(key, newest)
        const [first] = newest
        if (first && newest.length === LEAST_REFUSALS && each.at - first.at < MINUTE)
          for (const one of newest) evidence.add(one)
      }
      return { broken: [{ evidence: [...evidence] }], right: exchanges.filter(isRefusal) }
    },
  },
  {
    id: 'C11',
    level: 'fail',
    title: 'Repeating a refund',
    sentence:
      'The answer to a refund was lost and the same refund was sent again without refund_amount_available: it is paid out twice.',
    advice:
      'Send refund_amount_available with each refund, from refund_summary of the payment: GOV.UK Pay then refuses the second one with P0604.',
    source: inCode('publicapi', 'service/CreateRefundService.java', '45-46'),
    lacking: 'No refund was made.',
    judge({ exchanges }) {
      const refunds = exchanges.filter(each => each.operation === 'refundPayment' && each.effect)
      const unguarded = refunds.filter(({ isGuarded }) => !isGuarded)
      const equals = Map.groupBy(refunds, each => `${each.payment_id} ${each.refund}`).values()
      const again = repeatedAmong(equals).filter(({ isGuarded }) => !isGuarded)
      if (again.length > 0) return { broken: [{ evidence: again }] }
      const sentence =
        'A refund was made without refund_amount_available: if its answer is lost and it is sent again, it is paid out twice.'
      return { broken: [{ evidence: unguarded, level: 'note', sentence }], right: refunds }
    },
  },
]
