/** What a receiver is probed with: a message that is made for each rule, rightly signed. */

import type { EventType, Message } from '../../../pay/webhooks/webhook.ts'
import type { Exchange } from '../../record/exchange.ts'
import { isAccepted } from './probing.ts'
import type { RuleText } from './rule.ts'

const isFault = ({ status }: Exchange): boolean => status !== null && status >= 500

const DOCUMENTED = 'Documentation of GOV.UK Pay: Webhooks'

/** A signature that is wrong must not be acted on. */
export const changedSignature: RuleText = {
  id: 'R1',
  level: 'fail',
  title: 'A signature that is wrong',
  sentence:
    'The receiver acts on a message with one digit of the signature changed: it read the payment of each one, as it does for a true message.',
  advice:
    'Compare the header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived before anything else, and answer 401 if they differ.',
  source: DOCUMENTED,
}

export const missingSignature: RuleText = {
  ...changedSignature,
  id: 'R2',
  title: 'No signature',
  sentence:
    'The receiver acts on a message without the header Pay-Signature: it read the payment of each one, as it does for a true message.',
  advice: 'Answer 401 to a message without the header Pay-Signature.',
}

/** A message as it is parsed. */
type Parsed = { resource: Record<string, unknown> } & Record<string, unknown>

/** Makes a true message about a paid payment. undefined where the webhook is not subscribed to its event. */
type Make = (event_type?: EventType) => Message | undefined

export type ProbeRule = RuleText & {
  /** What is special about its messages, for the record. */
  words: string
  /** The messages in order. undefined where there are none to send. */
  messages: (make: Make, newId: () => string) => Message[] | undefined
  /** Whether they are sent at the same moment. */
  atOnce?: true
  /** The number of messages, from the first, that must be accepted before anything is judged. */
  after?: number
  breaks: (answers: readonly Exchange[]) => boolean
  /** Said where the messages cannot be made. */
  lacking: string
  accepted: string
}

const changed = (
  made: Message | undefined,
  change: (parsed: Parsed) => Parsed,
): Message[] | undefined =>
  made && [{ ...made, body: JSON.stringify(change(JSON.parse(made.body))) }]

const refused = (answers: readonly Exchange[]): boolean => !answers.every(isAccepted)

const NOT_SUBSCRIBED =
  'The webhook is not subscribed to both card_payment_captured and card_payment_succeeded.'

/** The fields of `card_details`, which GOV.UK Pay prints all once there is one. */
const CARD_DETAILS = {
  last_digits_card_number: null,
  first_digits_card_number: null,
  cardholder_name: null,
  expiry_date: null,
  billing_address: null,
  card_brand: null,
  card_type: null,
  wallet_type: null,
}

function asInProduction({ resource, ...rest }: Parsed): Parsed {
  const { _links, provider_id, authorisation_mode, card_details, ...kept } = resource
  return {
    ...rest,
    resource: {
      ...kept,
      ...(typeof card_details === 'object' && {
        card_details: { ...CARD_DETAILS, ...card_details },
      }),
    },
  }
}

/** Another payment, which the receiver cannot know. */
function ofUnknown(make: Make, newId: () => string): Message[] | undefined {
  const messages = [make('card_payment_captured'), make('card_payment_succeeded')]
  const other = newId()
  const made = messages.flatMap(each =>
    each ? [{ ...each, body: each.body.replaceAll(each.payment_id, other) }] : [],
  )
  return made.length === messages.length ? made : undefined
}

const single = { lacking: '', accepted: 'The receiver accepted it.', breaks: refused }

export const unknownPayment: ProbeRule = {
  ...single,
  id: 'R4',
  level: 'warn',
  title: 'A payment that it does not know yet',
  sentence:
    'The receiver refuses messages about a payment that it does not know: captured, then succeeded.',
  advice:
    'Messages may arrive in any order, and before your service has stored the payment. Answer 2xx, and read the payment when you know it.',
  source: DOCUMENTED,
  words: 'of an unknown payment, captured before succeeded',
  lacking: NOT_SUBSCRIBED,
  messages: ofUnknown,
}

export const probeRules: readonly ProbeRule[] = [
  {
    ...single,
    id: 'R3',
    level: 'warn',
    title: 'The same message twice',
    sentence: 'The receiver accepts a message and refuses the same one when it comes again.',
    advice:
      'Answer 2xx to a webhook_message_id that you know, and do nothing. GOV.UK Pay delivers at least once, and repeats what is refused.',
    source: DOCUMENTED,
    words: 'sent twice',
    after: 1,
    messages(make) {
      const made = make()
      return made && [made, made]
    },
  },
  unknownPayment,
  {
    ...single,
    id: 'R5',
    level: 'fail',
    title: 'JSON that is printed differently',
    sentence:
      'The receiver refuses the same JSON with one space more, rightly signed: it prints the body again before it checks the signature.',
    advice:
      "Check the signature over the bytes as they arrived. Express: express.raw({ type: 'application/json' }). Flask: request.get_data(). Rails: request.raw_post. Spring: @RequestBody byte[]. PHP: php://input.",
    source: DOCUMENTED,
    words: 'one space more',
    messages(make) {
      const made = make()
      return made && [{ ...made, body: made.body.replace(',', ', ') }]
    },
  },
  {
    ...single,
    id: 'R6',
    level: 'fail',
    title: 'Letters beyond ASCII',
    sentence:
      'The receiver refuses a description with é, £ and an emoji, rightly signed: it reads the body as Latin-1, or in another encoding than UTF-8.',
    advice: 'Give the HMAC the bytes as they arrived. Decode the body as UTF-8.',
    source: DOCUMENTED,
    words: 'é, £ and an emoji in the description',
    messages: make =>
      changed(make(), ({ resource, ...rest }) => ({
        ...rest,
        resource: { ...resource, description: 'Crème brûlée, £5 🍮' },
      })),
  },
  {
    ...single,
    id: 'R7',
    level: 'warn',
    title: 'An unknown field',
    sentence: 'The receiver refuses a message with a field in resource that it does not know.',
    advice: 'Ignore fields that you do not know: GOV.UK Pay adds some without notice.',
    source: DOCUMENTED,
    words: 'an unknown field in resource',
    messages: make =>
      changed(make(), ({ resource, ...rest }) => ({
        ...rest,
        resource: { ...resource, a_field_that_is_new: 'value' },
      })),
  },
  {
    ...single,
    id: 'R8',
    level: 'warn',
    title: 'Twice at the same moment',
    sentence: 'The receiver fails with 5xx when a message arrives twice at the same moment.',
    advice:
      'Two of your instances may get one message. Store the webhook_message_id with a unique index, and answer 2xx where it is there already.',
    source: DOCUMENTED,
    words: 'sent twice at the same moment',
    atOnce: true,
    accepted: 'The receiver did not fail.',
    breaks: answers => answers.some(isFault),
    messages(make) {
      const made = make()
      return made && [made, made]
    },
  },
  {
    ...single,
    id: 'R9',
    level: 'warn',
    title: 'The resource as GOV.UK Pay prints it',
    sentence:
      'The receiver refuses a message whose resource is printed as GOV.UK Pay prints it: without _links, provider_id and authorisation_mode, and with null for what is not known in card_details.',
    advice:
      'Read the payment with GET /v1/payments/{payment_id} where you need these fields, and expect null in card_details.',
    source: '`resource` of a webhook message',
    words: 'the resource as GOV.UK Pay prints it',
    messages: make => changed(make(), asInProduction),
  },
]
