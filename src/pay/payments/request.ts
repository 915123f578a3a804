import type { Behaviour } from '../../core/account.ts'
import * as errors from '../../core/errors.ts'
import { isStorable } from '../../core/values.ts'
import { fold } from '../../platform/database/fold.ts'
import {
  checkLimit,
  FieldReader,
  isObject,
  type Json,
  STORABLE_RULE,
} from '../../platform/http/fields.ts'
import { object, pence, plainText } from '../../platform/http/schema.ts'
import { ADDRESS_LINES, type BillingAddress, type Prefilled } from '../card.ts'
import {
  blankReturnUrl,
  checksMetadataFirst,
  ignoredSetUp,
  keepsBlankPrefilled,
  keepsEmptyMetadata,
  keptText,
  readsAgreementFirst,
  refusedSource,
} from '../differences/creating.ts'
import { largestInteger, wordedError } from '../differences/errors.ts'
import {
  type AgreementPaymentType,
  type AuthorisationMode,
  agreementPaymentTypes,
  authorisationModes,
  type Language,
  languages,
  type NewPayment,
} from './payment.ts'

const flag = (description: string) => ({ type: 'boolean', default: false, description }) as const
const choice = (values: readonly string[], fallback: string, description: string) =>
  ({ type: 'string', enum: values, default: fallback, description }) as const
const nullableText = (maxLength: number, description?: string) =>
  ({ type: ['string', 'null'], maxLength, ...(description && { description }) }) as const
const agreementId = { minLength: 26, maxLength: 26 } as const

/** The schema has no type, because a value that is not an object is ignored. */
const prefilledAddress = {
  title: 'PrefilledBillingAddress',
  properties: {
    line1: nullableText(255),
    line2: nullableText(255),
    city: nullableText(255),
    postcode: nullableText(25),
    country: {
      type: ['string', 'null'],
      description: 'ISO 3166-1 alpha-2 code. Dropped unless it is two letters',
    },
  },
} as const

const prefilledDetails = {
  title: 'PrefilledCardholderDetails',
  description:
    'An object, shown on the hosted pages. A null or blank value counts as absent, and so does a value that is not an object. Not allowed in agreement mode',
  properties: { cardholder_name: nullableText(255), billing_address: prefilledAddress },
} as const

const required = {
  amount: { ...pence, maximum: 10_000_000 },
  reference: {
    ...plainText,
    description: 'Your own reference. Need not be unique. Not blank, without <, > and |',
  },
  description: {
    ...plainText,
    description: 'Shown on the hosted pages. Not blank, without <, > and |',
  },
}

/** Specification, *Payment*: the fields of a request, in the order in which their limits are checked. */
export const newPayment = object('NewPayment', required, {
  email: nullableText(
    254,
    'Shown on the hosted pages. Its format is not checked. Blank counts as absent. Not allowed in agreement mode',
  ),
  return_url: nullableText(
    2000,
    'An absolute https URL, to which the browser returns. The setting FARTHING_RETURN_HOSTS can allow http for some hosts. Required in web mode. Not allowed in the other modes, where blank counts as absent',
  ),
  moto: flag(
    'Marks a payment by post or telephone. Not allowed in agreement mode. Reads true in moto_api mode',
  ),
  set_up_agreement: {
    ...agreementId,
    type: ['string', 'null'],
    description: 'An agreement that becomes active when this payment is authorised. Web mode only',
  },
  authorisation_mode: choice(
    authorisationModes,
    'web',
    'web: a user pays on hosted pages. moto_api: you post the card to /v1/auth. agreement: the card of an agreement pays',
  ),
  agreement_id: {
    ...agreementId,
    type: 'string',
    description: 'An active agreement. Required in agreement mode, not allowed in the others',
  },
  agreement_payment_type: choice(
    agreementPaymentTypes,
    'recurring',
    'Only with set_up_agreement or in agreement mode',
  ),
  language: choice(languages, 'en', 'The language of the hosted pages: English or Welsh'),
  delayed_capture: flag('true: an authorised payment waits in capturable until you capture it'),
  prefilled_cardholder_details: prefilledDetails,
  metadata: {
    type: 'object',
    maxProperties: 15,
    propertyNames: { minLength: 1, maxLength: 30 },
    additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 100 },
    description:
      'Up to 15 pairs. Keys of 1 to 30 characters, unique ignoring case. Values of up to 100 characters',
  },
})

