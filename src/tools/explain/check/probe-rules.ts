/** What a receiver is probed with: messages that are made for each rule, rightly signed. */
import type { Behaviour } from '../../../core/account.ts'
import { timeOf } from '../../../core/ids.ts'
import { documented, inCode } from '../../../pay/differences/source.ts'
import { behaviourOf, type Payment, stateOf } from '../../../pay/payments/payment.ts'
import type { Message } from '../../../pay/webhooks/webhook.ts'
import type { Exchange } from '../../record/exchange.ts'
import { type Probe, SIGNING } from './probing.ts'
import type { RuleText } from './rule.ts'

export type ProbeRule = RuleText & {
  /** What is special about its messages, for the record. */
  words: string
  /** The messages in order. undefined where the webhook is not subscribed to what is needed. */
  messages: (payment: Payment, made: Pick<Probe, 'make' | 'newId'>) => Message[] | undefined
  /** The true message is that already where the payment behaves so, and none is sent. */
  isTrueIn?: Behaviour
  /** It is of so much worth that it comes before the forgeries. */
  isFirst?: true
  /** Whether they are sent at the same moment. */
  atOnce?: true
  /** It is about a payment that does not exist, which a receiver may read. */
  isUnknown?: true
  /** Whether a receiver that answers 2xx to all can be judged by whether it reads the payment of each message. */
  isRead?: true
  /** Without it the rule is broken where a message is refused. */
  breaks?: (answers: readonly Exchange[]) => boolean
  /** The number of messages, from the first, that must be accepted before anything is judged. */
  after?: number
  /** Said where nothing could be judged. */
  lacking?: string
  /** Said where it passes. */
  passed?: string
}

/** A true message with another body. */
const changed =
  (change: (body: string) => string): ProbeRule['messages'] =>
  (payment, { make }) => {
    const message = make(payment)
    return message && [{ ...message, body: change(message.body) }]
  }

const withFields = (fields: Record<string, unknown>) => (body: string) => {
  const { resource, ...rest } = JSON.parse(body) as Record<string, object>
  return JSON.stringify({ ...rest, resource: { ...resource, ...fields } })
}

/** The same message as often as this. */
const same =
  (count: number): ProbeRule['messages'] =>
  (payment, { make }) => {
    const message = make(payment)
    return message && Array.from({ length: count }, () => message)
  }

/** Another payment, which the receiver cannot know. */
const unknownLike = (payment: Payment, { newId }: Pick<Probe, 'newId'>): Payment => ({
  ...payment,
  payment_id: newId(timeOf(payment.payment_id)),
})

/** The same, as it would be if the card had been declined (P0010) or the user had cancelled (P0030). */
function failedLike(
  payment: Payment,
  code: 'P0010' | 'P0030',
  made: Pick<Probe, 'newId'>,
): Payment {
  const { card, captured_at, ...unknown } = unknownLike(payment, made)
  const { at } = stateOf(payment)
  return {
    ...unknown,
    ...(card && code === 'P0010' && { card }),
    events: [...payment.events.slice(0, -1), { status: 'failed', at, code }],
    refunded_amount: 0,
  }
}

const ifAll = (...messages: (Message | undefined)[]): Message[] | undefined => {
  const present = messages.filter(each => each !== undefined)
  return present.length === messages.length ? present : undefined
}

const RETRIES = documented('webhooks/#retry-mechanism')

