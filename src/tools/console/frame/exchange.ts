/** Parts of pages that show a recorded exchange: its headers and bodies, as far as they were kept. */

import { RECORDED_BODY_BYTES } from '../../../core/budgets.ts'
import { isSuccess } from '../../../core/http-status.ts'
import { inDigits } from '../../../core/money.ts'
import { parsedJson } from '../../../core/values.ts'
import { details } from '../../../platform/web/components.ts'
import { type Html, html, type Part } from '../../../platform/web/html.ts'
import { printJson, readJson } from '../../explain/signature/json-text.ts'
import type { Ending, Exchange, Headers, KeptBody } from '../../record/exchange.ts'
import * as ui from './parts.ts'

/** Milliseconds by which the clocks of two instances may differ. */
const CLOCKS_AGREE = 1_000

/**
 * Says that the order is uncertain, if two exchanges in a row are of different instances and too close in time for the
 * clocks of these. After a restart the instance is another one too, but the order is certain.
 */
export function orderNote(exchanges: readonly Exchange[]): Html | false {
  // Actions have no instance.
  const recorded = exchanges.filter(({ instance }) => instance !== undefined)
  const isUncertain = recorded.some(({ instance, began }, i) => {
    const { [i + 1]: next } = recorded
    return next && next.instance !== instance && Math.abs(next.began - began) <= CLOCKS_AGREE
  })
  return (
    isUncertain &&
    ui.paragraph(
      'Several instances of the service took part. Their clocks may differ by up to a second, and so may the order.',
    )
  )
}

/** `whose` completes the names of the parts, such as "the request". */
export function headersAndBody(whose: string, headers: Headers, body: KeptBody | undefined): Html {
  return html`${headersPart(headers)}
${bodyPart(whose, body)}`
}

export function headersPart(headers: Headers): Html {
  const names = Object.keys(headers)
  if (names.length === 0) return ui.paragraph('It had none of the headers that are kept.')
  return html`<dl class="farthing-headers">
${Object.entries(headers).map(
  ([name, value]) =>
    html`<div><dt>${ui.untrusted(name)}:</dt> <dd>${value === '' ? 'empty' : ui.untrusted(value)}</dd></div>\n`,
)}</dl>`
}

export function bodyPart(whose: string, body: KeptBody | undefined): Html {
  if (!body) return ui.paragraph('No body.')
  const { text, cut, base64 } = body
  const pretty = base64 || cut !== undefined ? undefined : prettyJson(text)
  return html`${cut !== undefined && ui.paragraph(`The body has ${inDigits(cut)} bytes. At most the first ${RECORDED_BODY_BYTES / 1024} KiB are kept.`)}
${base64 && ui.paragraph('The body is not UTF-8. It is shown in base64.')}
${ui.listing(`Body of ${whose}`, pretty ?? text)}
${pretty !== undefined && pretty !== text && details('As it was sent', ui.listing(`Body of ${whose} as it was sent`, text))}`
}

/** The most characters of the JSON with indents, for each character of the text: more would be mostly spaces. */
const MOST_OF_INDENTS = 8

export function prettyJson(text: string): string | undefined {
  const node = readJson(text)
  return node && printJson(node, { indent: 2 }, MOST_OF_INDENTS * text.length)
}

const LONGEST = 100

/** Why a payment page refused a request, by its status: pages are not kept. */
const onPages = new Map([
  [400, 'Select how this payment should end'],
  [403, 'The form came from another website'],
  [405, 'The page does not take this method'],
  [413, 'The form is too large'],
  [415, 'The form is not one of the payment pages'],
  [422, 'The form has too many fields'],
])

/**
 * The description in the API's response, and in brackets, as JSON (`-1` or `"-1"`), the value that the request sent for
 * the refused field in its body, its query or its headers. Why a payment page refused, or nobody got a response.
 * undefined if the response had no description, or was not kept whole.
 */
export function refusalText(exchange: Exchange): string | undefined {
  const { kind, status, ended } = exchange
  if (ended === 'reset')
    return `${endings.reset}${isSuccess(status) ? ' after the request had taken effect' : ''}`
  if (kind === 'page') return onPages.get(status ?? 0)
  const { field, request_body, request_headers, response_body, query } = exchange
  const description = valueAt(response_body, 'description') ?? valueAt(response_body, 'message')
  if (typeof description !== 'string') return undefined
  const value =
    field &&
    (valueAt(request_body, field) ??
      new URLSearchParams(query).get(field) ??
      request_headers[field.toLowerCase()])
  if (value === undefined) return description
  return `${description} (you sent ${shortened(JSON.stringify(value), LONGEST)})`
}

/** `path` names a field of the JSON, or one inside a field: `prefilled_cardholder_details.billing_address`. */
const valueAt = (body: KeptBody | undefined, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        value instanceof Object ? new Map(Object.entries(value)).get(name) : undefined,
      parsedJson(body?.text ?? ''),
    )

export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text

export const endings: Record<Ending, string | undefined> = {
  sent: undefined,
  gone: 'the client had left before the response',
  replaced: 'a plan sent another response',
  reset: 'a plan ended the connection',
}

/** The client that requested a hosted page: a browser, or the name of a program. */
export function agentOf({ request_headers }: Exchange): Part {
  const agent = request_headers['user-agent'] ?? 'a program without a name'
  return /^Mozilla/.test(agent) ? 'browser' : ui.untrusted(agent.slice(0, 40))
}