const codes = errors.fieldCodes.payment
const limits = newPayment.properties

/**
 * Reads the body of POST /v1/payments (Specification, *POST /v1/payments*). Checks the type of every
 * field, then every limit, and throws the first error. `checkMode` is separate because the errors of
 * the Idempotency-Key come before those of the mode. Agreements that the body names are not looked up.
 */
export function readNewPayment(body: Json, behaviour: Behaviour = 'specification'): NewPayment {
  const fields = new FieldReader(body, newPayment, codes)
  const payment = readTypes(fields, body, behaviour)
  if (checksMetadataFirst[behaviour] && payment.metadata) checkMetadata(payment.metadata)
  const { internal } = body
  const refused = refusedSource[behaviour](isObject(internal) ? internal.source : undefined)
  if (refused) {
    const error = refused === 400 ? errors.invalid : errors.outsideLimit
    throw error(codes, 'source', 'must be CARD_PAYMENT_LINK or CARD_AGENT_INITIATED_MOTO')
  }
  checkLimits(fields)
  return payment
}

/** The type of the result lists the fields, and test/testing/public-types.ts uses it. */
export function readTypes(fields: FieldReader, body: Json, behaviour: Behaviour) {
  const amount = fields.pence('amount', largestInteger[behaviour])
  const reference = fields.plainText('reference')
  const description = fields.plainText('description')
  const return_url = readReturnUrl(fields, behaviour)
  const moto = fields.boolean('moto')
  const isIgnored = ignoredSetUp[behaviour](body.set_up_agreement)
  const set_up_agreement = isIgnored ? undefined : fields.optionalRawText('set_up_agreement')
  const mode = fields.choice<AuthorisationMode>('authorisation_mode') ?? 'web'
  if (mode !== 'agreement' && 'agreement_id' in body)
    throw wordedError[behaviour](
      errors.notAllowed('agreement_id', 'unless authorisation_mode is agreement'),
    )
  const isRead = mode === 'agreement' && ('agreement_id' in body || readsAgreementFirst[behaviour])
  const agreement_id = isRead ? fields.text('agreement_id') : undefined
  const isGiven = 'set_up_agreement' in body && (isIgnored || set_up_agreement !== undefined)
  const paymentType = readAgreementPaymentType(fields, mode === 'agreement' || isGiven, behaviour)
  const isDefault = mode === 'agreement' || set_up_agreement !== undefined
  const agreement_payment_type = paymentType ?? (isDefault ? 'recurring' : undefined)
  const language = fields.choice<Language>('language') ?? 'en'
  const delayed_capture = fields.boolean('delayed_capture')
  const email = fields.optionalText('email')
  const prefilled = readPrefilled(fields, behaviour)
  const metadata = fields.object('metadata')
  const hasMetadata =
    metadata && (keepsEmptyMetadata[behaviour] || Object.keys(metadata).length > 0)
  return {
    amount,
    reference,
    description,
    language,
    delayed_capture,
    moto: moto || mode === 'moto_api',
    authorisation_mode: mode,
    ...(return_url !== undefined && { return_url }),
    ...(email !== undefined && { email }),
    ...(hasMetadata && { metadata: metadata as NewPayment['metadata'] & object }), // checkMetadata checks the values
    ...(agreement_id !== undefined && { agreement_id }),
    ...(set_up_agreement !== undefined && { set_up_agreement }),
    ...(agreement_payment_type && { agreement_payment_type }),
    ...(prefilled && { prefilled }),
  } satisfies NewPayment
}

/** undefined for text that counts as left out. */
function readReturnUrl(fields: FieldReader, behaviour: Behaviour): string | undefined {
  const text = fields.optionalRawText('return_url')
  return text === undefined || blankReturnUrl[behaviour](text) ? undefined : text
}

function readAgreementPaymentType(fields: FieldReader, isAllowed: boolean, behaviour: Behaviour) {
  const name = 'agreement_payment_type'
  if (fields.filledText(name) === undefined) return undefined
  if (!isAllowed) throw wordedError[behaviour](errors.notAllowed(name, WITHOUT_AGREEMENT))
  return fields.choice<AgreementPaymentType>(name)
}

