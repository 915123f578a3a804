import type { FromSchema } from 'json-schema-to-ts'
import { cardDetails, id, plainText, timestamp } from '../http/schema.ts'
import { agreementStatuses } from './agreement.ts'

export const newAgreement = {
  title: 'NewAgreement',
  type: 'object',
  required: ['reference', 'description'],
  properties: {
    reference: plainText,
    description: plainText,
    user_identifier: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 255,
      description: 'Your own identifier of the user',
    },
  },
} as const

/** SPEC *Agreement*. */
export const agreement = {
  title: 'Agreement',
  type: 'object',
  required: ['agreement_id', 'reference', 'description', 'status', 'created_date'],
  properties: {
    agreement_id: id,
    reference: { type: 'string' },
    description: { type: 'string' },
    user_identifier: { type: 'string', description: 'If it was given' },
    status: {
      type: 'string',
      enum: agreementStatuses,
      description: 'Payments can be made with an active one. Nothing makes an agreement inactive',
    },
    created_date: timestamp,
    cancelled_date: { ...timestamp, description: 'While it is cancelled' },
    payment_instrument: {
      title: 'PaymentInstrument',
      type: 'object',
      description: 'The card of the payment that last set the agreement up',
      required: ['type', 'created_date', 'CardDetails', 'card_details'],
      properties: {
        type: { type: 'string', const: 'card' },
        created_date: { ...timestamp, description: 'When it was set up' },
        CardDetails: cardDetails,
        card_details: { ...cardDetails, description: 'The same as CardDetails' },
      },
    },
  },
} as const

export type AgreementBody = FromSchema<typeof agreement>
