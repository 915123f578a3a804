/** Rules about the requests of a client. */

import { SECOND } from '../../../core/time.ts'
import { postsASecond } from '../../../pay/differences/arriving.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import type { Evidence } from '../../record/exchange.ts'
import { creationOf, isWithin, runsOf } from './outcomes.ts'
import { hasDone, type Row, rulesOf } from './rule.ts'

/** The most requests of each kind in a second. */
const MOST_IN_A_SECOND = postsASecond['govuk-pay']
/** If fewer requests are under way at once, their number shows the speed of Farthing, not of the client. */
const LEAST_AT_ONCE = 3
/** Milliseconds. */
const REPEATED_WITHIN = 30 * SECOND
const REFUSED_WITHIN = 10 * SECOND
const LEAST_REFUSALS = 5
const CARD_TIMEOUT = 15 * SECOND

/** Whether the client cannot know the effect: it had left, or a plan reset the connection or replaced the response. */
export const isLost = ({ kind, ended, effect }: Evidence): boolean =>
  kind === 'api' && ended !== 'sent' && effect === true

const LIMITED = ['createPayment', 'capturePayment']
const POSTS = /^(?:create|capture|cancel|refund|authorise)/

/** Features to be switched on, the page of GOV.UK Pay's documentation that says so, and the requests that use them. */
const features: [feature: string, page: string, uses: (post: Evidence) => boolean][] = [
  ['moto: true', 'moto_payments/#turn-on-moto-payments', post => creationOf(post)?.moto === true],
  [
    'the mode moto_api',
    'moto_payments/moto_send_card_details_api/#set-up-sending-card-details-through-the-api',
    post => creationOf(post)?.mode === 'moto_api',
  ],
  [
    'agreements',
    'recurring_payments/#2-turn-on-recurring-payments-with-gov-uk-pay',
    post => hasDone('createAgreement')(post) || creationOf(post)?.agreement !== undefined,
  ],
]

export const IDEMPOTENCY = documented(
  'recurring_payments/#use-idempotency-to-avoid-double-charging-a-user',
)

/** The POSTs that repeat an equal POST, whose answer was lost, within 30 seconds. */
const repeatedAmong = (posts: readonly Evidence[]): Evidence[] =>
  [...Map.groupBy(posts, ({ content }) => content).values()]
    .flatMap(equal => runsOf(2, REPEATED_WITHIN, equal))
    .flatMap(([before, again]) => (before && again && isLost(before) ? [again] : []))

const isOfMetadata = (detail: string): boolean => detail.includes(':')
const nameOf = (detail: string): string => detail.slice(0, detail.indexOf(':'))

/** Whether the client got an answer of 4xx. */
const isRefusal = ({ ended, status, code }: Evidence): boolean =>
  code !== undefined && /^(?:sent|replaced)$/.test(ended) && Math.floor((status ?? 0) / 100) === 4

/** A detail in return_url, in words. */
const METADATA = 'a value of the metadata'
const wordsOf = (detail: string): string => (isOfMetadata(detail) ? METADATA : `the ${detail}`)

