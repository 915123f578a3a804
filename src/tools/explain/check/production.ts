/** Rules about what Farthing does and GOV.UK Pay does not. They look at one exchange when it is recorded. */

import { differences } from '../../../pay/differences/all.ts'
import { type Difference, differs } from '../../../pay/differences/difference.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import { isForm } from '../../../platform/http/body.ts'
import type { Evidence } from '../../record/exchange.ts'
import type { AnsweredAttempt } from '../../record/row.ts'
import type { ReadRequest } from './facts.ts'
import { hasDone, hasSucceeded, type RuleText } from './rule.ts'
import {
  hasCheckDigit,
  hasText,
  isExpired,
  isNoAddress,
  isOfKnownBrand,
  isOfPages,
  takesJson,
} from './values.ts'

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
const CARDS = among('authorisePayment', 'No card was posted to /v1/auth and accepted.')
const REQUESTS = {
  could: (each: Evidence) => each.kind === 'api' && hasSucceeded(each),
  lacking: 'No request to /v1 succeeded.',
}
const created = (read: ReadRequest): boolean =>
  read.operation === 'createPayment' && read.status === 201
const authorised = hasDone('authorisePayment')
const searched = hasDone('searchPayments')

const BY_PROVIDER = {
  among: CREATES,
  level: 'note',
  source: documented('making_payments/#amount'),
} as const
const IGNORED_FILTER = {
  among: { lacking: 'No search had state=capturable or card_brand.' },
  level: 'note',
  source: inCode('publicapi', 'validation/PaymentSearchValidator.java', '32'),
} as const

const FIREWALL = documented('api_reference/#gov-uk-pay-api-error-codes')
const FAILING_CARDS = ['4000000000000069', '4000000000000127', '4000000000000119']

