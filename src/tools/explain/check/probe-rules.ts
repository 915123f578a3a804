/** The messages of each rule of a probe, rightly signed or forged. */
import type { Behaviour } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import type { Message } from '../../../pay/webhooks/webhook.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { Forgery, Probe } from './probing.ts'
import { type RuleText, type TextRow, textOf } from './rule.ts'

type Messages = (payment: Payment, probe: Probe) => Message[] | undefined

/** One kind of messages that a probe sends. */
export type Special = {
  /** The id of the rule; '' for true messages. */
  id: string
  /** Describes the messages in the record. */
  words: string
  /** The messages in order; undefined if the webhook does not subscribe to their events. */
  messages: Messages
  forgery?: Forgery
}

type More = {
  /** If the payment has this behaviour, the true message is such a message already, and no other is sent. */
  isTrueIn?: Behaviour
  /** The rule comes before the forgeries. */
  isFirst?: true
  atOnce?: true
  /** The payment of the messages does not exist, and a receiver may read it. */
  isUnknown?: true
  /** If a receiver answers 2xx to everything, its reads of the payments decide. */
  isRead?: true
  /** By default a refusal breaks the rule. */
  breaks?: (answers: readonly Exchange[]) => boolean
  /** The number of messages, from the first, that the receiver must accept before the others count. */
  after?: number
  /** The sentences for a lack of evidence and for a pass. */
  lacking?: string
  passed?: string
}

export type ProbeRule = RuleText & Special & More

/** The messages of this kind about the payment, as the probe sends them. */
export const toSend = ({ id, words, forgery, messages }: Special, payment: Payment, probe: Probe) =>
  messages(payment, probe)?.map(message => ({
    message,
    forgery,
    words: id === '' ? words : `${id}: ${words}`,
  }))

/** The true message `count` times, with its body changed. */
const changed =
  (change = (body: string) => body, count = 1): Messages =>
  (payment, { make }) => {
    const message = make(payment)
    return message && Array(count).fill({ ...message, body: change(message.body) })
  }

export const trueMessage: Special = {
  id: '',
  words: 'the true message, as a control',
  messages: changed(),
}

const withFields = (fields: Record<string, unknown>) => (body: string) => {
  const { resource, ...rest } = JSON.parse(body) as Record<string, object>
  return JSON.stringify({ ...rest, resource: { ...resource, ...fields } })
}

/** Another payment, which the receiver cannot know. */
const unknownLike = (payment: Payment, { newId }: Probe): Payment => ({
  ...payment,
  payment_id: newId(timeOf(payment.payment_id)),
})

/** Another payment, whose card was declined (P0010) or whose user cancelled (P0030). */
function failedLike(payment: Payment, code: 'P0010' | 'P0030', probe: Probe): Payment {
  const { card, captured_at, ...unknown } = unknownLike(payment, probe)
  const { at } = stateOf(payment)
  return {
    ...unknown,
    ...(card && code === 'P0010' && { card }),
    events: [...payment.events.slice(0, -1), { status: 'failed', at, code }],
    refunded_amount: 0,
  }
}

const ifAll = (...messages: (Message | undefined)[]): Message[] | undefined =>
  messages.every(message => message !== undefined) ? messages : undefined

const SIGNING = documented('webhooks/#verifying-webhook-messages-from-gov-uk-pay')
const RETRIES = documented('webhooks/#retry-mechanism')

type ForgeryRow = [id: string, title: string, sentence: string, advice: string, forged: Forged[]]
type Forged = [words: string, forgery: Forgery]

const actsOn = (what: string): string =>
  `The receiver acts on a message ${what}: it read the payment of each one, as it does for a true message.`

const forgeryRows: ForgeryRow[] = [
  [
    'R1',
    'A signature that is wrong',
    actsOn('with one digit of the signature changed'),
    'Compare the header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived before anything else, and answer 401 if they differ.',
    [['one digit of the signature changed', { damage: 'digit' }]],
  ],
  [
    'R2',
    'No signature',
    actsOn('without the header Pay-Signature'),
    'Answer 401 to a message without the header Pay-Signature.',
    [['without the signature', { damage: 'missing' }]],
  ],
  [
    'R11',
    'A key that anybody knows',
    'Your receiver takes messages that anybody can sign: it does not look whether its key is there.',
    'Let your service refuse to start without its signing key. An empty text, undefined, null and None are none.',
    [
      ['signed with the empty key', { key: '' }],
      ...['undefined', 'null', 'None'].map(
        (key): Forged => [`signed with the key ${key}`, { key }],
      ),
    ],
  ],
]

export const forgeryRules = forgeryRows.map(([id, title, sentence, advice, forged]) => ({
  ...textOf([id, 'fail', title, sentence, advice, SIGNING]),
  forgeries: forged.map(
    ([words, forgery]): Special => ({ id, words, forgery, messages: changed() }),
  ),
}))

type Row = [...text: TextRow, words: string, messages: Messages, more: More]