const rows: Row[] = [
  [
    'P13',
    'note',
    postsASecond.about.subject,
    `By its source GOV.UK Pay: ${postsASecond.about.govukPay}.`,
    'Make fewer at once, and repeat after a second or more.',
    postsASecond.about.source,
    'There were never three POSTs under way at the same time.',
    ({ exchanges, behaviour }) => {
      if (behaviour === 'govuk-pay') return undefined
      const posts = exchanges.filter(
        ({ kind, operation }) => kind === 'api' && POSTS.test(operation),
      )
      const kinds = Map.groupBy(posts, ({ operation }) => LIMITED.indexOf(operation))
      const [evidence, right]: [Evidence[], Evidence[]] = [[], []]
      for (const ofKind of kinds.values()) {
        /** The posts that began while two others were under way. */
        const together = new Set(
          ofKind.filter((post, i) => {
            const before = ofKind.slice(Math.max(0, i - MOST_IN_A_SECOND), i)
            const inFlight = before.filter(({ began, ms }) => began + ms >= post.began)
            return inFlight.length >= LEAST_AT_ONCE - 1
          }),
        )
        const runs = runsOf(MOST_IN_A_SECOND + 1, SECOND, ofKind)
        const many = runs.filter(run => run.some(post => together.has(post)))
        evidence.push(...many.flatMap(run => run.slice(-1)))
        right.push(...together)
      }
      return { violations: [{ evidence }], right }
    },
  ],
  [
    'P14',
    'note',
    'Before you go live',
    'Its documentation says that GOV.UK Pay must switch on some features first.',
    'Ask its support before you go live.',
    documented('moto_payments/#turn-on-moto-payments'),
    'No payment needed a feature that must be switched on.',
    ({ exchanges }) => {
      const violations = features.map(([feature, page, uses]) => ({
        source: documented(page),
        title: `Before you go live: ${feature}`,
        sentence: `Its documentation says that GOV.UK Pay must switch on ${feature} for the service first.`,
        evidence: exchanges.filter(exchange => exchange.kind === 'api' && uses(exchange)),
      }))
      return { violations }
    },
  ],
  [
    'C5',
    'fail',
    'Repeating a create',
    'The answer to a create was lost and the same create was sent again: two payments.',
    'After a lost answer search for the reference first. In agreement mode repeat with the same Idempotency-Key.',
    IDEMPOTENCY,
    'No answer to a create was lost. A plan can do that: reset, or a fault with when: after.',
    ({ exchanges }) => {
      const creates = exchanges.filter(({ created, effect }) => created && !created.key && effect)
      return { violations: [{ evidence: repeatedAmong(creates) }], right: creates.filter(isLost) }
    },
  ],
  [
    'C6',
    'warn',
    'What return_url contains',
    'return_url contains what is known of the payment. Whoever knows or guesses that of another one may see that payment.',
    'Put a secure random identifier in return_url that you made for this payment only, or a cookie on the user.',
    documented('integrate_with_govuk_pay/#identifying-your-user-when-they-return-to-your-service'),
    'No payment was created in web mode.',
    ({ exchanges }) => {
      const creates = exchanges.filter(exchange => creationOf(exchange)?.mode === 'web')
      const metadata = creates.flatMap(({ created }) => created?.told ?? []).filter(isOfMetadata)
      const names = Map.groupBy(metadata, nameOf)
      // A value of several payments, such as the name of a form, does not identify one of them.
      const isOfOne = (detail: string) => {
        const known = names.get(nameOf(detail)) ?? []
        return !isOfMetadata(detail) || (known.length > 1 && new Set(known).size === known.length)
      }
      const violations = ['the reference', 'the email', METADATA].map(words => ({
        sentence: `return_url contains ${words} of the payment. Whoever knows or guesses that of another one may see that payment.`,
        evidence: creates.filter(({ created }) =>
          created?.told?.some(detail => wordsOf(detail) === words && isOfOne(detail)),
        ),
      }))
      return { violations, right: creates }
    },
  ],
  [
    'C8',
    'warn',
    'Repeating refused requests',
    'The same POST was refused alike five times or more within ten seconds.',
    'Read the code and the description of the refusal, and do not repeat the request unchanged.',
    documented('api_reference/#gov-uk-pay-api-error-codes'),
    'No POST was refused.',
    ({ exchanges }) => {
      const posts = exchanges.filter(({ content }) => content !== undefined)
      const equal = [...Map.groupBy(posts, ({ content }) => content).values()]
      const loops = equal
        .flatMap(all => runsOf(LEAST_REFUSALS, REFUSED_WITHIN, all))
        .filter(run => run.every(post => isRefusal(post) && post.code === run[0]?.code))
      const impatient = equal.flatMap(all =>
        all.filter((post, i) => {
          const before = all[i - 1]
          return before?.status === 429 && isWithin(SECOND + before.ms, before, post)
        }),
      )
      const sentence =
        'A request was repeated within a second after its 429. Its documentation says that it can be repeated after a second.'
      const advice = 'Wait a second before you repeat it, and longer each time.'
      const atOnce = { source: documented('api_reference/#rate-limits'), sentence, advice }
      const evidence = [...new Set(loops.flat())]
      const violations = [{ evidence }, { ...atOnce, evidence: impatient }]
      return { violations, right: posts.filter(isRefusal) }
    },
  ],
  [
    'C11',
    'fail',
    'Repeating a refund',
    'The answer to a refund was lost and the same refund was sent again without refund_amount_available: it is paid out twice.',
    'Send refund_amount_available with each refund, from refund_summary of the payment: GOV.UK Pay then refuses the second one with P0604.',
    inCode('publicapi', 'service/CreateRefundService.java', '49-78'),
    'No refund was made.',
    ({ exchanges }) => {
      const refunds = exchanges.filter(
        ({ kind, operation, effect }) => kind === 'api' && operation === 'refundPayment' && effect,
      )
      const unguarded = refunds.filter(({ isGuarded }) => !isGuarded)
      const again = repeatedAmong(unguarded)
      if (again.length > 0) return { violations: [{ evidence: again }] }
      const sentence =
        'A refund was made without refund_amount_available: if its answer is lost and it is sent again, it is paid out twice.'
      return { violations: [{ evidence: unguarded, level: 'note', sentence }], right: refunds }
    },
  ],
  [
    'C17',
    'warn',
    'Leaving POST /v1/auth',
    'The client left POST /v1/auth in less than 15 seconds. Its documentation says that GOV.UK Pay itself takes up to about 10: who leaves before may tell a user who has paid that it failed.',
    'Let the timeout of the client be 15 seconds or more.',
    documented('moto_payments/moto_send_card_details_api/#send-card-details-through-the-api'),
    'No card was posted to /v1/auth.',
    ({ exchanges }) => {
      const posts = exchanges.filter(({ operation }) => operation === 'authorisePayment')
      const evidence = posts.filter(({ ended, ms }) => ended === 'gone' && ms < CARD_TIMEOUT)
      return { violations: [{ evidence }], right: posts.filter(({ ended }) => ended === 'sent') }
    },
  ],
  [
    'C18',
    'note',
    'Pages of a search',
    'Of searches with several pages only the first was read.',
    'Follow _links.next_page until there is none.',
    documented('api_reference/#pagination'),
    'No search had several pages.',
    ({ exchanges }) => {
      const searches = exchanges.filter(({ page }) => page !== undefined)
      const kinds = [...Map.groupBy(searches, ({ operation }) => operation).values()]
      const evidence = kinds.filter(all => all.every(({ page }) => page === 'first')).flat()
      return { violations: [{ evidence }], right: searches }
    },
  ],
]

export const requestRules = rulesOf(rows)
