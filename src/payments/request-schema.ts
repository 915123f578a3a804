import { pence, plainText } from '../http/schema.ts'
import { authorisationModes, languages } from './payment.ts'
import { agreementPaymentType, metadata } from './schema.ts'

/** SPEC *Idempotency-Key*. */
export const idempotencyKeySchema = { type: 'string', pattern: '^[A-Za-z0-9-]{1,255}$' } as const

const agreementId = { type: 'string', minLength: 26, maxLength: 26 } as const
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

/** SPEC *Payment*, the fields of a request, in the order in which their limits are looked at. */
export const newPayment = {
  title: 'NewPayment',
  type: 'object',
  required: ['amount', 'reference', 'description'],
  properties: {
    amount: { ...pence, maximum: 10_000_000 },
    reference: {
      ...plainText,
      description: 'Yours; need not be unique. Not blank, without <, > and |',
    },
    description: {
      ...plainText,
      description: 'Shown on the hosted pages. Not blank, without <, > and |',
    },
    email: {
      type: ['string', 'null'],
      maxLength: 254,
      description:
        'Shown on the hosted pages. Its format is not checked. Blank is as if it were not given. Not in agreement mode',
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
      enum: authorisationModes,
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
      enum: languages,
      default: 'en',
      description: 'The language of the hosted pages: English or Welsh',
    },
    delayed_capture: {
      type: 'boolean',
      default: false,
      description: 'true: an authorised payment waits in capturable until you capture it',
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
