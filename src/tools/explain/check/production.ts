/** Rules about what Farthing does and GOV.UK Pay does not. They look at one exchange when it is recorded. */

import { differences } from '../../../pay/differences/all.ts'
import { type Difference, differs } from '../../../pay/differences/difference.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import { mayHold, textsIn } from '../../../pay/differences/values.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AnsweredAttempt } from '../../record/row.ts'
import type { ReadRequest } from './facts.ts'
import { hasDone, hasSucceeded, type RuleText } from './rule.ts'
import { isOfPages } from './values.ts'

/** The exchanges that could break a rule. Without `could` none passes: without a break the rule is `not seen`. */
type Among = { could?: (each: Evidence) => boolean; lacking: string }

export type ProductionRow<Looked = never> = Omit<RuleText, 'id'> & {
  /** Kept with the exchange: the id, and behind a hyphen what tells it from other rows of that id. */
  key: string
  /** The key of the row that is not reported where this one is broken. */
  insteadOf?: string
  among: Among
  breaks: (looked: Looked) => boolean
}

const among = (operation: string, lacking: string) => ({ could: hasDone(operation), lacking })
const CREATES = among('createPayment', 'No payment was created.')
const RETURNS: Among = {
  could: each => CREATES.could(each) && each.created?.mode === 'web',
  lacking: 'No payment was created with a return_url.',
}
const REQUESTS = {
  could: (each: Evidence) => each.kind === 'api' && hasSucceeded(each),
  lacking: 'No request to /v1 succeeded.',
}
const created = (read: ReadRequest): boolean =>
  read.operation === 'createPayment' && read.status === 201

const BY_PROVIDER = {
  among: CREATES,
  level: 'note',
  source: documented('making_payments/#amount'),
} as const
const FIREWALL = documented('api_reference/#gov-uk-pay-api-error-codes')

const isAmong = (each: Evidence, operation: string | RegExp): boolean =>
  each.kind === 'api' &&
  hasSucceeded(each) &&
  (typeof operation === 'string' ? operation === each.operation : operation.test(each.operation))

/** The rules that follow from the list of differences. */
const fromDifferences: readonly ProductionRow<ReadRequest>[] = Object.entries(differences).flatMap(
  ([name, each]: [string, Difference]) => {
    const { rule, subject, govukPay, source } = each.about
    if (!rule) return []
    const { id, level, advice, among } = rule
    const { operation } = among
    const isOfMode = ({ created }: Evidence) =>
      !among.modes || among.modes.some(mode => mode === created?.mode)
    const by = source.startsWith('https://docs') ? 'documentation' : 'source'
    return [
      {
        key: `${id}-${name}`,
        level,
        title: subject,
        sentence: `By its ${by} GOV.UK Pay: ${govukPay}.`,
        advice,
        source,
        among: {
          ...(operation && { could: each => isAmong(each, operation) && isOfMode(each) }),
          lacking: among.lacking,
        },
        breaks: read => differs(each, read),
      },
    ]
  },
)

export const requestRows: readonly ProductionRow<ReadRequest>[] = [
  ...fromDifferences,
  {
    key: 'P5-quote',
    among: REQUESTS,
    level: 'note',
    title: 'Quotation marks and backslashes in requests',
    sentence:
      'Its documentation says that the firewall of GOV.UK Pay blocks " and \\ in a request, with P0920. Two of its own programs take them.',
    advice: 'Try it with a test account of GOV.UK Pay, or replace them.',
    source: FIREWALL,
    breaks: read =>
      hasSucceeded(read) &&
      mayHold(read) &&
      textsIn([read.body, ...read.query]).some(text => /["\\]/.test(text)),
  },
  {
    ...BY_PROVIDER,
    key: 'P17-least',
    title: 'Small amounts',
    sentence:
      'Its documentation says that with Stripe as the payment provider the least amount is 30.',
    advice: 'Ask for 30 pence or more, if your provider is Stripe.',
    breaks: read => created(read) && Number(read.body.amount) > 0 && Number(read.body.amount) < 30,
  },
  {
    ...BY_PROVIDER,
    key: 'P17-most',
    title: 'Large amounts',
    sentence:
      'Its documentation says that with Worldpay as the payment provider the most is 500,000 pence, in every mode.',
    advice: 'Ask the support of GOV.UK Pay for larger payments, if your provider is Worldpay.',
    breaks: read => created(read) && Number(read.body.amount) > 500_000,
  },
  {
    key: 'P18',
    among: RETURNS,
    level: 'note',
    title: 'The cookie of the session at the return',
    sentence:
      'Here the payment pages and return_url are one site. Its documentation recommends a session in a cookie, and the pages of GOV.UK Pay are another site: a cookie with SameSite=Strict, which is kept here, is lost at the return there.',
    advice:
      'Give the cookie of your session SameSite=Lax. To see the difference here, use 127.0.0.1 for one of the two and localhost for the other: these are two sites.',
    source: documented(
      'integrate_with_govuk_pay/#identifying-your-user-when-they-return-to-your-service',
    ),
    breaks: read => created(read) && isOfPages(read.body, read.response),
  },
]

export const attemptRows: readonly ProductionRow<AnsweredAttempt>[] = [
  {
    key: 'P11',
    among: {
      could: ({ kind, operation }) => kind === 'out' && operation === 'card_payment_cancelled',
      lacking: 'No message card_payment_cancelled was sent.',
    },
    level: 'note',
    title: 'The message card_payment_cancelled',
    sentence:
      'By its source GOV.UK Pay never sends card_payment_cancelled: a cancel through the API is card_payment_failed. card_payment_expired exists there; card_payment_started and card_payment_settled are never sent.',
    advice: 'Let the receiver treat card_payment_failed with a cancelled payment the same way.',
    source: inCode('webhooks', 'message/EventMapper.java', '13-28'),
    breaks: ({ event_type, failed }) => event_type === 'card_payment_cancelled' && !failed,
  },
]
