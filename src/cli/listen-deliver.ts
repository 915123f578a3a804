/** How `farthing listen` receives an attempt, prints it and returns the result to the service. */

import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER_VALUE_BYTES, HEADERS_BYTES } from '../core/budgets.ts'
import type { AttemptResult, ReceiverResponse } from '../core/ports.ts'
import { parsedJson } from '../core/values.ts'
import { callbackUrlProblem, hostAndPort } from '../platform/outbound/address.ts'
import { createResolve } from '../platform/outbound/resolve.ts'
import { createSend } from '../platform/outbound/send.ts'
import { wrongUsage } from './command-error.ts'
import { colouredStatus, note, oneLine, print, printJson, timeOfDay } from './output.ts'
import { type Body, RETRY_AFTER, type Service } from './running-service.ts'

/** The options of `farthing listen` that say where messages go and how they are printed. */
type Forwarding = {
  forwardTo?: string
  header?: [name: string, value: string][]
  insecure?: boolean
  bodies?: boolean
  json?: boolean
}

type Receive = (offer: Body) => Promise<AttemptResult>

/** Adds http://. Other tools take localhost:4000, but as a URL its scheme would be localhost, and 4000 a host. */
export function destinationOf(text: string): string {
  const address = /^\d+$/.test(text) ? `localhost:${text}` : text
  return address.includes('://') ? address : `http://${address}`
}

export function createReceive({ forwardTo, header = [], insecure = false }: Forwarding): Receive {
  if (forwardTo === undefined)
    return async () => ({
      status: 'SUCCESSFUL',
      status_code: 200,
      response_time: 0,
      result: '200 OK',
    })
  const url = URL.parse(forwardTo)
  const isWeb = url !== null && /^https?:$/.test(url.protocol)
  const allowed = new Set(isWeb ? [hostAndPort(url)] : [])
  const problem = isWeb
    ? callbackUrlProblem(forwardTo, allowed)
    : 'must be an http or https address, such as localhost:4000/webhooks'
  if (problem) throw wrongUsage(`--forward-to ${problem}`)
  const send = createSend({ resolve: createResolve(), allowed, insecure })
  return ({ headers, body }) =>
    send({
      url: forwardTo,
      headers: { ...headers, ...Object.fromEntries(header) },
      body,
      keepsAnswer: true,
    })
}

/** Tries to send a result. After so many the service no longer waits for it. */
const MOST_TRIES = 8

/** The destination of attempts. `path`: the listener's. */
type Destination = { service: Service; path: string; receive: Receive; options: Forwarding }

export async function deliver({ service, path, receive, options }: Destination, offer: Body) {
  const received = await receive(offer)
  const { status_code, response_time, result, cause } = received
  const answer = await received.answer
  const json = {
    attempt_id: offer.attempt_id,
    status_code,
    response_time,
    result: result.replace(/\p{Cc}/gu, ''),
    cause,
    ...(answer && {
      headers: keptHeaders(answer.headers),
      body: answer.body.toString('base64'),
      size: answer.size,
    }),
  }
  show(offer, received, answer?.body.toString() ?? '', options)
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const sent = await service.request('POST', `${path}/results`, { json }).catch(() => undefined)
    if (sent?.status === 404 && status_code !== null)
      note('The service no longer waited for this response: it has recorded a timeout.')
    else if (sent?.refused && sent.status < 500 && sent.status !== 404) note(sent.refused.message)
    if (sent && sent.status < 500) return
    await sleep(RETRY_AFTER)
  }
}

/** As many bytes as the service records, so that the result fits into a request even with long headers. */
function keptHeaders(headers: ReceiverResponse['headers']): ReceiverResponse['headers'] {
  let left = HEADERS_BYTES
  return headers
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
  answer: string,
  options: Forwarding,
): void {
  const { message_id, headers, body } = offer
  // For display only. The body that is forwarded is never parsed.
  const { event_type = null, resource_id: payment_id = null } = Object(parsedJson(body))
  const at = new Date().toISOString()
  if (options.json) {
    const outcome = options.forwardTo && { status_code, response_time, result, cause, answer }
    return void printJson({ at, event_type, payment_id, message_id, headers, body, ...outcome })
  }
  const delivered = status === 'SUCCESSFUL'
  const reason = cause ? `${result} (${cause})` : result
  const about = [event_type, payment_id].map(value => oneLine(String(value ?? '-')))
  const line = [timeOfDay(at), ...about]
  if (options.forwardTo)
    line.push(
      colouredStatus(delivered, oneLine(status_code ? String(status_code) : reason)),
      `${response_time ?? 0} ms`,
      ...(delivered && !options.bodies ? [] : [oneLine(answer)]),
    )
  print(line.join('  ').trimEnd())
  if (options.bodies || !options.forwardTo) print(`  ${oneLine(body, 100_000)}`)
}
