/** Makes the row of an exchange. Until then the recorder keeps only references to objects of the request. */

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '../../core/account.ts'
import { ADDRESS_PART_BYTES, RECORD_ROW_BYTES, RECORDED_BODY_BYTES } from '../../core/budgets.ts'
import type { Statement, Time } from '../../core/ports.ts'
import { isStorable, parsedJson } from '../../core/values.ts'
import type { Recorded } from '../../platform/http/areas.ts'
import { formOf } from '../../platform/http/body.ts'
import { errorBodyOf } from '../../platform/http/errors.ts'
import { methodOf } from '../../platform/http/fastify.ts'
import { inUtf8 } from '../../platform/http/fields.ts'
import type { RecordedPayment } from '../../platform/http/request-state.ts'
import {
  type AttemptToRecord,
  type Exchange,
  type Facts,
  type Gap,
  type Headers,
  type KeptBody,
  type NewAction,
  type NewExchange,
  NO_REQUEST,
} from './exchange.ts'
import { createMask, MASK, type Mask, truncated } from './mask.ts'
import { insertExchange } from './store.ts'

type Handled = { request: FastifyRequest; reply: FastifyReply; payload: unknown; account: Account }

const RESPONSE_HEADERS = ['content-type', 'location', 'retry-after']

/** A request as it came, and its response, unmasked. Parts without secrets have the names and values of the row. */
export type RawRequest = ReturnType<typeof rawRequest>

export function rawRequest(
  kind: 'api' | 'page',
  { operationId: operation, secretBody }: Recorded,
  time: Time,
  { request, reply, payload, account }: Handled,
) {
  const { began, actingPlan, effects, raw, refusal } = request
  return {
    kind,
    operation,
    room: account.room,
    behaviour: account.behaviour,
    began,
    at: time.now(account, began),
    ms: Math.round(reply.elapsedTime * 10) / 10,
    method: methodOf(request),
    url: request.url,
    /** Names and values in turn. */
    rawHeaders: raw.rawHeaders,
    requestBody: request.body,
    ...(secretBody && { secret_body: secretBody }),
    // A plan that reset the connection before the handler ran left no response.
    status: actingPlan?.isUnanswered ? null : reply.statusCode,
    responseHeaders: RESPONSE_HEADERS.flatMap((name): [name: string, value: unknown][] => {
      const value = reply.getHeader(name)
      return value === undefined ? [] : [[name, value]]
    }),
    // Node sends no body to a HEAD request.
    responseBody: methodOf(request) === 'HEAD' ? undefined : payload,
    ...(kind === 'api' && request.key_id && { key_id: request.key_id }),
    ended: actingPlan?.ended ?? (raw.socket.destroyed ? 'gone' : 'sent'),
    ...(actingPlan && { plan: actingPlan.plan_id }),
    refusal: refusal ?? undefined,
    payment: effects?.payment,
    ...(effects?.agreement && { agreement: effects.agreement }),
    ...(effects?.caused && { caused: effects.caused }),
  } as const
}

/** An attempt to deliver a message whose response has arrived. */
export type AnsweredAttempt = Awaited<ReturnType<typeof answered>>

export const answered = async ({ room }: Account, { answer, ...attempt }: AttemptToRecord) => ({
  ...attempt,
  kind: 'out' as const,
  room,
  answer: await answer,
})

/** An exchange as the recorder keeps it until its row is made. */
export type RawExchange = RawRequest | AnsweredAttempt | NewAction

const REQUEST_HEADERS = ['content-type', 'accept', 'user-agent', 'idempotency-key']
/** The only fields of the pages' forms that are kept. */
const FORM_FIELDS = ['scenario', 'step']
const MOST_RESPONSE_HEADERS = 20
/** The most characters of a refused payment's reference. A longer one is kept in the body only. */
const LONGEST_REFERENCE = 255

/** Reads the facts that the check needs, while the whole body is at hand. */
export type FactWriter = {
  /** `headers`: the first of each name, in lower case. */
  request(raw: RawRequest, headers: Headers): Facts
  attempt(raw: AnsweredAttempt): Facts
}

