/** Makes the row of an exchange. Until then the recorder holds only references to objects of the request. */

import type {
  Caused,
  Ending,
  Exchange,
  ExchangeBody,
  ExchangeKind,
  Headers,
  KeptBody,
  RawAttempt,
} from '../../core/exchange.ts'
import type { Answer } from '../../core/ports.ts'
import { inUtf8 } from '../../platform/http/fields.ts'
import type { NotedPayment } from '../../platform/http/request-state.ts'
import type { Gap } from './admission.ts'
import { createMask, MASK, type Mask } from './mask.ts'

/** A request to this service, as it came, and its response. Nothing is masked. */
export type HeldRequest = {
  kind: 'api' | 'page'
  operation: string
  room: string
  /** Milliseconds: the machine's time and the account's at which it began. */
  began: number
  at: number
  ms: number
  method: string
  url: string
  /** Names and values in turn. */
  rawHeaders: string[]
  requestBody: unknown
  /** null without a response. */
  status: number | null
  /** Content-Type, Location and Retry-After. */
  responseHeaders: [string, unknown][]
  responseBody: unknown
  key_id: string | undefined
  ended: Ending
  plan: string | null
  refusal: { code: string; at: { field?: string; header?: string } } | undefined
  payment: NotedPayment | undefined
  caused: Caused | undefined
}

/** An attempt to deliver a message, and the receiver's response. */
export type HeldAttempt = Omit<RawAttempt, 'answer'> & {
  kind: 'out'
  room: string
  answer: Answer | undefined
}

export type Held = HeldRequest | HeldAttempt

const REQUEST_HEADERS = ['content-type', 'accept', 'user-agent', 'idempotency-key']
/** The only fields of the pages' forms that are kept. */
const FORM_FIELDS = ['scenario', 'step']
/** Its body is a card. */
const CARD_OPERATION = 'authorisePayment'
const MOST_RESPONSE_HEADERS = 20

export type RowMaker = (held: Held, exchange_id: string) => Exchange

/** `secrets` are the keys of the settings. */
export function createRowMaker(instance: string, secrets: (string | undefined)[]): RowMaker {
  return (held, exchange_id) =>
    held.kind === 'out'
      ? attemptRow(held, exchange_id, instance, createMask(secrets))
      : requestRow(held, exchange_id, instance, secrets)
}

function requestRow(
  held: HeldRequest,
  exchange_id: string,
  instance: string,
  secrets: (string | undefined)[],
): Exchange {
  const { kind, payment, status, refusal, caused } = held
  const headers = headersOf(held.rawHeaders)
  const { authorization = '' } = headers
  const key = Buffer.from(authorization.replace(/^bearer\s*/i, ''), 'latin1').toString('utf8')
  // Only the secret of a token is masked, so that the payment's identifier stays readable.
  const mask = createMask([...secrets, key, payment?.secret])
  const [path = '', ...query] = held.url.split('?')
  const kept = (names: string[]) =>
    names.flatMap(name => {
      const value = headers[name]
      return value === undefined ? [] : [[name, mask.text(inUtf8(value))] as const]
    })
  const request_body = requestBodyOf(held, mask)
  const response_body = kind === 'api' ? mask.body(bytesOf(held.responseBody)) : undefined
  const field = refusal?.at.field ?? refusal?.at.header
  const body: ExchangeBody = {
    at: held.at,
    instance,
    method: held.method,
    path: pathOf(kind, path, payment, mask),
    query: mask.url(query.join('?')),
    request_headers: Object.fromEntries(kept(REQUEST_HEADERS)),
    ...(request_body && { request_body }),
    response_headers: Object.fromEntries(
      held.responseHeaders.map(([name, value]) => [name, mask.text(String(value))]),
    ),
    ...(response_body && { response_body }),
    ms: Math.round(held.ms * 10) / 10,
    ...(held.key_id && { key_id: held.key_id }),
    ended: held.ended,
    ...(held.plan && { plan: held.plan }),
    ...(refusal && { code: refusal.code }),
    ...(field && { field }),
    ...(payment && { reference: mask.text(payment.given.reference) }),
    ...(caused && { caused }),
  }
  return {
    exchange_id,
    room: held.room,
    payment_id: payment?.payment_id ?? null,
    message_id: null,
    kind,
    operation: held.operation,
    status,
    refused: isRefused(held),
    ...body,
  }
}

