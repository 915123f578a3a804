/** Differences in webhooks and their messages. */
import type { Redirects, Repeats } from '../../core/ports.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/time.ts'
import { asLedgerPrints } from './as-ledger-prints.ts'
import { difference } from './difference.ts'
import { inCode } from './source.ts'
import { typeOfResource } from './values.ts'

const meanings = {
  specification: {
    card_payment_succeeded: 'the payment was authorised, so it is success or capturable',
    card_payment_captured: 'it became success, at once or by a capture',
    card_payment_refunded: 'a refund was submitted',
    card_payment_failed: 'the card was declined, the provider had an error, or the user cancelled',
    card_payment_cancelled: 'it was cancelled through the API',
    card_payment_settled: 'never sent, because payments are never settled',
  },
  'govuk-pay': {
    card_payment_started: 'never sent',
    card_payment_succeeded: 'the payment became success',
    card_payment_captured: 'it was captured, some seconds later',
    card_payment_refunded: 'a refund succeeded',
    card_payment_failed:
      'the card was declined, the provider had an error, or it was cancelled by anybody',
    card_payment_expired: 'nobody finished it in time',
  },
}

export type EventType = keyof typeof meanings.specification | keyof (typeof meanings)['govuk-pay']

/** The event types that messages have. */
export type SentEventType = Exclude<EventType, 'card_payment_started' | 'card_payment_settled'>

/** The event types that a webhook can subscribe to, and their meanings. */
export const eventMeanings = difference<Partial<Record<EventType, string>>>({
  subject: 'The event types of webhooks',
  specification: 'card_payment_cancelled and card_payment_settled are among them',
  govukPay:
    'card_payment_started, which is never sent, and card_payment_expired are in their place',
  source: inCode('webhooks', 'eventtype/EventTypeName.java', '8-19'),
  noRule: 'P11',
  decides: meanings,
})

const CANCELLED: EventType = 'card_payment_cancelled'

type Move = { from: string; to: string; code?: string | undefined }

/** The event types of a payment's move from one status to another. A later capture sends card_payment_captured. */
export const eventsOfMove = difference<(move: Move) => EventType[]>({
  subject: 'The messages about a payment',
  specification:
    'card_payment_succeeded comes when it becomes capturable or success, with card_payment_captured at success. A cancel through the API is card_payment_cancelled',
  govukPay:
    'card_payment_succeeded comes when it becomes success, not capturable; card_payment_captured once it is captured. A cancel through the API is card_payment_failed, and an expiry card_payment_expired. None tells of a capture that fails',
  source: inCode('webhooks', 'message/EventMapper.java', '13-28'),
  rule: {
    id: 'P11',
    level: 'note',
    advice: 'Let the receiver treat card_payment_failed with a cancelled payment the same way.',
    among: {
      messages: true,
      operation: CANCELLED,
      lacking: 'No message card_payment_cancelled was sent.',
    },
    answer: eventsOf => eventsOf({ from: 'created', to: 'cancelled' }).includes(CANCELLED),
  },
  decides: {
    specification({ from, to, code }) {
      if (code === 'P0020' || from === 'success') return []
      if (to === 'success' && from === 'capturable') return ['card_payment_captured']
      if (to === 'success') return ['card_payment_succeeded', 'card_payment_captured']
      if (to === 'capturable') return ['card_payment_succeeded']
      if (to === 'failed' || to === 'error') return ['card_payment_failed']
      return to === 'cancelled' ? ['card_payment_cancelled'] : []
    },
    'govuk-pay'({ from, to, code }) {
      if (code === 'P0020') return ['card_payment_expired']
      if (from === 'success') return []
      if (to === 'success') return ['card_payment_succeeded']
      return ['failed', 'error', 'cancelled'].includes(to) ? ['card_payment_failed'] : []
    },
  },
})

type Head = {
  message_id: string
  created_date: string
  resource_id: string
  event_type: EventType
}

/** The fields of a message before `resource`. */
export const messageHead = difference<(head: Head) => object>({
  subject: 'The fields of a message',
  specification: 'created_date comes after api_version, and resource_type is payment',
  govukPay: 'created_date comes after webhook_message_id, and resource_type is PAYMENT',
  source: inCode('webhooks', 'message/WebhookMessageBody.java', '15-34'),
  decides: {
    specification: ({ message_id, created_date, resource_id, event_type }) => ({
      webhook_message_id: message_id,
      api_version: 1,
      created_date,
      resource_id,
      resource_type: typeOfResource.specification,
      event_type,
    }),
    'govuk-pay': ({ message_id, created_date, resource_id, event_type }) => ({
      webhook_message_id: message_id,
      created_date,
      resource_id,
      api_version: 1,
      resource_type: typeOfResource['govuk-pay'],
      event_type,
    }),
  },
})