/** The origins of payments that the console, its test messages and `farthing seed` made. */
const OWN_ORIGINS: readonly unknown[] = ['console', 'test message', 'seed']

/** The effects of an exchange or an action on its payment. */
export function effectFacts(
  payment: RecordedPayment | undefined,
  caused: Exchange['caused'],
): Facts {
  const state = caused && caused.events.length > 0 ? payment?.events.at(-1) : undefined
  const { status, code, can_retry } = state ?? {}
  return {
    ...(OWN_ORIGINS.includes(payment?.origin) && { own: true }),
    ...(caused && { effect: true }),
    ...(status && {
      state: [status, code, can_retry !== undefined && (can_retry ? 'again' : 'final')]
        .filter(Boolean)
        .join(' '),
    }),
  }
}

export type RowMaker = ReturnType<typeof createRowMaker>

/** Makes a row, the statement that writes it, and the number of its bytes. `secrets` are the keys of the settings. */
export const createRowMaker =
  (instance: string, secrets: (string | undefined)[], factWriter: FactWriter) =>
  (raw: RawExchange) => {
    if (raw.kind === 'action') return shortened(raw)
    const row =
      raw.kind === 'out'
        ? attemptRow(raw, createMask(secrets), factWriter)
        : requestRow(raw, secrets, factWriter)
    return shortened({ instance, ...row })
  }

const SHORTEST = 256

/** Cuts bodies, and values of headers, to half and half again, until the row fits or bodies have SHORTEST bytes. */
function shortened(whole: NewExchange) {
  const { request_headers, request_body, response_headers, response_body } = whole
  let row = whole
  for (let most = RECORDED_BODY_BYTES / 2; ; most /= 2) {
    const insert = insertExchange(row)
    const bytes = sizeOf(insert(''))
    if (bytes <= RECORD_ROW_BYTES || most < SHORTEST) return { row, insert, bytes }
    row = {
      ...whole,
      request_headers: cutHeaders(request_headers, most / 8),
      response_headers: cutHeaders(response_headers, most / 8),
      request_body: request_body && cutBody(request_body, most),
      response_body: response_body && cutBody(response_body, most),
    }
  }
}

/** Roughly the bytes that a statement takes: those of its texts. */
const sizeOf = ({ values }: Statement): number =>
  values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0)

const cutHeaders = (headers: Headers, most: number): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, truncated(value, most)]))

function cutBody({ text, ...rest }: KeptBody, most: number): KeptBody {
  const short = truncated(text, most)
  const bytes = Buffer.byteLength(text, rest.base64 ? 'base64' : 'utf8')
  return { ...rest, text: short, ...(short !== text && { cut: rest.cut ?? bytes }) }
}

function requestRow(
  raw: RawRequest,
  secrets: (string | undefined)[],
  factWriter: FactWriter,
): NewExchange {
  const { url, rawHeaders, requestBody, responseHeaders, responseBody, ...rest } = raw
  const { refusal, payment, agreement, ...asIs } = rest
  const { kind, status } = asIs
  const headers = headersOf(rawHeaders)
  const { authorization = '' } = headers
  const key = inUtf8(authorization.replace(/^bearer\s*/i, ''))
  // Only the secret of a token is masked, so that the payment's identifier stays readable.
  const mask = createMask([...secrets, key, payment?.secret])
  const requestHeaders = REQUEST_HEADERS.filter(name => headers[name] !== undefined)
  const reference = payment?.given.reference ?? referenceOfRefused(raw)
  return {
    ...asIs,
    payment_id: payment?.payment_id ?? null,
    message_id: null,
    refused: asIs.ended === 'reset' || (status ?? 0) >= 400,
    ...maskedAddress(raw, mask),
    request_headers: mask.headers(requestHeaders.map(name => [name, inUtf8(headers[name] ?? '')])),
    request_body: requestBodyOf(raw, mask),
    response_headers: mask.headers(responseHeaders.map(([name, value]) => [name, String(value)])),
    response_body: kind === 'api' ? mask.body(bytesOf(responseBody)) : undefined,
    code: refusal && String(errorBodyOf(refusal).code),
    told: refusal && kindOf(refusal.message),
    field: refusal?.at.field || refusal?.at.header,
    facts: factWriter.request(raw, headers),
    reference: reference === undefined ? undefined : mask.text(reference),
  }
}

