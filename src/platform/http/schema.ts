/**
 * Schemas that slices share, in plain JSON Schema: /openapi.json prints them, the compiler reads them as types and
 * http/fields.ts as limits. A schema with a `title` is printed once; each use may have another description.
 */
import { meanings } from '../../core/codes.ts'
import { mapValues } from '../../core/map-values.ts'

type Properties = Readonly<Record<string, object>>

/** A schema that is printed once. */
export type Titled = { readonly title: string; readonly [keyword: string]: unknown }

/** An object schema: its title, the properties that are always there, and those that may be absent. */
export const object = <const Required extends Properties, const Optional extends Properties>(
  title: string,
  required: Required,
  optional: Optional = {} as Optional, // absent only where Optional has no properties
) => ({
  title,
  type: 'object' as const,
  required: Object.keys(required) as (keyof Required & string)[], // Object.keys is typed string[]
  properties: { ...required, ...optional },
})

export const pence = { type: 'integer', minimum: 0, description: 'In pence' } as const

/** A reference or a description, of a payment or an agreement. */
export const plainText = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  not: { pattern: '[<>|]' },
  description: 'Not blank, without <, > and |',
} as const

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
  description: '26 of 0-9 and a-v. Sorting identifiers sorts by creation',
} as const

const href = { type: 'string', format: 'uri', description: 'Absolute' } as const

export const link = object('Link', { href, method: { type: 'string', const: 'GET' } })

export const postLinkSchema = {
  ...object('PostLink', {
    href,
    method: { type: 'string', const: 'POST' },
    type: { type: 'string', const: 'application/x-www-form-urlencoded' },
    params: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The fields of the form',
    },
  }),
  description: 'What to post, as a form, and where',
}

/** An address in responses. payments/request.ts has the schema for requests. */
const billingAddress = {
  title: 'BillingAddress',
  type: 'object',
  description:
    'Every part once a card was submitted on the pages, blank where it is not known. Before that, the parts that were given',
  properties: {
    line1: { type: 'string' },
    line2: { type: 'string' },
    city: { type: 'string' },
    postcode: { type: 'string' },
    country: { type: 'string', description: 'ISO 3166-1 alpha-2 code' },
  },
} as const

export const cardDetails = {
  title: 'CardDetails',
  type: 'object',
  description: 'What is known about the card. Unknown fields are absent',
  required: ['card_type'],
  properties: {
    first_digits_card_number: { type: 'string', pattern: '^[0-9]{6}$' },
    last_digits_card_number: { type: 'string', pattern: '^[0-9]{4}$' },
    cardholder_name: { type: 'string' },
    expiry_date: { type: 'string', pattern: '^(0[1-9]|1[0-2])/[0-9]{2}$', description: 'MM/YY' },
    billing_address: billingAddress,
    card_brand: { type: 'string', description: 'The name of the brand, such as Visa' },
    card_type: { enum: ['debit', 'credit', null], description: 'null if it is not known' },
    wallet_type: {
      type: 'string',
      enum: ['Apple Pay', 'Google Pay'],
      description: 'Never present here',
    },
  },
} as const

const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })

const { wallet_type, ...ofEveryCard } = cardDetails.properties

/** Card details under the behaviour `govuk-pay`. Agreements have no wallet_type. */
export const cardDetailsWithNulls = object(cardDetails.title, mapValues(ofEveryCard, nullable), {
  wallet_type: nullable(wallet_type),
})

/** Specification, *Errors*: the body of every error. */
export const errorBody = object(
  'Error',
  {
    code: { type: 'string', enum: Object.keys(meanings) },
    description: {
      type: 'string',
      description: 'For developers. It may change, so decide by the code',
    },
  },
  {
    field: { type: 'string', description: 'The attribute at fault' },
    header: { type: 'string', description: 'The request header at fault' },
  },
)

/** The body of an error without a code: a PlainError. */
export const plainError = object('PlainError', {
  code: { type: 'integer', description: 'The status' },
  message: { type: 'string' },
})

export const pageSchema = (item: { readonly title: string }, links: object = pageLinks) =>
  object(`${item.title}Page`, {
    total: { type: 'integer', minimum: 0, description: 'How many match overall' },
    count: { type: 'integer', minimum: 0, description: 'How many are on this page' },
    page: { type: 'integer', minimum: 1, description: 'The number of this page' },
    results: { type: 'array', items: item, description: 'Newest first' },
    _links: links,
  })

const pageLinks = {
  ...object(
    'PageLinks',
    { self: link, first_page: link, last_page: link },
    { prev_page: link, next_page: link },
  ),
  description: 'prev_page and next_page are absent where there is none',
}
