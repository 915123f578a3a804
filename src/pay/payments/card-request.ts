import { fieldCodes, invalid, missing } from '../../core/errors.ts'
import { type Json, readFields } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'

/** Specification, *POST /v1/auth*: the body, as JSON or as a form. */
export const cardAuthorisation = object('CardAuthorisation', {
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
})

export type CardAuthorisation = Record<(typeof cardAuthorisation.required)[number], string>

/** Checks that each field is text, then that each is given, then its limits. Throws the first error. */
export function readCardAuthorisation(body: Json): CardAuthorisation {
  const { required: names } = cardAuthorisation
  for (const name of names)
    if (body[name] !== undefined && body[name] !== null && typeof body[name] !== 'string')
      throw invalid(fieldCodes.authorisation, name, 'must be a string')
  for (const name of names) {
    const value = body[name]
    const blankIsMissing = name === 'one_time_token' || name === 'cardholder_name'
    if (typeof value !== 'string' || (blankIsMissing && !value.trim()))
      throw missing(fieldCodes.authorisation, name)
  }
  readFields(body, cardAuthorisation, fieldCodes.authorisation).checkLimits()
  return body as CardAuthorisation // every field has been checked to be text
}