/** A hash of the sentence without its numbers and its quoted texts. */
const kindOf = (sentence: string): string =>
  hash('sha256', sentence.replace(/\d+|"[^"]*"/g, ''), 'base64url').slice(0, 8)

function referenceOfRefused({ operation, status, requestBody }: RawRequest): string | undefined {
  if (operation !== 'createPayment' || (status ?? 0) < 400) return undefined
  const { reference } = Object(parsedJson(String(bytesOf(requestBody))))
  const isKept = typeof reference === 'string' && reference.length <= LONGEST_REFERENCE
  return isKept && isStorable(reference) ? reference : undefined
}

function maskedAddress(raw: RawRequest | AnsweredAttempt, mask: Mask) {
  const [path = '', ...query] = raw.url.split('?')
  const masked = (part: string) => mask.url(part, ADDRESS_PART_BYTES)
  const address = { path: masked(path), query: masked(query.join('?')) }
  if (raw.kind !== 'page' || !raw.payment) return address
  // The path of a page ends with the payment's token, in any encoding.
  const [, prefix = '', token, rest = ''] = /^(.*\/secure)(?:\/([^/]+))?(.*)/s.exec(path) ?? []
  if (token === undefined) return address
  return { ...address, path: `${masked(prefix)}/${raw.payment.payment_id}${MASK}${masked(rest)}` }
}

function requestBodyOf({ kind, secret_body, requestBody }: RawRequest, mask: Mask) {
  if (secret_body) return undefined
  const bytes = bytesOf(requestBody)
  if (kind === 'api' || bytes === undefined) return mask.body(bytes)
  const fields = [...(formOf(requestBody) ?? [])].filter(([name]) => FORM_FIELDS.includes(name))
  return mask.body(new URLSearchParams(fields).toString())
}

export const bytesOf = (body: unknown): Buffer | string | undefined =>
  Buffer.isBuffer(body) || typeof body === 'string' ? body : undefined

/** The first header of each name. Names are in lower case. */
function headersOf(raw: string[]): Headers {
  const headers: Headers = {}
  for (let i = 0; i < raw.length; i += 2) headers[raw[i]?.toLowerCase() ?? ''] ??= raw[i + 1] ?? ''
  return headers
}

function attemptRow(raw: AnsweredAttempt, mask: Mask, factWriter: FactWriter): NewExchange {
  const { event_type, url, headers, body, failed, result, ms, answer, byHand, ...rest } = raw
  const { redirected, ...asIs } = rest
  return {
    ...asIs,
    operation: event_type,
    refused: failed,
    method: 'POST',
    ...maskedAddress(raw, mask),
    request_headers: mask.headers(Object.entries({ ...headers, ...answer?.sent })),
    request_body: mask.body(body),
    result: mask.text(result),
    response_headers: mask.headers(
      (answer?.headers ?? [])
        .slice(0, MOST_RESPONSE_HEADERS)
        .map(([name, value]) => [name, inUtf8(value)]),
    ),
    response_body: mask.body(answer?.body, answer?.size),
    ms: Math.round(ms),
    ended: 'sent',
    facts: factWriter.attempt(raw),
    by_hand: byHand,
  }
}

/** The row of exchanges that were only counted. Its time is that of the first exchange. */
export const makeGapRow = (room: string, gap: Gap): NewExchange => ({
  ...NO_REQUEST,
  room,
  payment_id: null,
  kind: 'gap',
  operation: 'gap',
  began: gap.from,
  at: gap.from,
  gap,
})
