/** Specification, *Payment*: the schemas of the fields of a payment in responses. */
import {
  cardDetails,
  cardDetailsWithNulls,
  date,
  id,
  object,
  pence,
  timestamp,
} from '../../platform/http/schema.ts'
import {
  agreementPaymentTypes,
  authorisationModes,
  failureCodes,
  languages,
  statuses,
} from './payment.ts'

const text = { type: 'string' } as const

export const state = object(
  'PaymentState',
  {
    status: { type: 'string', enum: statuses },
    finished: { type: 'boolean', description: 'true once the status cannot change again' },
  },
  {
    code: {
      type: 'string',
      enum: failureCodes,
      description: 'The reason, only with the status failed, error or cancelled',
    },
    message: { type: 'string', description: 'A description of the code' },
    can_retry: {
      type: 'boolean',
      description:
        'Only on a declined payment in agreement mode: false if its agreement became inactive. Never present here without a plan',
    },
  },
)

export const alwaysPresent = {
  payment_id: id,
  amount: { ...pence, description: 'In pence, as given' },
  reference: text,
  description: text,
  language: { type: 'string', enum: languages },
  state,
  payment_provider: { type: 'string', const: 'sandbox' },
  provider_id: { type: 'string', format: 'uuid', description: "The provider's own reference" },
  created_date: timestamp,
  refund_summary: object('RefundSummary', {
    status: {
      type: 'string',
      enum: ['pending', 'unavailable', 'available', 'full'],
      description:
        'pending: not paid yet. unavailable: not refundable in this status. available: an amount is left to refund. full: nothing is left to refund',
    },
    amount_available: { ...pence, description: 'The amount left to refund, in pence' },
    amount_submitted: { ...pence, description: 'The sum of all refunds, in pence' },
  }),
  settlement_summary: {
    ...object(
      'SettlementSummary',
      {},
      {
        capture_submit_time: timestamp,
        captured_date: date,
        settled_date: { ...date, description: 'Never present here' },
      },
    ),
    description: 'Empty until the payment is captured. Nothing is ever settled',
  },
  delayed_capture: { type: 'boolean' },
  moto: { type: 'boolean', description: 'true in moto_api mode' },
  authorisation_mode: {
    type: 'string',
    enum: [...authorisationModes, 'external'],
    description: 'Never `external` here',
  },
} as const

export const sometimesPresent = {
  email: { type: 'string', description: 'Present if it was sent' },
  metadata: {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: 'Present if it was sent. Types are kept',
  },
  agreement_payment_type: {
    type: 'string',
    enum: agreementPaymentTypes,
    description: 'Present if the payment sets up an agreement or uses one',
  },
  return_url: { type: 'string', description: 'In web mode, exactly as given' },
  card_brand: { type: 'string', deprecated: true, description: 'Use card_details.card_brand' },
  card_details: {
    ...cardDetails,
    description:
      'Present once a card was submitted. Before that, the prefilled cardholder details, if any',
  },
  authorisation_summary: {
    ...object('AuthorisationSummary', {
      three_d_secure: object('ThreeDSecure', {
        required: { type: 'boolean', description: 'Always false here' },
      }),
    }),
    description: 'Present once a card was submitted',
  },
  fee: {
    ...pence,
    description: '0. Present after capture, or after a failure that followed a submitted card',
  },
  net_amount: { ...pence, description: 'The amount, or 0 if the payment failed. Present with fee' },
  corporate_card_surcharge: { ...pence, description: 'In pence. Never present here' },
  total_amount: { ...pence, description: 'With a surcharge, in pence. Never present here' },
  exemption: {
    ...object(
      'Exemption',
      {},
      {
        requested: { type: 'boolean' },
        type: { type: 'string', enum: ['corporate'] },
        outcome: object('ExemptionOutcome', {}, { result: { type: 'string' } }),
      },
    ),
    description: 'Of 3D Secure. Never present here',
  },
} as const

const { provider_id, ...always } = alwaysPresent
const { card_details, authorisation_summary, fee, net_amount } = sometimesPresent
const never = (schema: object) => ({ ...schema, description: 'Never present with its sandbox' })

/** The same under `govuk-pay`: see differences/reading.ts. */
export const fieldsOfGovukPay = {
  always,
  sometimes: {
    ...sometimesPresent,
    authorisation_summary: never(authorisation_summary),
    fee: never(fee),
    net_amount: never(net_amount),
    provider_id: { ...provider_id, description: 'Present once a card was submitted' },
    card_details: {
      ...cardDetailsWithNulls,
      description: `${card_details.description}. What is not known is null`,
    },
  },
} as const
