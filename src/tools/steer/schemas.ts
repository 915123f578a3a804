/** Schemas that several endpoints below /control share. */
import { fieldsOfGovukPay, sometimesPresent } from '../../pay/payments/response-fields.ts'
import { id, object } from '../../platform/http/schema.ts'

export const text = { type: 'string' } as const
export const count = { type: 'integer', minimum: 0 } as const
export const nullable = { type: ['string', 'null'] } as const
export const headers = { type: 'object', additionalProperties: text } as const
export const identifier = { type: 'string', pattern: '^[0-9a-v]{26}$' } as const

export const anyJson = {
  description: 'JSON as such, anything else as text; null for none',
} as const

export const cut = {
  ...count,
  description: 'The size of the whole body, where its beginning is kept',
} as const

export const answer = {
  type: 'object',
  required: ['headers', 'body'],
  properties: { headers, body: anyJson, body_cut: cut },
} as const

const asInApi = { type: 'object', additionalProperties: true, description: 'As in /openapi.json' }

/** A payment as GET returns it, which depends on how the account behaves. */
export const shownPayment = object(
  'PaymentOfAccount',
  { ...fieldsOfGovukPay.always, _links: asInApi },
  {
    ...sometimesPresent,
    ...fieldsOfGovukPay.sometimes,
    agreement_id: id,
    card_details: asInApi,
  },
)
