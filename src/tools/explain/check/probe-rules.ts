/** What a receiver is probed with: messages that are made for each rule, rightly signed. */
import { documented, inCode } from '../../../pay/differences/source.ts'
import { asGovukPay, type EventType, type Message } from '../../../pay/webhooks/webhook.ts'
import type { Exchange } from '../../record/exchange.ts'
import { SIGNING } from './probing.ts'
import type { RuleText } from './rule.ts'

export type ProbeRule = RuleText & {
  /** What is special about its messages, for the record. */
  words: string
  /**
   * The messages in order, from a true one about a paid payment. `make` gives one of another event. undefined where the
   * webhook is not subscribed to what is needed.
   */
  messages: (
    message: Message,
    make: (event_type: EventType) => Message | undefined,
    newId: () => string,
  ) => Message[] | undefined
  /** Whether they are sent at the same moment. */
  atOnce?: true
  /** It is about a payment that does not exist, which a receiver may read. */
  isUnknown?: true
  /** Without it the rule is broken where a message is refused. */
  breaks?: (answers: readonly Exchange[]) => boolean
  /** The number of messages, from the first, that must be accepted before anything is judged. */
  after?: number
  /** Said where nothing could be judged. */
  lacking?: string
  /** Said where it passes. */
  passed?: string
}

/** The same with other fields of the resource. */
function changed(message: Message, fields: Record<string, unknown>): Message {
  const { resource, ...rest } = JSON.parse(message.body) as Record<string, object>
  return { ...message, body: JSON.stringify({ ...rest, resource: { ...resource, ...fields } }) }
}

const inProduction = (message: Message): Message => ({ ...message, body: asGovukPay(message.body) })

/** The same about another payment, which the receiver cannot know. */
const ofUnknown = (message: Message, other: string): Message => ({
  ...message,
  body: message.body.replaceAll(message.payment_id, other),
})

const DECLINED = {
  status: 'failed',
  finished: true,
  code: 'P0010',
  message: 'Payment method rejected',
}
/** Its source gives this code to both kinds of cancel. */
const CANCELLED = { ...DECLINED, code: 'P0030', message: 'Payment was cancelled by the user' }

/** Of three payments, all as GOV.UK Pay prints them: the first with the status of the specification, two with its own. */
function failures(made: Message, newId: () => string): Message[] {
  const declined = inProduction(changed(made, { state: DECLINED }))
  const cancelled = inProduction(changed(made, { state: CANCELLED }))
  const known = changed(declined, { state: DECLINED })
  return [known, declined, cancelled].map(each => {
    const message_id = newId()
    const body = each.body.replaceAll(each.message_id, message_id)
    return ofUnknown({ ...each, message_id, body }, newId())
  })
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
    messages: message => [message, message],
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
    messages(_message, make, newId) {
      const [captured, succeeded] = [make('card_payment_captured'), make('card_payment_succeeded')]
      const other = newId()
      return captured && succeeded && [captured, succeeded].map(each => ofUnknown(each, other))
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
    messages: message => [{ ...message, body: message.body.replace(',', ', ') }],
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
    messages: message => [changed(message, { description: 'Crème brûlée, £5 🍮' })],
  },
  {
    id: 'R7',
    level: 'warn',
    title: 'An unknown field',
    sentence: 'The receiver refuses a message with a field in resource that it does not know.',
    advice: 'Ignore fields that you do not know: GOV.UK Pay adds some without notice.',
    source: documented('versioning/#stay-up-to-date'),
    words: 'an unknown field in resource',
    messages: message => [changed(message, { a_field_that_is_new: 'value' })],
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
    messages: message => [message, message],
  },
  {
    id: 'R9',
    level: 'warn',
    title: 'The message as GOV.UK Pay prints it',
    sentence:
      'The receiver refuses a message as the source of GOV.UK Pay prints it: resource_type is PAYMENT; _links, provider_id, authorisation_mode and wallet_type are missing; what is not known in card_details is null.',
    advice:
      'Read the payment with GET /v1/payments/{payment_id} where you need these fields. Expect null in card_details, and resource_type in capital letters.',
    source: inCode('webhooks', 'message/apirepresentation/PaymentApiRepresentation.java', '22-44'),
    words: 'the message as GOV.UK Pay prints it',
    messages: message => [inProduction(message)],
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
    isUnknown: true,
    after: 1,
    lacking:
      'The webhook is not subscribed to card_payment_failed, or the receiver refuses it also with the status failed: of a payment that it does not know (R4), or as GOV.UK Pay prints it (R9).',
    messages(_message, make, newId) {
      const failed = make('card_payment_failed')
      return failed && failures(failed, newId)
    },
  },
]
