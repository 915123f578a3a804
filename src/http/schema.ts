/**
 * Pieces that the schemas of several slices share. A schema is a plain JSON Schema object: /openapi.json
 * prints it, the compiler derives its type, and http/fields.ts reads its limits.
 */

export const pence = { type: 'integer', minimum: 0, description: 'An amount in pence' } as const

export const timestamp = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  description: 'UTC, with exactly three fraction digits',
} as const

export const date = { type: 'string', format: 'date', description: 'A day in UTC' } as const

export const id = {
  type: 'string',
  pattern: '^[0-9a-v]{26}$',
  description: '26 of 0-9 and a-v; sorting identifiers sorts by creation',
} as const

export const link = {
  type: 'object',
  required: ['href', 'method'],
  properties: { href: { type: 'string', format: 'uri' }, method: { type: 'string', const: 'GET' } },
} as const

export const postLink = {
  type: 'object',
  required: ['href', 'method', 'type', 'params'],
  properties: {
    href: { type: 'string', format: 'uri' },
    method: { type: 'string', const: 'POST' },
    type: { type: 'string', const: 'application/x-www-form-urlencoded' },
    params: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const

export const billingAddress = {
  type: 'object',
  properties: {
    line1: { type: 'string', maxLength: 255 },
    line2: { type: 'string', maxLength: 255 },
    city: { type: 'string', maxLength: 255 },
    postcode: { type: 'string', maxLength: 25 },
    country: { type: 'string', description: 'ISO 3166-1 alpha-2 code' },
  },
} as const

export const cardDetails = {
  type: 'object',
  required: ['card_type'],
  properties: {
    first_digits_card_number: { type: 'string', pattern: '^[0-9]{6}$' },
    last_digits_card_number: { type: 'string', pattern: '^[0-9]{4}$' },
    cardholder_name: { type: 'string' },
    expiry_date: { type: 'string', pattern: '^(0[1-9]|1[0-2])/[0-9]{2}$', description: 'MM/YY' },
    billing_address: billingAddress,
    card_brand: { type: 'string' },
    card_type: { enum: ['debit', 'credit', null], description: 'null while it is unknown' },
  },
} as const

/** What every error answers with (SPEC *Errors*). */
export const errorBody = {
  type: 'object',
  required: ['code', 'description'],
  properties: {
    code: { type: 'string', pattern: '^P[0-9]{4}$' },
    description: { type: 'string', description: 'For developers; not part of the contract' },
    field: { type: 'string', description: 'The body field at fault' },
    header: { type: 'string', description: 'The request header at fault' },
  },
} as const

/** One page of a search whose items have the given schema. */
export const pageOf = <Item extends object>(item: Item) =>
  ({
    type: 'object',
    required: ['total', 'count', 'page', 'results', '_links'],
    properties: {
      total: { type: 'integer', description: 'How many match overall' },
      count: { type: 'integer', description: 'How many are on this page' },
      page: { type: 'integer' },
      results: { type: 'array', items: item },
      _links: {
        type: 'object',
        required: ['self', 'first_page', 'last_page'],
        properties: {
          self: link,
          first_page: link,
          last_page: link,
          prev_page: link,
          next_page: link,
        },
      },
    },
  }) as const
