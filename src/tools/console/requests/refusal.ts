/** What a refused request was told, and the value that it was refused for. */
import type { Exchange } from '../../record/exchange.ts'

/** Characters of a value that are shown. */
const LONGEST = 100

/** The description in the API's response; undefined where the response has none, or was not kept whole. */
export function descriptionOf({ response_body }: Exchange): string | undefined {
  const { description } = objectIn(response_body?.text) ?? {}
  return typeof description === 'string' ? description : undefined
}

/**
 * The value that the request had for the field of its refusal, in its body, its query or its headers, as JSON: `-1` or
 * `"-1"`. undefined where it had none, or where that is not kept.
 */
export function sentValue({
  field,
  request_body,
  request_headers,
  query,
}: Exchange): string | undefined {
  if (field === undefined) return undefined
  const value =
    valueAt(objectIn(request_body?.text), field) ??
    new URLSearchParams(query).get(field) ??
    request_headers[field.toLowerCase()]
  return value === undefined ? undefined : shortened(JSON.stringify(value))
}

/** The description, and in brackets the value that was sent. undefined where the response had no description. */
export function refusalText(exchange: Exchange): string | undefined {
  const description = descriptionOf(exchange)
  const sent = sentValue(exchange)
  if (description === undefined || sent === undefined) return description
  return `${description} (you sent ${sent})`
}

type Json = { [name: string]: unknown }

function objectIn(text: string | undefined): Json | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined // no JSON, or only its beginning was kept
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `field` may be a path, such as `prefilled_cardholder_details.billing_address`, or the name of a field inside. */
function valueAt(body: Json | undefined, field: string): unknown {
  let value: unknown = body
  for (const name of field.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