/** The rules that follow from the list of differences. */
const fromDifferences: readonly ProductionRow<ReadRequest>[] = Object.entries(differences).flatMap(
  ([name, each]: [string, Difference]) => {
    const { rule, subject, govukPay, source } = each.about
    if (!rule) return []
    const { id, level, advice, among } = rule
    const isOfMode = ({ created }: Evidence) =>
      !among.modes || among.modes.some(mode => mode === created?.mode)
    const hasHappened = hasDone(among.operation)
    return [
      {
        key: `${id}-${name}`,
        level,
        title: subject,
        sentence: `By its source GOV.UK Pay: ${govukPay}.`,
        advice,
        source,
        among: {
          could: evidence => hasHappened(evidence) && isOfMode(evidence),
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
    key: 'P2',
    among: RETURNS,
    level: 'warn',
    title: 'http in return_url',
    sentence: 'By its source a live account of GOV.UK Pay refuses a return_url that is not https.',
    advice: 'Use https in production. Only FARTHING_RETURN_HOSTS allows http here.',
    source: inCode('connector', 'charge/service/ChargeService.java', '430'),
    breaks: read => created(read) && /^http:/i.test(String(read.body.return_url)),
  },
  {
    key: 'P3',
    among: RETURNS,
    level: 'note',
    title: 'The address in return_url',
    sentence:
      'The validator in its source does not accept this return_url as an address, so GOV.UK Pay answers 422 P0102: the host ends in a name that nobody can own or has an underscore, or the path has characters that must be encoded or leads above its root.',
    advice:
      'Use a public name, .local, .internal or localhost with a test account, and encode the path.',
    source: inCode('connector', 'charge/validation/ReturnUrlValidator.java', '29'),
    breaks: read => created(read) && isNoAddress(read.body.return_url),
  },
  {
    key: 'P5',
    among: REQUESTS,
    level: 'warn',
    title: 'Characters in requests',
    sentence:
      'Its documentation says that the firewall of GOV.UK Pay blocks <, > and | in a request, with P0920.',
    advice: 'Replace or remove these characters.',
    source: FIREWALL,
    breaks: read => hasSucceeded(read) && hasText(read, /[<>|]/),
  },
  {
    key: 'P5-quote',
    among: REQUESTS,
    level: 'note',
    title: 'Quotation marks and backslashes in requests',
    sentence:
      'Its documentation says that the firewall of GOV.UK Pay blocks " and \\ in a request, with P0920. Two of its own programs take them.',
    advice: 'Try it with a test account of GOV.UK Pay, or replace them.',
    source: FIREWALL,
    breaks: read => hasSucceeded(read) && hasText(read, /["\\]/),
  },
  {
    key: 'P6',
    among: REQUESTS,
    level: 'warn',
    title: 'The Accept header',
    sentence:
      'Its documentation says that the firewall of GOV.UK Pay blocks an Accept header that takes no application/json, with P0920.',
    advice: 'Send Accept: application/json.',
    source: FIREWALL,
    breaks: ({ headers }) => !takesJson(headers.accept),
  },
  {
    key: 'P9',
    among: CARDS,
    level: 'fail',
    title: 'Card numbers',
    sentence:
      'By its source GOV.UK Pay answers 402 P0010: the check digit of the card is wrong or its type unknown.',
    advice: 'Use a card number from the documentation of GOV.UK Pay.',
    source: inCode(
      'connector',
      'charge/service/motoapi/MotoApiCardNumberValidationService.java',
      '42-53',
    ),
    breaks: read => {
      const number = String(read.body.card_number)
      return authorised(read) && !(hasCheckDigit(number) && isOfKnownBrand(number))
    },
  },
  {
    key: 'P9-expired',
    among: CARDS,
    level: 'fail',
    title: 'Expiry dates',
    sentence: 'By its source GOV.UK Pay answers 422 P0102: the expiry date of the card is over.',
    advice: 'Use an expiry date in the future.',
    source: inCode('connector', 'card/model/MotoApiAuthoriseRequest.java', '64-72'),
    breaks: read => authorised(read) && isExpired(String(read.body.expiry_date), read.began),
  },
  {
    key: 'P9-failing',
    among: CARDS,
    level: 'warn',
    title: 'Test cards that fail',
    sentence: 'By its source this test card is declined in GOV.UK Pay, or the answer is 500.',
    advice: 'Use a card number that the documentation of GOV.UK Pay lists as successful.',
    source: inCode('connector', 'gateway/sandbox/SandboxCardNumbers.java', '22-36'),
    breaks: read => authorised(read) && FAILING_CARDS.includes(String(read.body.card_number)),
  },
  {
    key: 'P10',
    among: CARDS,
    level: 'warn',
    title: 'Form of card details',
    sentence: 'By its source GOV.UK Pay takes the card as JSON only, not as a form.',
    advice: 'Send JSON with Content-Type: application/json.',
    source: inCode('publicapi', 'resources/AuthorisationResource.java', '43'),
    breaks: read => authorised(read) && isForm(read),
  },
  {
    ...IGNORED_FILTER,
    key: 'P12-state',
    title: 'Searches for capturable payments',
    sentence:
      'By its source GOV.UK Pay refuses state=capturable in a search with 422 P0401. Its documentation lists it.',
    advice: 'Read the payments that wait for a capture one by one.',
    breaks: read => searched(read) && read.query.get('state') === 'capturable',
  },
  {
    ...IGNORED_FILTER,
    key: 'P12-brand',
    title: 'Searches by card brand',
    sentence: 'By its source card_brand has no effect in a search of GOV.UK Pay.',
    advice: 'Compare card_details.card_brand of the results.',
    breaks: read => searched(read) && Boolean(read.query.get('card_brand')),
  },
  {
    key: 'P16',
    among: {
      could: each => REQUESTS.could(each) && /^(?:create|refund|authorise)/.test(each.operation),
      lacking: 'No request with a body succeeded.',
    },
    level: 'warn',
    title: 'Content-Type of requests',
    sentence:
      'By its source GOV.UK Pay refuses a body without Content-Type: application/json, with 415 or P0920.',
    advice: 'Send Content-Type: application/json with each body.',
    source: inCode('publicapi', 'resources/PaymentsResource.java', '266'),
    breaks: read =>
      hasSucceeded(read) &&
      read.method === 'POST' &&
      read.text !== '' &&
      !/^application\/json\s*(?:;|$)/i.test(read.headers['content-type'] ?? '') &&
      !(authorised(read) && isForm(read)),
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
