/** The rules for every response to any request: I19 of docs/notes/reliability.md. */
import assert from 'node:assert/strict'
import type { Answer } from '../support/client.ts'
import type { HostileRequest } from './hostile-requests.ts'

/** Statuses of requests that Node cannot parse. They have no body, and the connection is closed. */
const BELOW_HTTP = new Set([400, 408, 413, 431])

/** Signs of stack traces, file names and SQL. */
const INTERNALS =
  /\n\s+at |\.ts:\d|node_modules|node:internal|\bselect .* from\b|insert into|sqlite|postgres|ERR_/i

/** Exactly the properties of the Specification, *Errors*. */
function judgeErrorBody(status: number, text: string): void {
  const body = JSON.parse(text)
  const { code, description, field, header, ...rest } = body
  assert.match(code, /^P\d{4}$/)
  assert.equal(typeof description, 'string')
  assert.ok(description.length > 0)
  assert.ok(field === undefined || (typeof field === 'string' && field.length > 0))
  assert.ok(header === undefined || header === 'Idempotency-Key')
  assert.ok(field === undefined || header === undefined, 'field and header exclude each other')
  assert.deepEqual(rest, {})
  assert.doesNotMatch(description, INTERNALS)
  assert.ok(status >= 400)
}

/** True for responses of the service, false for those of Node's HTTP parser. */
export const isOurs = (headers: Headers): boolean =>
  headers.get('x-content-type-options') === 'nosniff'

export function judge(request: HostileRequest, answer: Answer | undefined): Answer {
  assert.ok(answer, 'the connection was closed without a response')
  const { status, headers, text } = answer
  assert.ok(status >= 200 && status < 500, `${status} ${text}`)
  if (!isOurs(headers)) {
    assert.ok(BELOW_HTTP.has(status), `${status} without nosniff`)
    assert.equal(text, '')
    assert.equal(headers.get('connection'), 'close')
    return answer
  }
  const type = headers.get('content-type') ?? ''
  if (request.method === 'HEAD' || status === 204 || status === 303) assert.equal(text, '')
  else if (type.startsWith('text/html')) judgePage(status, text)
  else if (status >= 400) {
    assert.equal(type, 'application/json')
    judgeErrorBody(status, text)
  } else if (type.startsWith('application/json')) JSON.parse(text)
  if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer')
  if (status === 405) assert.match(headers.get('allow') ?? '', /^[A-Z]+(, [A-Z]+)*$/)
  if (status === 303) assert.match(headers.get('location') ?? '', /^(https:\/\/|\/secure\/)[!-~]+$/)
  if (/^\/v1(\/|$)/.test(request.target)) assert.equal(headers.get('cache-control'), 'no-store')
  if (/^\/secure(\/|$)/.test(request.target)) judgePageHeaders(status, headers)
  return answer
}

function judgePage(status: number, text: string): void {
  assert.match(text, /^<!doctype html>/i)
  assert.match(text, /<h1[^>]*>[^<]+<\/h1>/)
  if (status >= 400) assert.doesNotMatch(text, INTERNALS)
  assert.doesNotMatch(text, /<script>alert|<img src=x/, 'input is escaped')
}

function judgePageHeaders(status: number, headers: Headers): void {
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const type = headers.get('content-type') ?? ''
  assert.ok(status === 303 || type === 'text/html; charset=utf-8', `${status} ${type}`)
}
