/** How `farthing listen` receives an attempt, prints it and returns the result to the service. */

import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER_VALUE_BYTES, HEADERS_BYTES } from '../core/budgets.ts'
import type { AttemptResult, ReceiverResponse } from '../core/ports.ts'
import { callbackUrlProblem, hostAndPort } from '../platform/outbound/address.ts'
import { createResolve } from '../platform/outbound/resolve.ts'
import { createSend } from '../platform/outbound/send.ts'
import { wrongUsage } from './command-error.ts'
import { colouredStatus, note, oneLine, print, printJson, timeOfDay } from './output.ts'
import { type Body, RETRY_AFTER, type Service, whyRefused } from './running-service.ts'

/** The options of `farthing listen` that say where messages go and how they are printed. */
type Forwarding = {
  forwardTo?: string | undefined
  header?: readonly (readonly [name: string, value: string])[] | undefined
  insecure?: boolean | undefined
  bodies?: boolean | undefined
  json?: boolean | undefined
}

type Receive = (offer: Body) => Promise<AttemptResult>

export function createReceive({ forwardTo, header = [], insecure = false }: Forwarding): Receive {
  if (forwardTo === undefined)
    return async () => ({
      status: 'SUCCESSFUL',
      status_code: 200,
      response_time: 0,
      result: '200 OK',
    })
  // localhost:4000 alone, as other tools take it, would be a URL with the scheme localhost.
  const address = forwardTo.includes('://') ? forwardTo : `http://${forwardTo}`
  const url = URL.parse(address)
  const isWeb = url !== null && /^https?:$/.test(url.protocol)
  const allowed = new Set(isWeb ? [hostAndPort(url)] : [])
  const problem = isWeb
    ? callbackUrlProblem(address, allowed)
    : 'must be an http or https address, such as localhost:4000/webhooks'
  if (problem) throw wrongUsage(`--forward-to ${problem}`)
  const send = createSend({ resolve: createResolve(), allowed, insecure })
  return ({ headers, body }) =>
    send({
      url: address,
      headers: { ...headers, ...Object.fromEntries(header) },
      body,
      keepsAnswer: true,
    })
}

/** The service waits for the result no longer than these take. */
const MOST_TRIES = 8

export async function deliver(
  service: Service,
  path: string,
  offer: Body,
  receive: Receive,
  options: Forwarding,
): Promise<void> {
  const { answer: arriving, cause, ...result } = await receive(offer)
  const answer = await arriving
  const json = {
    attempt_id: offer.attempt_id,
    status_code: result.status_code,
    response_time: result.response_time,
    result: result.result.replace(/\p{Cc}/gu, ''),
    ...(cause && { cause }),
    ...(answer && {
      headers: keptHeaders(answer.headers),
      body: answer.body.toString('base64'),
      size: answer.size,
    }),
  }
  show(offer, { ...result, ...(cause && { cause }) }, answer?.body, options)
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const sent = await service.request('POST', `${path}/results`, { json }).catch(() => undefined)
    if (sent?.status === 404 && result.status_code !== null)
      note('The service no longer waited for this response: it has recorded a timeout.')
    else if (sent && sent.status >= 400 && sent.status < 500 && sent.status !== 404)
      note(whyRefused(service.url, 'POST', `${path}/results`, sent).message)
    if (sent && sent.status < 500) return
    await sleep(RETRY_AFTER)
  }
}

const MOST_HEADERS = 20

/** As many as the service records, so that the report fits into a request whatever the receiver answers. */
function keptHeaders(headers: ReceiverResponse['headers']): ReceiverResponse['headers'] {
  let left = HEADERS_BYTES
  return headers
    .slice(0, MOST_HEADERS)
    .map(([name, value]): [string, string] => [
      name.slice(0, HEADER_VALUE_BYTES),
      value.slice(0, HEADER_VALUE_BYTES),
    ])
    .filter(pair => {
      left -= Buffer.byteLength(JSON.stringify(pair))
      return left >= 0
    })
}

function show(
  offer: Body,
  { status, status_code, response_time, result, cause }: AttemptResult,
  answer: Buffer | undefined,
  options: Forwarding,
): void {
  const { event_type = null, resource_id = null } = parsed(offer.body)
  const { message_id, headers, body } = offer
  const at = new Date().toISOString()
  const said = answer?.toString('utf8') ?? ''
  if (options.json)
    return void printJson({
      at,
      event_type,
      payment_id: resource_id,
      message_id,
      headers,
      body,
      ...(options.forwardTo && {
        status_code,
        response_time,
        result,
        ...(cause && { cause }),
        answer: said,
      }),
    })
  const delivered = status === 'SUCCESSFUL'
  const reason = cause ? `${result} (${cause})` : result
  const line = [
    timeOfDay(at),
    oneLine(String(event_type ?? '-')),
    oneLine(String(resource_id ?? '-')),
  ]
  if (options.forwardTo)
    line.push(
      colouredStatus(delivered, oneLine(status_code ? String(status_code) : reason)),
      `${response_time ?? 0} ms`,
      ...(delivered && !options.bodies ? [] : [oneLine(said)]),
    )
  print(line.join('  ').trimEnd())
  if (options.bodies || !options.forwardTo) print(`  ${oneLine(body, 100_000)}`)
}

/** For display only. The body that is forwarded is never parsed. */
function parsed(body: string): Body {
  try {
    return Object(JSON.parse(body))
  } catch {
    return {}
  }
}
