import { hash } from 'node:crypto'
import { isSuccess } from '../../../core/http-status.ts'
import { version } from '../../../core/version.ts'
import { hasCheckDigit, isExpired, isForm, isOfKnownBrand, takesJson, textsIn } from './facts.ts'
import type { Among, AttemptFacts, Level, RequestFacts, Rule } from './rule.ts'

/** The documentation says that the firewall blocks these. */
const BLOCKED = /[<>"\\|]/
/** Names that are reserved or private. `localhost`, addresses and `example.org` are not among them. */
const NO_PUBLIC_NAME =
  /\.(?:test|example|invalid|local|internal|lan|corp|localhost|home\.arpa)\.?$/i
/** 5105105105105100 fails from the second payment of an agreement on. */
const FAILING_CARDS = [
  '4000000000000069',
  '4000000000000127',
  '4000000000000119',
  '5105105105105100',
]

const CREATES: Among = { operations: ['createPayment'], lacking: 'No payment was created.' }
const CARDS: Among = {
  operations: ['authorisePayment'],
  lacking: 'No card was posted to /v1/auth and accepted.',
}
const SEARCHES: Among = { operations: ['searchPayments'], lacking: 'No payments were searched.' }
const CAPTURES: Among = { operations: ['capturePayment'], lacking: 'No payment was captured.' }
const REQUESTS: Among = { operations: 'any', lacking: 'No request to /v1 succeeded.' }
const MESSAGES: Among = { operations: 'messages', lacking: 'No receiver accepted a message.' }

const succeeded = ({ status }: RequestFacts): boolean => isSuccess(status)

const created = (facts: RequestFacts): boolean =>
  facts.operation === 'createPayment' && facts.status === 201

const authorised = (facts: RequestFacts): boolean =>
  facts.operation === 'authorisePayment' && succeeded(facts)

const hasUselessKey = ({ operation, headers, body }: RequestFacts): boolean =>
  operation === 'createPayment' &&
  headers['idempotency-key'] !== undefined &&
  body.authorisation_mode !== 'agreement'

export const requestRules: readonly Rule<RequestFacts>[] = [
  {
    key: 'P1',
    id: 'P1',
    among: CREATES,
    level: 'warn',
    title: 'Amount 0',
    sentence: 'GOV.UK Pay answers an amount of 0 with 422 P0102.',
    advice: 'Ask its support to allow payments of 0 for the account, or make no payment.',
    source: 'A payment of amount 0',
    breaks: facts => created(facts) && facts.body.amount === 0,
  },
  {
    key: 'P2',
    id: 'P2',
    among: CREATES,
    level: 'warn',
    title: 'http in return_url',
    sentence: 'A live account of GOV.UK Pay refuses a return_url that is not https.',
    advice: 'Use https in production. Only FARTHING_RETURN_HOSTS allows http here.',
    source: 'An http `return_url`',
    breaks: facts => created(facts) && /^http:/i.test(String(facts.body.return_url)),
  },
  {
    key: 'P3',
    id: 'P3',
    among: CREATES,
    level: 'note',
    title: 'Host of return_url',
    sentence: 'GOV.UK Pay answers 422 P0102, because the host of return_url is no public name.',
    advice: 'Use a public name in return_url, or localhost with a test account.',
    source: 'Host and path of `return_url`',
    breaks: facts => created(facts) && NO_PUBLIC_NAME.test(hostOf(facts.body.return_url)),
  },
  {
    key: 'P4',
    id: 'P4',
    among: CREATES,
    level: 'note',
    title: 'A key that GOV.UK Pay ignores',
    sentence: 'GOV.UK Pay ignores Idempotency-Key here: two equal requests make two payments.',
    advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
    source: 'Idempotency-Key in the modes web and moto_api',
    breaks: facts => created(facts) && hasUselessKey(facts),
  },
  {
    key: 'P4-used',
    id: 'P4',
    with: 'P4',
    among: CREATES,
    level: 'fail',
    title: 'A key that GOV.UK Pay ignores',
    sentence: 'GOV.UK Pay ignores Idempotency-Key here: this request would make a second payment.',
    advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
    source: 'Idempotency-Key in the modes web and moto_api',
    breaks: facts => facts.code === 'P0191' && facts.status === 409 && hasUselessKey(facts),
  },
  {
    key: 'P5',
    id: 'P5',
    among: REQUESTS,
    level: 'warn',
    title: 'Characters in requests',
    sentence: 'The firewall of GOV.UK Pay blocks <, >, ", \\ and | in a request, with P0920.',
    advice: 'Replace or remove these characters.',
    source: 'Characters in a request',
    breaks: facts => succeeded(facts) && (isBlocked(facts.body) || isBlocked([...facts.query])),
  },
  {
    key: 'P6',
    id: 'P6',
    among: REQUESTS,
    level: 'warn',
    title: 'The Accept header',
    sentence:
      'The firewall of GOV.UK Pay blocks an Accept header without application/json, with P0920.',
    advice: 'Send Accept: application/json.',
    source: 'Characters in a request',
    breaks: ({ headers }) => !takesJson(headers.accept),
  },
  {
    key: 'P7',
    id: 'P7',
    among: CAPTURES,
    level: 'note',
    title: 'A second capture',
    sentence: 'GOV.UK Pay answers 204 to a capture of a payment that is captured already.',
    advice: 'Take 204 and 409 for the same: the payment is captured.',
    source: 'Capturing a payment a second time',
    breaks: ({ operation, code, description = '' }) =>
      operation === 'capturePayment' && code === 'P1003' && /\bsuccess$/.test(description),
  },
  {
    key: 'P9',
    id: 'P9',
    among: CARDS,
    level: 'fail',
    title: 'Card numbers',
    sentence:
      'GOV.UK Pay answers 402 P0010: the check digit of the card is wrong or its type unknown.',
    advice: 'Use a card number from the documentation of GOV.UK Pay.',
    source: 'Card numbers in `POST /v1/auth`',
    breaks: facts => {
      const number = String(facts.body.card_number)
      return authorised(facts) && !(hasCheckDigit(number) && isOfKnownBrand(number))
    },
  },
  {
    key: 'P9-expired',
    id: 'P9',
    among: CARDS,
    level: 'fail',
    title: 'Expiry dates',
    sentence: 'GOV.UK Pay answers 422 P0102: the expiry date of the card is over.',
    advice: 'Use an expiry date in the future.',
    source: 'A past expiry date in `POST /v1/auth`',
    breaks: facts => authorised(facts) && isExpired(String(facts.body.expiry_date), facts.at),
  },
  {
    key: 'P9-failing',
    id: 'P9',
    among: CARDS,
    level: 'warn',
    title: 'Test cards that fail',
    sentence: 'In GOV.UK Pay this test card is declined or fails.',
    advice: 'Use a card number that the documentation of GOV.UK Pay lists as successful.',
    source: 'Card numbers in `POST /v1/auth`',
    breaks: facts => authorised(facts) && FAILING_CARDS.includes(String(facts.body.card_number)),
  },
  {
    key: 'P10',
    id: 'P10',
    among: CARDS,
    level: 'warn',
    title: 'Form of card details',
    sentence: 'GOV.UK Pay takes the card as JSON only, not as a form.',
    advice: 'Send JSON with Content-Type: application/json.',
    source: '`POST /v1/auth` as a form',
    breaks: facts => authorised(facts) && isForm(facts.headers),
  },
  {
    key: 'P12-state',
    id: 'P12',
    among: SEARCHES,
    level: 'note',
    title: 'Searches for capturable payments',
    sentence: 'GOV.UK Pay refuses state=capturable in a search with 422 P0401.',
    advice: 'Read the payments that wait for a capture one by one.',
    source: '`state=capturable` in `GET /v1/payments`',
    breaks: facts => searched(facts) && facts.query.get('state') === 'capturable',
  },
  {
    key: 'P12-brand',
    id: 'P12',
    among: SEARCHES,
    level: 'note',
    title: 'Searches by card brand',
    sentence: 'In GOV.UK Pay card_brand has no effect in a search.',
    advice: 'Compare card_details.card_brand of the results.',
    source: '`card_brand` in `GET /v1/payments`',
    breaks: facts => searched(facts) && Boolean(facts.query.get('card_brand')),
  },
]

export const attemptRules: readonly Rule<AttemptFacts>[] = [
  {
    key: 'P11',
    id: 'P11',
    among: MESSAGES,
    level: 'note',
    title: 'The message card_payment_cancelled',
    sentence:
      'GOV.UK Pay has no card_payment_cancelled: such a cancel is card_payment_failed. It also has card_payment_started and card_payment_expired.',
    advice: 'Let the receiver treat card_payment_failed with a cancelled payment the same way.',
    source: 'Event types',
    breaks: ({ event_type, failed }) => event_type === 'card_payment_cancelled' && !failed,
  },
]

/** What a report reads of a rule that ran when its exchange was recorded. */
export type ProductionRule = Omit<Rule<never>, 'breaks'>

export const productionRules: readonly ProductionRule[] = [...requestRules, ...attemptRules]

/** Kept with each exchange, because what another version recorded says nothing of a rule that it did not have. */
export const RULE_SET = hash(
  'sha1',
  [version, ...productionRules.map(({ key }) => key)].join(' '),
).slice(0, 8)

export type Shown = { rule: string; level: Level; sentence: string; advice: string }

/** What is shown of the rules that were kept with an exchange. Ignores rules that another version knew. */
export const showBroken = (keys: readonly string[] = []): Shown[] =>
  productionRules
    .filter(({ key }) => keys.includes(key))
    .map(({ id, level, sentence, advice }) => ({ rule: id, level, sentence, advice }))

const searched = (facts: RequestFacts): boolean =>
  facts.operation === 'searchPayments' && succeeded(facts)

const hostOf = (url: unknown): string => URL.parse(String(url))?.hostname ?? ''

const isBlocked = (value: unknown): boolean => textsIn(value).some(text => BLOCKED.test(text))
