import type { FromSchema } from 'json-schema-to-ts'
import type { Behaviour } from '../../core/account.ts'
import { fieldCodes } from '../../core/errors.ts'
import { timeOf } from '../../core/ids.ts'
import { iso } from '../../core/time.ts'
import { FieldReader, type Json } from '../../platform/http/fields.ts'
import {
  cardDetails,
  cardDetailsWithNulls,
  id,
  object,
  plainText,
  type Titled,
  timestamp,
} from '../../platform/http/schema.ts'
import type { Decision } from '../differences/difference.ts'
import { cardOfAgreements } from '../differences/reading.ts'
import { type Agreement, agreementStatuses, type NewAgreement } from './agreement.ts'

export const newAgreement = object(
  'NewAgreement',
  { reference: plainText, description: plainText },
  {
    user_identifier: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 255,
      description: 'Your own identifier of the user',
    },
  },
)

/** Reads the body of POST /v1/agreements. Throws the first error. */
export function readNewAgreement(body: Json): NewAgreement {
  const fields = new FieldReader(body, newAgreement, fieldCodes.agreement)
  const reference = fields.plainText('reference')
  const description = fields.plainText('description')
  const user_identifier = fields.optionalRawText('user_identifier')
  fields.checkLimits()
  return { reference, description, ...(user_identifier !== undefined && { user_identifier }) }
}

const required = {
  agreement_id: id,
  reference: { type: 'string' },
  description: { type: 'string' },
  status: {
    type: 'string',
    enum: agreementStatuses,
    description:
      'Only an active agreement can be used for payments. None becomes inactive without a plan',
  },
  created_date: timestamp,
} as const

const optional = {
  user_identifier: { type: 'string', description: 'Present if it was sent' },
  cancelled_date: { ...timestamp, description: 'Present once the agreement is cancelled' },
} as const

const instrument = {
  type: { type: 'string', const: 'card' },
  created_date: { ...timestamp, description: 'When it was set up' },
} as const

const agreementWith = <const Card extends Record<string, object>>(card: Card) =>
  object('Agreement', required, {
    ...optional,
    payment_instrument: {
      ...object('PaymentInstrument', { ...instrument, ...card }),
      description: 'The card of the payment that last set the agreement up',
    },
  })

/** Specification, *Agreement*. */
const agreement = agreementWith({
  CardDetails: cardDetails,
  card_details: { ...cardDetails, description: 'The same as CardDetails' },
})

export const agreementIn: Decision<Titled> = {
  specification: agreement,
  'govuk-pay': agreementWith({ card_details: cardDetailsWithNulls }),
}

type ShownAgreement = Omit<FromSchema<typeof agreement>, 'payment_instrument'> & {
  payment_instrument?: { type: 'card'; created_date: string }
}

/** The agreement as the behaviour of its account shows it. `agreementIn` has the schemas. */
export function presentAgreement(agreement: Agreement, behaviour: Behaviour): ShownAgreement {
  const { agreement_id, user_identifier, cancelled_at, instrument } = agreement
  return {
    agreement_id,
    reference: agreement.reference,
    description: agreement.description,
    ...(user_identifier !== undefined && { user_identifier }),
    status: agreement.status,
    created_date: iso(timeOf(agreement_id)),
    ...(cancelled_at !== undefined && { cancelled_date: iso(cancelled_at) }),
    ...(instrument && {
      payment_instrument: {
        type: 'card',
        created_date: iso(instrument.at),
        ...cardOfAgreements[behaviour](instrument.card),
      },
    }),
  }
}