const rows: Row[] = [
  [
    'R3',
    'warn',
    'The same message twice',
    'The receiver accepts a message and refuses the same one when it comes again.',
    'Answer 2xx to a webhook_message_id that you know, and do nothing. GOV.UK Pay delivers at least once, and repeats what is refused.',
    RETRIES,
    'sent twice',
    changed(undefined, 2),
    { after: 1 },
  ],
  [
    'R4',
    'warn',
    'A payment that it does not know yet',
    'The receiver refuses messages about a payment that it does not know: captured, then succeeded.',
    'Messages may arrive in any order, and before your service has stored the payment. Answer 2xx, and read the payment when you know it.',
    documented('webhooks/#receiving-webhook-messages'),
    'of an unknown payment, captured before succeeded',
    (payment, probe) => {
      const unknown = unknownLike(payment, probe)
      return ifAll(
        probe.make(unknown, { event_type: 'card_payment_captured' }),
        probe.make(unknown, { event_type: 'card_payment_succeeded' }),
      )
    },
    {
      isUnknown: true,
      lacking:
        'The webhook is not subscribed to both card_payment_captured and card_payment_succeeded.',
    },
  ],
  [
    'R5',
    'fail',
    'JSON that is printed differently',
    'The receiver refuses the same JSON with one space more, rightly signed: it prints the body again before it checks the signature.',
    "Check the signature over the bytes as they arrived. Express: express.raw({ type: 'application/json' }). Flask: request.get_data(). Rails: request.raw_post. Spring: @RequestBody byte[]. PHP: php://input.",
    SIGNING,
    'one space more',
    changed(body => body.replace(',', ', ')),
    { isRead: true },
  ],
  [
    'R6',
    'fail',
    'Letters beyond ASCII',
    'The receiver refuses a description with é, £ and an emoji, rightly signed: it reads the body as Latin-1, or in another encoding than UTF-8, or it signs the JSON printed again, with \\u00e9 in place of é.',
    'Give the HMAC the bytes as they arrived, before anything parses them. Decode the body as UTF-8.',
    SIGNING,
    'é, £ and an emoji in the description',
    changed(withFields({ description: 'Crème brûlée, £5 🍮' })),
    { isRead: true },
  ],
  [
    'R7',
    'warn',
    'An unknown field',
    'The receiver refuses a message with a field in resource that it does not know.',
    'Ignore fields that you do not know: GOV.UK Pay adds some without notice.',
    documented('versioning/#stay-up-to-date'),
    'an unknown field in resource',
    changed(withFields({ a_field_that_is_new: 'value' })),
    { isRead: true },
  ],
  [
    'R8',
    'warn',
    'Twice at the same moment',
    'The receiver fails with 5xx when a message arrives twice at the same moment.',
    'Two of your instances may get one message. Store the webhook_message_id with a unique index, and answer 2xx where it is there already.',
    RETRIES,
    'sent twice at the same moment',
    changed(undefined, 2),
    {
      atOnce: true,
      passed: 'The receiver did not fail.',
      breaks: answers => answers.some(({ status }) => status !== null && status >= 500),
    },
  ],
  [
    'R9',
    'warn',
    'The message as GOV.UK Pay prints it',
    'The receiver refuses a message as the source of GOV.UK Pay prints it: resource_type is PAYMENT; _links, provider_id, authorisation_mode, card_brand and card_details.wallet_type are missing; what is not known in card_details is null.',
    'Read the payment with GET /v1/payments/{payment_id} where you need these fields. Expect null in card_details, and resource_type in capital letters.',
    inCode('webhooks', 'message/apirepresentation/PaymentApiRepresentation.java', '22-44'),
    'the message as GOV.UK Pay prints it',
    (payment, { make }) => ifAll(make(payment, { as: 'govuk-pay' })),
    { isFirst: true, isRead: true, isTrueIn: 'govuk-pay' },
  ],
  [
    'R10',
    'fail',
    'A failed payment as GOV.UK Pay prints it',
    'The receiver refuses card_payment_failed as the source of GOV.UK Pay prints it, with the status declined (P0010) or cancelled (P0030) in place of failed: the first declined payment in production ends here.',
    'Take declined, cancelled and timedout for failed. While finished is false, wait, also with a status that you do not know. Or read the payment with GET /v1/payments/{payment_id}.',
    inCode('webhooks', 'message/apirepresentation/ExternalChargeState.java', '7-16'),
    'a failed payment as GOV.UK Pay prints it',
    (payment, probe) => {
      const { make } = probe
      const event_type = 'card_payment_failed'
      const [declined, cancelled] = (['P0010', 'P0030'] as const).map(code =>
        make(failedLike(payment, code, probe), { event_type, as: 'govuk-pay' }),
      )
      // The first message has a state that the receiver knows, but a payment that it does not know.
      const known =
        behaviourOf(payment) === 'govuk-pay'
          ? make(unknownLike(payment, probe))
          : make(failedLike(payment, 'P0010', probe), { event_type })
      return ifAll(known, declined, cancelled)
    },
    {
      isFirst: true,
      isRead: true,
      after: 1,
      lacking:
        'The webhook is not subscribed to card_payment_failed, or the receiver does not accept messages of a payment that it does not know (R4). A declined payment in a test account of behaviour govuk-pay shows what it does.',
    },
  ],
]

export const probeRules = rows.map(
  ([id, level, title, sentence, advice, source, words, messages, more]): ProbeRule => ({
    ...textOf([id, level, title, sentence, advice, source]),
    words,
    messages,
    ...more,
  }),
)
