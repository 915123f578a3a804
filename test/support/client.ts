import assert from 'node:assert/strict'
import http from 'node:http'
import type { Behaviour } from '../../src/core/account.ts'
import { descriptionOf } from './description.ts'

// Each test states the body that it expects.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Body = any

export type Fields = Record<string, unknown>

export type Answer = { status: number; headers: Headers; text: string; body: Body }

export type Client = ReturnType<typeof createClient>

export type RequestOptions = {
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
}

export const webPayment = {
  amount: 4650,
  reference: 'PITCH-2207',
  description: 'Market pitch, week 38',
  return_url: 'https://markets.example.org/paid/41',
}

/**
 * An HTTP client that sends each request to the next instance. An exchange below /v1 or /secure that differs from
 * /openapi.json fails the test that made it, as it describes accounts of this behaviour.
 */
export function createClient(
  baseUrls: string[],
  key: string | undefined,
  behaviour: Behaviour | 'unchecked' = 'specification',
) {
  let next = 0
  const nextBase = () => baseUrls[next++ % baseUrls.length] ?? ''

  async function request(
    method: string,
    path: string,
    { headers = {}, body }: RequestOptions = {},
  ): Promise<Answer> {
    const base = nextBase()
    const url = path.startsWith('http') ? onInstance(path, base) : base + path
    const authorised = { ...(key && { Authorization: `Bearer ${key}` }), ...headers }
    const answer = await exchange(method, url, authorised, body)
    if (behaviour === 'unchecked') return withBody(answer)
    const { check } = await descriptionOf(base, behaviour)
    const sent = typeof body === 'string' && behaviour === 'specification' ? body : undefined
    if (!path.startsWith('/control'))
      check({ method, path: url.slice(base.length), sent, ...answer })
    return withBody(answer)
  }

  async function clock(advance?: number): Promise<number> {
    const url = `${nextBase()}/control/clock`
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const body = advance === undefined ? undefined : JSON.stringify({ advance })
    const { status, text } = await exchange(body ? 'POST' : 'GET', url, headers, body)
    assert.equal(status, 200, text)
    return Date.parse(JSON.parse(text).now)
  }

  /** Sends JSON, unless `body` is undefined. */
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    request('POST', path, {
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  return {
    key,
    request,
    get: (path: string, headers: Record<string, string> = {}) => request('GET', path, { headers }),
    post,
    delete: (path: string) => request('DELETE', path),
    /** The time of the account, in milliseconds. Needs a service with control. */
    now: () => clock(),
    /** Moves the clock of the account forward, and resolves to its time. Needs a service with control. */
    advance: (ms: number) => clock(ms),
    /** Posts a form as a browser does, and follows no redirect. */
    postForm: (path: string, fields: Record<string, string> | [string, string][]) =>
      request('POST', path, {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      }),
    /** In web mode by default. Returns the body. */
    async createPayment(fields: Fields = {}, headers: Record<string, string> = {}): Promise<Body> {
      const moded = 'authorisation_mode' in fields && fields.authorisation_mode !== 'web'
      const { return_url, ...plain } = webPayment
      const given = moded ? { ...plain, ...fields } : { ...webPayment, ...fields }
      const answer = await post('/v1/payments', given, headers)
      assert.equal(answer.status, 201, answer.text)
      return answer.body
    },
  }
}

export type Sent = RequestOptions & { key?: string | undefined; method?: string; json?: unknown }

/**
 * Sends one request on a connection of its own, and checks nothing against /openapi.json. Rejects with ECONNRESET when
 * the connection is reset.
 */
export async function sendUnchecked(
  url: string,
  { key, method = 'GET', json, body, headers = {} }: Sent = {},
): Promise<Answer> {
  const all = {
    ...(key && { Authorization: `Bearer ${key}` }),
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...headers,
  }
  const sent = json === undefined ? body : JSON.stringify(json)
  return withBody(await exchange(method, url, all, sent, false))
}

/** Creates a payment over a connection of `agent`. Resolves to the status, or to the fault of the response. */
export function createOnce(baseUrl: string, agent: http.Agent, key = ''): Promise<number | string> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify(webPayment)
  return exchange('POST', `${baseUrl}/v1/payments`, headers, body, agent).then(
    ({ status, headers }) =>
      status === 503 && headers.get('retry-after') !== '1' ? '503 without Retry-After' : status,
    (error: Error) => error.message,
  )
}

/** Parses the body if it is JSON. */
export function withBody(answer: Omit<Answer, 'body'>): Answer {
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return { ...answer, body: isJson && answer.text ? JSON.parse(answer.text) : undefined }
}

/** After 5 idle seconds a connection is not used again: the service closes it after 30, and might be doing so. */
const keptAlive = new http.Agent({ keepAlive: true, timeout: 5_000 })

/**
 * Sends one request and follows no redirect. This takes half the CPU time of `fetch`, and sends the same Content-Type
 * and Content-Length.
 */
export function exchange(
  method: string,
  url: string,
  given: Record<string, string>,
  body: RequestOptions['body'],
  agent: http.Agent | false = keptAlive,
): Promise<Omit<Answer, 'body'>> {
  const headers = { ...given }
  const isTyped = Object.keys(given).some(name => name.toLowerCase() === 'content-type')
  if (typeof body === 'string' && !isTyped) headers['Content-Type'] = 'text/plain;charset=UTF-8'
  if (body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(body))
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(url), { method, headers, agent }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: headersOf(response.rawHeaders),
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    // As bytes: Node would write the headers before a text in UTF-8 instead of Latin-1.
    request.end(body === undefined ? body : Buffer.from(body))
  })
}

function headersOf(raw: string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}

/** Changes the origin of a link, so that any instance can be asked for it. */
function onInstance(link: string, base: string): string {
  const { pathname, search } = new URL(link)
  return base + pathname + search
}
