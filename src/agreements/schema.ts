import type { FromSchema } from 'json-schema-to-ts'
import { cardDetails, id, timestamp } from '../http/schema.ts'
import { agreementStatuses } from './agreement.ts'

const label = { type: 'string', minLength: 1, maxLength: 255 } as const
const plainLabel = { ...label, description: 'Without the characters < > |' } as const

export const newAgreement = {
  type: 'object',
  required: ['reference', 'description'],
  properties: {
    reference: plainLabel,
    description: plainLabel,
    user_identifier: { ...label, description: 'Your own identifier of the user' },
  },
} as const

/** SPEC *Agreement*. */
export const agreement = {
  type: 'object',
  required: ['agreement_id', 'reference', 'description', 'status', 'created_date'],
  properties: {
    agreement_id: id,
    reference: { type: 'string' },
    description: { type: 'string' },
    user_identifier: { type: 'string' },
    status: { type: 'string', enum: agreementStatuses },
    created_date: timestamp,
    cancelled_date: timestamp,
    payment_instrument: {
      type: 'object',
      required: ['type', 'created_date', 'CardDetails', 'card_details'],
      properties: {
        type: { type: 'string', const: 'card' },
        created_date: timestamp,
        CardDetails: cardDetails,
        card_details: { ...cardDetails, description: 'The same as CardDetails' },
      },
    },
  },
} as const

export type AgreementBody = FromSchema<typeof agreement>
