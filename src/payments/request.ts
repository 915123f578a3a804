import { fold } from '../database/fold.ts'
import { fieldCodes, missing, notAllowed, outsideLimit } from '../errors.ts'
import {
  checkLimit,
  isObject,
  isStorable,
  type Json,
  readFields,
  STORABLE_RULE,
} from '../http/fields.ts'
import type { BillingAddress, Prefilled } from './card.ts'
import type { AgreementPaymentType, AuthorisationMode, Given, Language } from './payment.ts'
import { newPayment } from './request-schema.ts'

const codes = fieldCodes.payment
const ADDRESS_LINES = ['line1', 'line2', 'city', 'postcode', 'country'] as const

/**
 * Reads the body of POST /v1/payments (SPEC *POST /v1/payments*): first the type of every field, then
 * every limit; the first fault is thrown. The rules of the mode come after those of the headers, by
 * `checkMode`; whether the agreements that it names exist is for the caller to see.
 */
export function readNewPayment(body: Json): Given {
  const fields = readFields(body, newPayment, codes)
  const given = readTypes(fields, body)
  checkLimits(fields)
  return withModeDefaults(given)
}

type Fields = ReturnType<typeof readFields>

function readTypes(fields: Fields, body: Json): Given {
  const amount = fields.pence('amount')
  const reference = fields.plainText('reference')
  const description = fields.plainText('description')
  const return_url = fields.optionalText('return_url')
  const moto = fields.boolean('moto', false)
  const set_up_agreement = fields.optionalRawText('set_up_agreement')
  const mode = fields.choice<AuthorisationMode>('authorisation_mode') ?? 'web'
  const agreement_id = readAgreementId(fields, body, mode)
  const agreement_payment_type = readAgreementPaymentType(fields, mode, set_up_agreement)
  const language = fields.choice<Language>('language') ?? 'en'
  const delayed_capture = fields.boolean('delayed_capture', false)
  const email = fields.optionalText('email')
  const prefilled = readPrefilled(fields)
  const metadata = fields.object('metadata', 'invalid', outsideLimit)
  return {
    amount,
    reference,
    description,
    language,
    delayed_capture,
    moto,
    authorisation_mode: mode,
    ...(return_url !== undefined && { return_url }),
    ...(email !== undefined && { email }),
    ...(metadata && { metadata: metadata as Given['metadata'] & object }), // checkLimits sees to its values
    ...(agreement_id !== undefined && { agreement_id }),
    ...(set_up_agreement !== undefined && { set_up_agreement }),
    ...(agreement_payment_type && { agreement_payment_type }),
    ...(prefilled && { prefilled }),
  }
}

function readAgreementId(fields: Fields, body: Json, mode: AuthorisationMode): string | undefined {
  if (mode === 'agreement') return fields.text('agreement_id')
  if ('agreement_id' in body)
    throw notAllowed('agreement_id', 'unless authorisation_mode is agreement')
  return undefined
}

function readAgreementPaymentType(
  fields: Fields,
  mode: AuthorisationMode,
  setUp: string | undefined,
): AgreementPaymentType | undefined {
  const name = 'agreement_payment_type'
  if (fields.filledText(name) === undefined) return undefined
  if (mode !== 'agreement' && setUp === undefined)
    throw notAllowed(name, 'without set_up_agreement or authorisation_mode agreement')
  return fields.choice<AgreementPaymentType>(name)
}

function readPrefilled(fields: Fields): Prefilled | undefined {
  const name = 'prefilled_cardholder_details'
  const given = fields.object(name, 'absent')
  if (!given) return undefined
  const details = readFields(given, newPayment.properties[name], codes)
  const cardholder_name = details.optionalText('cardholder_name')
  const address = details.optionalObject('billing_address')
  const billing_address = address && readAddress(address)
  if (cardholder_name === undefined && !billing_address) return undefined
  return {
    ...(cardholder_name !== undefined && { cardholder_name }),
    ...(billing_address && { billing_address }),
  }
}

/** undefined when nothing of the address is given. A country that is no two letters is dropped. */
function readAddress(address: Json): BillingAddress | undefined {
  const { billing_address } = newPayment.properties.prefilled_cardholder_details.properties
  const fields = readFields(address, billing_address, codes)
  const read: BillingAddress = {}
  for (const name of ADDRESS_LINES) {
    const value = fields.optionalText(name)
    if (value !== undefined && (name !== 'country' || /^[A-Za-z]{2}$/.test(value)))
      read[name] = value
  }
  return Object.keys(read).length > 0 ? read : undefined
}

function checkLimits(fields: Fields): void {
  fields.checkLimits()
  const details = fields.object('prefilled_cardholder_details', 'absent')
  if (details) checkPrefilledLimits(details)
  const metadata = fields.object('metadata', 'absent')
  if (metadata) checkMetadata(metadata)
}

function checkPrefilledLimits(details: Json): void {
  const { properties } = newPayment.properties.prefilled_cardholder_details
  const address = isObject(details.billing_address) ? details.billing_address : {}
  checkInnerLimits(details, properties)
  checkInnerLimits(address, properties.billing_address.properties)
}

function checkInnerLimits(object: Json, properties: Record<string, object>): void {
  for (const [name, limits] of Object.entries(properties)) {
    const value = object[name]
    if (typeof value === 'string' && !isStorable(value))
      throw outsideLimit(codes, 'prefilled_cardholder_details', STORABLE_RULE)
    checkLimit(codes, name, value, limits)
  }
}

/** SPEC *Payment*: metadata is a map of names to texts, numbers and booleans. */
function checkMetadata(metadata: Json): void {
  const fail = (rule: string) => {
    throw outsideLimit(codes, 'metadata', rule)
  }
  const {
    maxProperties,
    propertyNames: key,
    additionalProperties: text,
  } = newPayment.properties.metadata
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

/** What each authorisation mode needs and does not allow; the first fault is thrown. */
export function checkMode(given: Given): void {
  const { authorisation_mode: mode, return_url } = given
  if (mode === 'web') {
    if (return_url === undefined) throw missing(codes, 'return_url')
    const problem = returnUrlProblem(return_url)
    if (problem) throw outsideLimit(codes, 'return_url', problem)
    return
  }
  const reason = `when authorisation_mode is ${mode}`
  if (return_url !== undefined) throw notAllowed('return_url', reason)
  if (given.set_up_agreement !== undefined) throw notAllowed('set_up_agreement', reason)
  if (mode === 'moto_api') return
  if (given.moto) throw notAllowed('moto', reason)
  if (given.email !== undefined) throw notAllowed('email', reason)
  if (given.prefilled) throw notAllowed('prefilled_cardholder_details', reason)
}

/** SPEC: return_url must be https. It goes into a Location header, so it must also be one clean URL. */
function returnUrlProblem(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(text))
    return 'must not contain white space or control characters'
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text) || !URL.canParse(text))
    return 'must be an absolute URL with a host'
  return /^https:/i.test(text) ? undefined : 'must be an https URL'
}

function withModeDefaults(given: Given): Given {
  const sets = given.set_up_agreement !== undefined || given.authorisation_mode === 'agreement'
  return {
    ...given,
    moto: given.moto || given.authorisation_mode === 'moto_api',
    ...(sets && { agreement_payment_type: given.agreement_payment_type ?? 'recurring' }),
  }
}