/** `resource` of a message, from the payment as GET returns it. */
export const messageResource = difference<(payment: object, event_type: EventType) => object>({
  subject: 'resource of a message',
  specification: 'It is the payment as GET returned it right after the change',
  govukPay:
    'It is the payment as its ledger prints it: the status is declined, timedout or cancelled in place of failed, a cancel is always P0030, and there are no _links, provider_id, authorisation_mode, agreement_id, agreement_payment_type, card_brand and can_retry. card_details has seven fields, null where unknown, but for card_brand, which is an empty text. card_payment_succeeded has an empty settlement_summary',
  source: inCode('webhooks', 'message/apirepresentation/PaymentApiRepresentation.java', '22-44'),
  noRule: 'R9 and R10 ask the receiver',
  decides: { specification: payment => payment, 'govuk-pay': asLedgerPrints },
})

type Attempts = {
  most: number
  /** Milliseconds until the response of each address must begin. */
  timeout: number
  /** Milliseconds from each failure to the next attempt, in the account's time. Empty: at once. */
  delays: readonly number[]
  /** Milliseconds from the change to the first attempt, in the machine's time. Undefined: the request waits for it. */
  first: number | undefined
  when: string
  words: string
}

export const attempts = difference<Attempts>({
  subject: 'The attempts to deliver a message',
  specification:
    'The request that causes it waits for at most 2, of 2 seconds each, without a pause',
  govukPay:
    'After the answer to the request, in any order. There are at most 6 attempts of 3 seconds: again 60 seconds, 5 minutes, 1 hour, 1 day and 2 days after each failure',
  source: inCode('webhooks', 'deliveryqueue/managed/SendAttempter.java', '177-186'),
  noRule: 'no request causes it',
  decides: {
    specification: {
      most: 2,
      timeout: 2 * SECOND,
      delays: [],
      first: undefined,
      when: 'after the change is saved and before it responds to the request that caused it',
      words:
        'There are at most two attempts of 2 seconds each, the second right after the first. Redirects are not followed.',
    },
    'govuk-pay': {
      most: 6,
      timeout: 3 * SECOND,
      delays: [MINUTE, 5 * MINUTE, HOUR, DAY, 2 * DAY],
      first: 500,
      when: 'within about a second after the change',
      words:
        'There are at most six attempts of 3 seconds each: the others come 60 seconds, 5 minutes, 1 hour, 1 day and 2 days after each failure, in the time of the account. 301, 302 and 303 are followed with a GET without body and signature, 307 and 308 with the same POST, at most five times.',
    },
  },
})

/** The redirects that an attempt follows, and the requests that it repeats. */
export const following = difference<{ redirects?: Redirects; repeats?: Repeats }>({
  subject: 'A receiver that redirects, or answers 429 or 503',
  specification: 'The attempt has failed',
  govukPay:
    '301, 302 and 303 are followed with a GET without body and signature, whose 2xx counts as delivered; 307 and 308 with the same POST. It follows 50 redirects, Farthing 5, each with the rules for addresses. After 429 and 503 the request is repeated once, after Retry-After, here at most 3 seconds, or 1 second',
  source: inCode('webhooks', 'app/WebhooksModule.java', '110-124'),
  noRule: 'W2 looks at the answers of the receiver',
  decides: {
    specification: {},
    'govuk-pay': {
      redirects: { most: 5, asGet: [301, 302, 303], unchanged: [307, 308] },
      repeats: { statuses: [429, 503], wait: 1_000, longest: 3_000 },
    },
  },
})

export const webhooksBelowV1 = difference<boolean>({
  subject: 'The endpoints of webhooks below /v1',
  specification: 'They register, list, read and delete webhooks, and list their messages',
  govukPay:
    'They answer 404: webhooks are made in its admin tool, here in the console or with POST /control/webhooks',
  source: inCode('publicapi', 'app/PublicApi.java', '106-117'),
  rule: {
    id: 'P19',
    level: 'warn',
    advice:
      'Register the webhook in its admin tool, and here with POST /control/webhooks, farthing listen or the setting FARTHING_WEBHOOK_URL. Let the application know the signing key only.',
    among: { lacking: 'No request went to an endpoint below /v1/webhooks.' },
    answer: (exists, { operation }) => /webhook/i.test(operation) && exists,
  },
  decides: { specification: true, 'govuk-pay': false },
})