export const probeRules: readonly ProbeRule[] = [
  {
    id: 'R3',
    level: 'warn',
    title: 'The same message twice',
    sentence: 'The receiver accepts a message and refuses the same one when it comes again.',
    advice:
      'Answer 2xx to a webhook_message_id that you know, and do nothing. GOV.UK Pay delivers at least once, and repeats what is refused.',
    source: RETRIES,
    words: 'sent twice',
    after: 1,
    messages: same(2),
  },
  {
    id: 'R4',
    level: 'warn',
    title: 'A payment that it does not know yet',
    sentence:
      'The receiver refuses messages about a payment that it does not know: captured, then succeeded.',
    advice:
      'Messages may arrive in any order, and before your service has stored the payment. Answer 2xx, and read the payment when you know it.',
    source: documented('webhooks/#receiving-webhook-messages'),
    words: 'of an unknown payment, captured before succeeded',
    isUnknown: true,
    lacking:
      'The webhook is not subscribed to both card_payment_captured and card_payment_succeeded.',
    messages(payment, made) {
      const unknown = unknownLike(payment, made)
      return ifAll(
        made.make(unknown, { event_type: 'card_payment_captured' }),
        made.make(unknown, { event_type: 'card_payment_succeeded' }),
      )
    },
  },
  {
    id: 'R5',
    level: 'fail',
    title: 'JSON that is printed differently',
    sentence:
      'The receiver refuses the same JSON with one space more, rightly signed: it prints the body again before it checks the signature.',
    advice:
      "Check the signature over the bytes as they arrived. Express: express.raw({ type: 'application/json' }). Flask: request.get_data(). Rails: request.raw_post. Spring: @RequestBody byte[]. PHP: php://input.",
    source: SIGNING,
    words: 'one space more',
    isRead: true,
    messages: changed(body => body.replace(',', ', ')),
  },
  {
    id: 'R6',
    level: 'fail',
    title: 'Letters beyond ASCII',
    sentence:
      'The receiver refuses a description with é, £ and an emoji, rightly signed: it reads the body as Latin-1, or in another encoding than UTF-8, or it signs the JSON printed again, with \\u00e9 in place of é.',
    advice:
      'Give the HMAC the bytes as they arrived, before anything parses them. Decode the body as UTF-8.',
    source: SIGNING,
    words: 'é, £ and an emoji in the description',
    isRead: true,
    messages: changed(withFields({ description: 'Crème brûlée, £5 🍮' })),
  },
  {
    id: 'R7',
    level: 'warn',
    title: 'An unknown field',
    sentence: 'The receiver refuses a message with a field in resource that it does not know.',
    advice: 'Ignore fields that you do not know: GOV.UK Pay adds some without notice.',
    source: documented('versioning/#stay-up-to-date'),
    words: 'an unknown field in resource',
    isRead: true,
    messages: changed(withFields({ a_field_that_is_new: 'value' })),
  },
  {
    id: 'R8',
    level: 'warn',
    title: 'Twice at the same moment',
    sentence: 'The receiver fails with 5xx when a message arrives twice at the same moment.',
    advice:
      'Two of your instances may get one message. Store the webhook_message_id with a unique index, and answer 2xx where it is there already.',
    source: RETRIES,
    words: 'sent twice at the same moment',
    atOnce: true,
    passed: 'The receiver did not fail.',
    breaks: answers => answers.some(({ status }) => status !== null && status >= 500),
    messages: same(2),
  },
  {
    id: 'R9',
    level: 'warn',
    title: 'The message as GOV.UK Pay prints it',
    sentence:
      'The receiver refuses a message as the source of GOV.UK Pay prints it: resource_type is PAYMENT; _links, provider_id, authorisation_mode, card_brand and card_details.wallet_type are missing; what is not known in card_details is null.',
    advice:
      'Read the payment with GET /v1/payments/{payment_id} where you need these fields. Expect null in card_details, and resource_type in capital letters.',
    source: inCode('webhooks', 'message/apirepresentation/PaymentApiRepresentation.java', '22-44'),
    words: 'the message as GOV.UK Pay prints it',
    isFirst: true,
    isRead: true,
    isTrueIn: 'govuk-pay',
    messages: (payment, { make }) => ifAll(make(payment, { as: 'govuk-pay' })),
  },
  {
    id: 'R10',
    level: 'fail',
    title: 'A failed payment as GOV.UK Pay prints it',
    sentence:
      'The receiver refuses card_payment_failed as the source of GOV.UK Pay prints it, with the status declined (P0010) or cancelled (P0030) in place of failed: the first declined payment in production ends here.',
    advice:
      'Take declined, cancelled and timedout for failed. While finished is false, wait, also with a status that you do not know. Or read the payment with GET /v1/payments/{payment_id}.',
    source: inCode('webhooks', 'message/apirepresentation/ExternalChargeState.java', '7-16'),
    words: 'a failed payment as GOV.UK Pay prints it',
    isFirst: true,
    isRead: true,
    after: 1,
    lacking:
      'The webhook is not subscribed to card_payment_failed, or the receiver does not accept messages of a payment that it does not know (R4). A declined payment in a test account of behaviour govuk-pay shows what it does.',
    messages(payment, made) {
      const { make } = made
      const event_type = 'card_payment_failed'
      const [declined, cancelled] = (['P0010', 'P0030'] as const).map(code =>
        make(failedLike(payment, code, made), { event_type, as: 'govuk-pay' }),
      )
      // First what the receiver knows, about a payment that it does not know.
      const known =
        behaviourOf(payment) === 'govuk-pay'
          ? make(unknownLike(payment, made))
          : make(failedLike(payment, 'P0010', made), { event_type })
      return ifAll(known, declined, cancelled)
    },
  },
]