export const WITHOUT_AGREEMENT = 'without set_up_agreement or authorisation_mode agreement'

const prefilledText = (fields: FieldReader, name: string, behaviour: Behaviour) =>
  keepsBlankPrefilled[behaviour] ? fields.optionalRawText(name) : fields.optionalText(name)

/** undefined when no part is given. */
function readPrefilled(fields: FieldReader, behaviour: Behaviour): Prefilled | undefined {
  const name = 'prefilled_cardholder_details'
  const value = fields.optionalObject(name)
  if (!value) return undefined
  const details = new FieldReader(value, limits[name], codes)
  const cardholder_name = prefilledText(details, 'cardholder_name', behaviour)
  const address = details.optionalObject('billing_address')
  const billing_address = address && readAddress(address, behaviour)
  if (cardholder_name === undefined && !billing_address) return undefined
  return {
    ...(cardholder_name !== undefined && { cardholder_name }),
    ...(billing_address && { billing_address }),
  }
}

/** undefined when every line is absent. A country that is not two letters is dropped. */
function readAddress(address: Json, behaviour: Behaviour): BillingAddress | undefined {
  const fields = new FieldReader(address, prefilledAddress, codes)
  const read: BillingAddress = {}
  let isGiven = false
  for (const name of ADDRESS_LINES) {
    const value = prefilledText(fields, name, behaviour)
    if (value === undefined) continue
    isGiven = true
    if (name !== 'country' || /^[A-Za-z]{2}$/.test(value)) read[name] = keptText[behaviour](value)
  }
  return Object.keys(read).length > 0 || (isGiven && keepsBlankPrefilled[behaviour])
    ? read
    : undefined
}

function checkLimits(fields: FieldReader): void {
  fields.checkLimits()
  const details = fields.optionalObject('prefilled_cardholder_details')
  if (details) {
    const address = isObject(details.billing_address) ? details.billing_address : {}
    checkInnerLimits(details, prefilledDetails.properties)
    checkInnerLimits(address, prefilledAddress.properties)
  }
  const metadata = fields.object('metadata')
  if (metadata) checkMetadata(metadata)
}

function checkInnerLimits(object: Json, properties: Record<string, object>): void {
  for (const [name, limits] of Object.entries(properties)) {
    const value = object[name]
    if (typeof value === 'string' && !isStorable(value))
      throw errors.outsideLimit(codes, 'prefilled_cardholder_details', STORABLE_RULE)
    checkLimit(codes, name, value, limits)
  }
}

/** Specification, *Payment*: metadata maps names to texts, numbers and booleans. */
function checkMetadata(metadata: Json): void {
  const fail = (rule: string) => {
    throw errors.outsideLimit(codes, 'metadata', rule)
  }
  const { maxProperties, propertyNames: key, additionalProperties: text } = limits.metadata
  const pairs = Object.entries(metadata)
  if (pairs.length > maxProperties) fail(`must have at most ${maxProperties} pairs`)
  const seen = new Set<string>()
  for (const [name, value] of pairs) {
    if (name.length < key.minLength || name.length > key.maxLength)
      fail(`must have keys of ${key.minLength} to ${key.maxLength} characters`)
    if (seen.has(fold(name))) fail('must not have keys that differ only in case')
    seen.add(fold(name))
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      fail('must have only strings, numbers and booleans as values')
    if (value === Infinity || value === -Infinity)
      fail('must have only numbers that a 64-bit float can hold')
    if (String(value).length > text.maxLength)
      fail(`must have values of at most ${text.maxLength} characters`)
    if (!isStorable(name) || !isStorable(String(value))) fail(STORABLE_RULE)
  }
}

/** Specification, *POST /v1/payments*: the Idempotency-Key header. */
export const idempotencyKey = { type: 'string', pattern: '^[A-Za-z0-9-]{1,255}$' } as const

const IDEMPOTENCY_KEY = new RegExp(idempotencyKey.pattern)

export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  // Node joins a header that was sent twice with a comma, which no key may contain.
  if (typeof header !== 'string' || !IDEMPOTENCY_KEY.test(header)) throw errors.badIdempotencyKey()
  return header
}
