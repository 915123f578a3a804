import type { FromSchema } from 'json-schema-to-ts'
import { cardDetails, date, id, link, pence, postLinkSchema, timestamp } from '../http/schema.ts'
import {
  agreementPaymentTypes,
  authorisationModes,
  failureCodes,
  languages,
  statuses,
} from './payment.ts'

export const agreementPaymentType = {
  type: 'string',
  enum: agreementPaymentTypes,
} as const

export const metadata = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
} as const

export const state = {
  title: 'PaymentState',
  type: 'object',
  required: ['status', 'finished'],
  properties: {
    status: { type: 'string', enum: statuses },
    finished: { type: 'boolean', description: 'true once the status cannot change again' },
    code: {
      type: 'string',
      enum: failureCodes,
      description: 'Why: only with the status failed, error or cancelled',
    },
    message: { type: 'string', description: 'The code in words' },
  },
} as const

const stateLinks = {
  self: link,
  events: link,
  refunds: link,
  cancel: { ...postLinkSchema, description: 'While it can be cancelled; not in agreement mode' },
  capture: { ...postLinkSchema, description: 'While it is capturable' },
} as const

const shown = {
  payment_id: id,
  amount: { ...pence, description: 'In pence, as given' },
  reference: { type: 'string' },
  description: { type: 'string' },
  language: { type: 'string', enum: languages },
  email: { type: 'string', description: 'If it was given' },
  metadata: { ...metadata, description: 'If it was given; types are kept' },
  agreement_payment_type: {
    ...agreementPaymentType,
    description: 'Of a payment that sets up an agreement or is made with one',
  },
  state,
  payment_provider: { type: 'string', const: 'sandbox' },
  provider_id: { type: 'string', format: 'uuid', description: "The provider's own reference" },
  created_date: timestamp,
  refund_summary: {
    title: 'RefundSummary',
    type: 'object',
    required: ['status', 'amount_available', 'amount_submitted'],
    properties: {
      status: {
        type: 'string',
        enum: ['pending', 'unavailable', 'available', 'full'],
        description:
          'pending: not paid yet. unavailable: never to be refunded as it is. available: something is left. full: nothing is left',
      },
      amount_available: { ...pence, description: 'What is left to refund, in pence' },
      amount_submitted: { ...pence, description: 'The sum of all refunds, in pence' },
    },
  },
  settlement_summary: {
    title: 'SettlementSummary',
    type: 'object',
    description: 'Empty until the payment is captured. Nothing is ever settled',
    properties: { capture_submit_time: timestamp, captured_date: date },
  },
  delayed_capture: { type: 'boolean' },
  moto: { type: 'boolean', description: 'true in moto_api mode' },
  authorisation_mode: { type: 'string', enum: authorisationModes },
  return_url: { type: 'string', description: 'In web mode, exactly as given' },
  card_brand: { type: 'string', deprecated: true, description: 'Use card_details.card_brand' },
  card_details: {
    ...cardDetails,
    description:
      'Once a card was submitted; before that, if cardholder details were prefilled, just these',
  },
  authorisation_summary: {
    title: 'AuthorisationSummary',
    type: 'object',
    description: 'Once a card was submitted',
    required: ['three_d_secure'],
    properties: {
      three_d_secure: {
        title: 'ThreeDSecure',
        type: 'object',
        required: ['required'],
        properties: { required: { type: 'boolean', description: 'Always false here' } },
      },
    },
  },
  fee: { ...pence, description: '0, once captured or failed after a card was submitted' },
  net_amount: { ...pence, description: 'The amount, or 0 if it failed. Beside fee' },
} as const

const alwaysShown = [
  'payment_id',
  'amount',
  'reference',
  'description',
  'language',
  'state',
  'payment_provider',
  'provider_id',
  'created_date',
  'refund_summary',
  'settlement_summary',
  'delayed_capture',
  'moto',
  'authorisation_mode',
  '_links',
] as const

/** SPEC *Payment*, as every response and webhook message shows it. */
export const payment = {
  title: 'Payment',
  type: 'object',
  required: alwaysShown,
  properties: {
    ...shown,
    _links: {
      title: 'PaymentLinks',
      type: 'object',
      description: 'A link that does not apply is absent',
      required: ['self', 'events', 'refunds'],
      properties: {
        ...stateLinks,
        next_url: {
          ...link,
          description: 'The hosted page for the user to pay on. Web mode, until it is paid',
        },
        next_url_post: {
          ...postLinkSchema,
          description: 'The same, with the token in a form and not in an address',
        },
        auth_url_post: {
          ...postLinkSchema,
          description: 'Where to post the card, and the one_time_token. moto_api mode',
        },
      },
    },
  },
} as const

/** As the payments search shows it: without the links that carry a token. */
export const foundPayment = {
  title: 'FoundPayment',
  type: 'object',
  required: alwaysShown,
  properties: {
    ...shown,
    _links: {
      title: 'FoundPaymentLinks',
      type: 'object',
      description: 'A link that does not apply is absent. Those with a token are on the payment',
      required: ['self', 'events', 'refunds'],
      properties: stateLinks,
    },
  },
} as const

export const paymentEvents = {
  title: 'PaymentEvents',
  type: 'object',
  required: ['payment_id', 'events', '_links'],
  properties: {
    payment_id: id,
    events: {
      type: 'array',
      description: 'Oldest first. Refunds are not among them',
      items: {
        title: 'PaymentEvent',
        type: 'object',
        required: ['payment_id', 'state', 'updated', '_links'],
        properties: {
          payment_id: id,
          state,
          updated: timestamp,
          _links: {
            title: 'PaymentEventLinks',
            type: 'object',
            required: ['payment_url'],
            properties: { payment_url: link },
          },
        },
      },
    },
    _links: {
      title: 'PaymentEventsLinks',
      type: 'object',
      required: ['self'],
      properties: { self: link },
    },
  },
} as const

export type PaymentBody = FromSchema<typeof payment>
export type PaymentEventsBody = FromSchema<typeof paymentEvents>
