import type { FromSchema } from 'json-schema-to-ts'
import { cardDetails, date, id, link, pence, postLink, timestamp } from '../http/schema.ts'
import { statuses } from './payment.ts'

const agreementId = { type: 'string', minLength: 26, maxLength: 26 } as const
const agreementPaymentType = {
  type: 'string',
  enum: ['instalment', 'recurring', 'unscheduled'],
} as const
const metadata = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
} as const
const label = { type: 'string', minLength: 1, maxLength: 255, not: { pattern: '[<>|]' } } as const
const addressLine = { type: ['string', 'null'], maxLength: 255 } as const

const prefilledAddress = {
  title: 'PrefilledBillingAddress',
  type: ['object', 'null'],
  properties: {
    line1: addressLine,
    line2: addressLine,
    city: addressLine,
    postcode: { type: ['string', 'null'], maxLength: 25 },
    country: {
      type: ['string', 'null'],
      description: 'ISO 3166-1 alpha-2 code. Dropped unless it is two letters',
    },
  },
} as const

/** SPEC *Payment*, the fields of a request. */
export const newPayment = {
  title: 'NewPayment',
  type: 'object',
  required: ['amount', 'reference', 'description'],
  properties: {
    amount: { ...pence, maximum: 10_000_000 },
    reference: {
      ...label,
      description: 'Yours; need not be unique. Not blank, without <, > and |',
    },
    description: {
      ...label,
      description: 'Shown on the hosted pages. Not blank, without <, > and |',
    },
    return_url: {
      type: ['string', 'null'],
      maxLength: 2000,
      description:
        'An absolute https URL, where the user ends up. Required in web mode, not allowed in the others, where blank is as if it were not given',
    },
    moto: {
      type: 'boolean',
      default: false,
      description:
        'Marks a payment by post or telephone. Not in agreement mode; reads true in moto_api mode',
    },
    set_up_agreement: {
      ...agreementId,
      type: ['string', 'null'],
      description:
        'An agreement that becomes active when this payment is authorised. Web mode only',
    },
    authorisation_mode: {
      type: 'string',
      enum: ['web', 'moto_api', 'agreement'],
      default: 'web',
      description:
        'web: a user pays on hosted pages. moto_api: you post the card to /v1/auth. agreement: the card of an agreement pays at once',
    },
    agreement_id: {
      ...agreementId,
      description: 'An active agreement. Required in agreement mode, not allowed in the others',
    },
    agreement_payment_type: {
      ...agreementPaymentType,
      default: 'recurring',
      description: 'Only with set_up_agreement or in agreement mode',
    },
    language: {
      type: 'string',
      enum: ['en', 'cy'],
      default: 'en',
      description: 'The language of the hosted pages: English or Welsh',
    },
    delayed_capture: {
      type: 'boolean',
      default: false,
      description: 'true: an authorised payment waits in capturable until you capture it',
    },
    email: {
      type: ['string', 'null'],
      maxLength: 254,
      description:
        'Shown on the hosted pages. Its format is not checked. Blank is as if it were not given. Not in agreement mode',
    },
    prefilled_cardholder_details: {
      title: 'PrefilledCardholderDetails',
      type: ['object', 'null'],
      description:
        'Shown on the hosted pages. What is null or blank is as if it were not given. Not in agreement mode',
      properties: {
        cardholder_name: { type: ['string', 'null'], maxLength: 255 },
        billing_address: prefilledAddress,
      },
    },
    metadata: {
      ...metadata,
      maxProperties: 15,
      propertyNames: { minLength: 1, maxLength: 30 },
      additionalProperties: { ...metadata.additionalProperties, maxLength: 100 },
      description:
        'Up to 15 pairs of your own. Keys of 1 to 30 characters, unique ignoring case; values of up to 100 characters',
    },
  },
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
      enum: ['P0010', 'P0030', 'P0040', 'P0050'],
      description: 'Why: only with the status failed, error or cancelled',
    },
    message: { type: 'string', description: 'The code in words' },
  },
} as const

const stateLinks = {
  self: link,
  events: link,
  refunds: link,
  cancel: { ...postLink, description: 'While it can be cancelled; not in agreement mode' },
  capture: { ...postLink, description: 'While it is capturable' },
} as const

const shown = {
  payment_id: id,
  amount: { ...pence, description: 'In pence, as given' },
  reference: { type: 'string' },
  description: { type: 'string' },
  language: { type: 'string', enum: ['en', 'cy'] },
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
  authorisation_mode: { type: 'string', enum: ['web', 'moto_api', 'agreement'] },
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
          ...postLink,
          description: 'The same, with the token in a form and not in an address',
        },
        auth_url_post: {
          ...postLink,
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

/** What POST /v1/auth takes, as JSON or as a form (SPEC *POST /v1/auth*). */
export const cardAuthorisation = {
  title: 'CardAuthorisation',
  type: 'object',
  required: ['one_time_token', 'card_number', 'cardholder_name', 'cvc', 'expiry_date'],
  properties: {
    one_time_token: {
      type: 'string',
      description: 'From auth_url_post of the payment. It works once',
    },
    card_number: { type: 'string', pattern: '^[0-9]{12,19}$', description: '12 to 19 digits' },
    cardholder_name: { type: 'string', maxLength: 255, description: 'Not blank' },
    cvc: { type: 'string', pattern: '^[0-9]{3,4}$', description: '3 or 4 digits' },
    expiry_date: {
      type: 'string',
      pattern: '^(0[1-9]|1[0-2])/[0-9]{2}$',
      description: 'a month and a year as MM/YY',
    },
  },
} as const

export type PaymentBody = FromSchema<typeof payment>
export type PaymentEventsBody = FromSchema<typeof paymentEvents>