/** The path of a page ends with the payment's token, in any encoding. */
function pathOf(kind: ExchangeKind, path: string, payment: NotedPayment | undefined, mask: Mask) {
  if (kind !== 'page' || !payment) return mask.url(path)
  const [, prefix = '', token, rest = ''] = /^(.*\/secure)(?:\/([^/]+))?(.*)$/.exec(path) ?? []
  if (token === undefined) return mask.url(path)
  return `${mask.url(prefix)}/${payment.payment_id}${MASK}${mask.url(rest)}`
}

function requestBodyOf(
  { kind, operation, requestBody }: HeldRequest,
  mask: Mask,
): KeptBody | undefined {
  if (operation === CARD_OPERATION) return undefined
  const bytes = bytesOf(requestBody)
  if (kind === 'api' || bytes === undefined) return mask.body(bytes)
  const form = new URLSearchParams(bytes.toString())
  const kept = [...form].filter(([name]) => FORM_FIELDS.includes(name))
  return mask.body(new URLSearchParams(kept).toString())
}

const bytesOf = (body: unknown): Buffer | string | undefined =>
  Buffer.isBuffer(body) || typeof body === 'string' ? body : undefined

/** The first of each name, in lower case. */
function headersOf(raw: string[]): Headers {
  const headers: Headers = {}
  for (let i = 0; i < raw.length; i += 2) headers[raw[i]?.toLowerCase() ?? ''] ??= raw[i + 1] ?? ''
  return headers
}

function attemptRow(
  held: HeldAttempt,
  exchange_id: string,
  instance: string,
  mask: Mask,
): Exchange {
  const { answer, byHand } = held
  const sent = { ...held.headers, ...answer?.sent }
  const request_body = mask.body(held.body)
  const response_body = mask.body(answer?.body, answer?.size)
  const [path = '', ...query] = held.url.split('?')
  // People compare signatures. A signature has the length of a secret but is not one.
  const maskHeader = ([name, value]: [string, string]) =>
    [name, /^pay-signature$/i.test(name) ? value : mask.text(value)] as const
  const body: ExchangeBody = {
    at: held.at,
    instance,
    method: 'POST',
    path: mask.url(path),
    query: mask.url(query.join('?')),
    request_headers: Object.fromEntries(Object.entries(sent).map(maskHeader)),
    ...(request_body && { request_body }),
    result: mask.text(held.result),
    response_headers: Object.fromEntries(
      (answer?.headers ?? [])
        .slice(0, MOST_RESPONSE_HEADERS)
        .map(([name, value]) => [name, mask.text(inUtf8(value))]),
    ),
    ...(response_body && { response_body }),
    ms: Math.round(held.ms),
    ended: 'sent',
    webhook_id: held.webhook_id,
    ...(byHand && { by_hand: byHand }),
  }
  return {
    exchange_id,
    room: held.room,
    payment_id: held.payment_id,
    message_id: held.message_id,
    kind: 'out',
    operation: held.event_type,
    status: held.status,
    refused: isRefused(held),
    ...body,
  }
}

/** The row of exchanges that were only counted. Its time is that of the first. */
export const makeGapRow = (room: string, gap: Gap, exchange_id: string): Exchange => ({
  exchange_id,
  room,
  payment_id: null,
  message_id: null,
  kind: 'gap',
  operation: 'gap',
  status: null,
  refused: false,
  at: gap.from,
  method: '',
  path: '',
  query: '',
  request_headers: {},
  response_headers: {},
  ms: 0,
  ended: 'sent',
  gap,
})

const isRefused = (held: Held): boolean =>
  held.kind === 'out' ? held.failed : held.ended === 'reset' || (held.status ?? 0) >= 400
