/** Bodies of POST /v1/payments as JSON text, so that 1.0, 1e400 and \u0000 are sent unchanged. */
import assert from 'node:assert/strict'
import { activeAgreement as activeOf, createAgreement } from './agreements.ts'
import { assertError, briefOf } from './assertions.ts'
import type { Answer, Body, Client } from './client.ts'

/**
 * JSON texts by their path in the body ("prefilled_cardholder_details.billing_address.line1"). An
 * undefined one leaves the field out. "Idempotency-Key" is the header.
 */
export type Parts = Record<string, string | undefined>

export const HEADER = 'Idempotency-Key'
export const DETAILS = 'prefilled_cardholder_details'

/** The differences from a right request, and the answer: "201", or status, code and field. */
export type Row = [parts: Parts, expected: string]

/** One row for each JSON text in this field. undefined leaves the field out. */
export const rowsOf = (path: string, expected: string, ...values: (string | undefined)[]): Row[] =>
  values.map(value => [{ [path]: value }, expected])

/** A text of `length` characters, as JSON. */
export const ofLength = (length: number, character = 'x'): string =>
  JSON.stringify(character.repeat(length))

export const webParts: Parts = {
  amount: '4650',
  reference: '"PITCH-2207"',
  description: '"Market pitch, week 38"',
  return_url: '"https://markets.example.org/paid/41"',
}

const { return_url, ...anyMode } = webParts

export const motoParts: Parts = { ...anyMode, authorisation_mode: '"moto_api"' }

export const agreementParts = (agreement_id: string): Parts => ({
  ...anyMode,
  authorisation_mode: '"agreement"',
  agreement_id: JSON.stringify(agreement_id),
})

/** First each value is its path. The path is then replaced by its JSON text. */
export function bodyText(parts: Parts): string {
  const body: Body = {}
  for (const [path, text] of Object.entries(parts)) {
    if (path === HEADER || text === undefined) continue
    const names = path.split('.')
    const last = names.pop() ?? path
    let at = body
    for (const name of names) at = at[name] ??= {}
    at[last] = path
  }
  return JSON.stringify(body).replaceAll(
    /(?<=:)"([^"]+)"/g,
    (_value, path: string) => parts[path] ?? '',
  )
}

export function postPayment(api: Client, parts: Parts): Promise<Answer> {
  const key = parts[HEADER]
  return api.request('POST', '/v1/payments', {
    headers: { 'Content-Type': 'application/json', ...(key !== undefined && { [HEADER]: key }) },
    body: bodyText(parts),
  })
}

/** Posts a payment. `expected` is the status, code and field of the answer ("400 P0101 amount") or "201". */
export async function assertAnswer(api: Client, parts: Parts, expected: string): Promise<Answer> {
  const answer = await postPayment(api, parts)
  const what = `${bodyText(parts).slice(0, 300)} ${parts[HEADER] ?? ''}: ${answer.text}`
  assert.equal(briefOf(answer), expected, what)
  const [status, code, at] = expected.split(' ')
  const where = at ? { [at === HEADER ? 'header' : 'field']: at } : {}
  if (code) assertError(answer, Number(status), code, where)
  return answer
}

export const newAgreement = async (api: Client): Promise<string> =>
  (await createAgreement(api)).agreement_id

export const activeAgreement = async (api: Client): Promise<string> =>
  (await activeOf(api)).agreement_id
