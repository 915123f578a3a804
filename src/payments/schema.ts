import type { FromSchema } from 'json-schema-to-ts'
import {
  billingAddress,
  cardDetails,
  date,
  id,
  link,
  pence,
  postLink,
  timestamp,
} from '../http/schema.ts'
import { statuses } from './payment.ts'

const agreementId = { type: 'string', minLength: 26, maxLength: 26 } as const
const agreementPaymentType = { enum: ['instalment', 'recurring', 'unscheduled'] } as const
const label = {
  type: 'string',
  maxLength: 255,
  description: 'Without the characters < > |',
} as const

/** SPEC *Payment*, the fields of a request. */
export const newPayment = {
  type: 'object',
  required: ['amount', 'reference', 'description'],
  properties: {
    amount: { ...pence, maximum: 10_000_000 },
    reference: { ...label, description: `Need not be unique. ${label.description}` },
    description: { ...label, description: `Shown on the hosted pages. ${label.description}` },
    return_url: {
      type: 'string',
      maxLength: 2000,
      description: 'An absolute https URL. Required in web mode, not allowed in the others',
    },
    moto: { type: 'boolean', default: false },
    set_up_agreement: {
      ...agreementId,
      description: 'An agreement that becomes active when this web payment completes',
    },
    authorisation_mode: { enum: ['web', 'moto_api', 'agreement'], default: 'web' },
    agreement_id: {
      ...agreementId,
      description: 'An active agreement. Only, and always, in agreement mode',
    },
    agreement_payment_type: {
      ...agreementPaymentType,
      description: 'Only with set_up_agreement or in agreement mode; recurring if not given',
    },
    language: { enum: ['en', 'cy'], default: 'en' },
    delayed_capture: {
      type: 'boolean',
      default: false,
      description: 'true: an authorised payment waits in capturable',
    },
    email: { type: 'string', maxLength: 254 },
    prefilled_cardholder_details: {
      type: 'object',
      properties: {
        cardholder_name: { type: 'string', maxLength: 255 },
        billing_address: billingAddress,
      },
    },
    metadata: {
      type: 'object',
      maxProperties: 15,
      propertyNames: { minLength: 1, maxLength: 30 },
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description:
        'Up to 15 pairs; keys of up to 30 characters, unique ignoring case; values of up to 100',
    },
  },
} as const

export const state = {
  type: 'object',
  required: ['status', 'finished'],
  properties: {
    status: { type: 'string', enum: statuses },
    finished: { type: 'boolean' },
    code: { enum: ['P0010', 'P0030', 'P0040', 'P0050'] },
    message: { type: 'string' },
  },
} as const

/** SPEC *Payment*, as every response and webhook message shows it. */
export const payment = {
  type: 'object',
  required: [
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
  ],
  properties: {
    payment_id: id,
    amount: pence,
    reference: { type: 'string' },
    description: { type: 'string' },
    language: { enum: ['en', 'cy'] },
    email: { type: 'string' },
    metadata: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
    agreement_payment_type: agreementPaymentType,
    state,
    payment_provider: { type: 'string', const: 'sandbox' },
    provider_id: { type: 'string', format: 'uuid' },
    created_date: timestamp,
    refund_summary: {
      type: 'object',
      required: ['status', 'amount_available', 'amount_submitted'],
      properties: {
        status: { enum: ['pending', 'unavailable', 'available', 'full'] },
        amount_available: pence,
        amount_submitted: pence,
      },
    },
    settlement_summary: {
      type: 'object',
      properties: { capture_submit_time: timestamp, captured_date: date },
    },
    delayed_capture: { type: 'boolean' },
    moto: { type: 'boolean' },
    authorisation_mode: { enum: ['web', 'moto_api', 'agreement'] },
    return_url: { type: 'string' },
    card_brand: { type: 'string', deprecated: true, description: 'Use card_details.card_brand' },
    card_details: cardDetails,
    authorisation_summary: {
      type: 'object',
      required: ['three_d_secure'],
      properties: {
        three_d_secure: {
          type: 'object',
          required: ['required'],
          properties: { required: { type: 'boolean' } },
        },
      },
    },
    fee: pence,
    net_amount: pence,
    _links: {
      type: 'object',
      required: ['self', 'events', 'refunds'],
      properties: {
        self: link,
        events: link,
        refunds: link,
        next_url: link,
        next_url_post: postLink,
        auth_url_post: postLink,
        cancel: postLink,
        capture: postLink,
      },
    },
  },
} as const

export const paymentEvents = {
  type: 'object',
  required: ['payment_id', 'events', '_links'],
  properties: {
    payment_id: id,
    events: {
      type: 'array',
      items: {
        type: 'object',
        required: ['payment_id', 'state', 'updated', '_links'],
        properties: {
          payment_id: id,
          state,
          updated: timestamp,
          _links: { type: 'object', required: ['payment_url'], properties: { payment_url: link } },
        },
      },
    },
    _links: { type: 'object', required: ['self'], properties: { self: link } },
  },
} as const

/** What POST /v1/auth takes, as JSON or as a form (SPEC *POST /v1/auth*). */
export const cardAuthorisation = {
  type: 'object',
  required: ['one_time_token', 'card_number', 'cardholder_name', 'cvc', 'expiry_date'],
  properties: {
    one_time_token: { type: 'string', description: 'From auth_url_post of the payment' },
    card_number: { type: 'string', pattern: '^[0-9]{12,19}$', description: '12 to 19 digits' },
    cardholder_name: { type: 'string', maxLength: 255 },
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
