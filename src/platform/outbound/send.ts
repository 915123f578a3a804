/** Has its own agents: `fetch` and Node's global ones obey proxy variables, and a proxy's addresses are unchecked. */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { ownerOf } from '../../core/account.ts'
import { ANSWER_BYTES, ANSWER_PIECES, KEPT_ANSWER_BYTES } from '../../core/budgets.ts'
import type { AllowedHosts } from '../../core/config.ts'
import { isSuccess } from '../../core/http-status.ts'
import type { AttemptResult, ReceiverResponse, Resolve } from '../../core/ports.ts'
import { http, loadHttps } from '../http/node-http.ts'
import { callbackUrlProblem, hostOf, isAllowed, isPublicAddress } from './address.ts'
import { type Agents, createAgent, createSecureAgent, dropIdle } from './agents.ts'
import { createDeliverySlots } from './delivery-slots.ts'
import { createFollow, type Hop, type Next } from './follow.ts'

/** Milliseconds for an attempt, from the wait for a slot to the status line, if it has no other timeout. */
export const DEADLINE_MS = 2000
/** The wait for a slot ends so much earlier: a slot that another timeout frees would leave no time to use it. */
const SLOT_MARGIN_MS = 100
const REASON_PHRASE_CHARACTERS = 100
const MAX_INTERIM_RESPONSES = 100
/** The reasons for a result without a status. */
export const reasons = [
  'timeout',
  'connection failed',
  'tls failed',
  'name not resolved',
  'address refused',
] as const
type Reason = (typeof reasons)[number]

/** This service ended the request: its look-up failed or its time ran out. */
class Aborted extends Error {
  declare readonly message: Reason
  constructor(reason: Reason) {
    super(reason)
  }
}

type SendOptions = {
  resolve: Resolve
  allowed: AllowedHosts
  userAgent?: string
  /** Trusted certificates in PEM. Replaces those of Node, including NODE_EXTRA_CA_CERTS. */
  ca?: string | string[]
  insecure?: boolean
}

/**
 * Makes the real Send. Its guarantees beyond those of the port:
 * - A request is written at most once, unless `repeats` has it sent again. A broken connection is a failed attempt and
 *   is never retried silently. The next attempt gets a new connection.
 * - It resolves as soon as the status line has arrived. Reading the body ends at ANSWER_BYTES, at ANSWER_PIECES, and at
 *   the same deadline. The body is discarded, unless the response is to be kept.
 * - `response_time` starts when the request gets its slot. It is null when no connection was established,
 *   because nothing was sent then.
 */
export function createSend(options: SendOptions) {
  const { resolve, allowed, userAgent } = options
  const agents: Agents = { http: createAgent() }
  const takeSlot = createDeliverySlots()
  const guarded = createLookup(resolve, isPublicAddress)
  const exempt = createLookup(resolve, address => isIP(address) !== 0)

  const open = (url: URL, headers: Hop['headers'], body: Hop['body']) => {
    const secure = url.protocol === 'https:'
    if (secure) agents.https ??= createSecureAgent(options)
    return (secure ? loadHttps() : http).request({
      agent: secure ? agents.https : agents.http,
      lookup: isAllowed(url, allowed) ? exempt : guarded,
      method: body === undefined ? 'GET' : 'POST',
      host: hostOf(url),
      port: url.port || (secure ? 443 : 80),
      path: url.pathname + url.search,
      headers: listOf(headers, body),
      maxHeaderSize: ANSWER_BYTES,
      // Accepts bare line feeds and the like, as other HTTP clients do.
      insecureHTTPParser: true,
    })
  }

  const sendOnce = async (hop: Hop) => {
    const { url: target, body, timeout = DEADLINE_MS, account } = hop
    const started = performance.now()
    const url = URL.parse(target)
    if (url === null || callbackUrlProblem(target, allowed)) return failed('address refused', null)
    const owner = account ? ownerOf(account) : ''
    const slot = takeSlot(owner, hostOf(url), timeout - SLOT_MARGIN_MS)
    // No `await` for a free slot: the event loop may be busy, and that time would count as a wait.
    const release = slot instanceof Promise ? await slot : slot
    if (release === undefined) return failed('timeout', null)
    const began = performance.now()
    const left = started + timeout - began
    if (left < 1) {
      // The event loop was blocked, so the slot arrived before the timer of its wait ran.
      release()
      return failed('timeout', null)
    }
    try {
      const agent = userAgent && { 'User-Agent': userAgent }
      const headers = { ...agent, ...hop.headers, Host: url.host.replace(/\.(?=:|$)/, '') }
      const request = open(url, headers, body)
      // A timer instead of an AbortSignal, whose listeners made sending a quarter slower.
      const timer = setTimeout(() => request.destroy(new Aborted('timeout')), left)
      request.once('close', () => {
        clearTimeout(timer)
        release()
      })
      // A receiver that closed one idle connection has probably closed all of them.
      request.once('error', () => request.reusedSocket && dropIdle(agents, hostOf(url)))
      const result = resultOf(request, began, { ...hop, headers })
      request.end(body)
      return await result
    } catch {
      // `request` throws on an invalid header. No request exists then.
      release()
      return failed('connection failed', null)
    }
  }

  /** Ends all connections, including those in use. */
  const close = () => {
    for (const agent of Object.values(agents)) agent.destroy()
  }
  return Object.assign(createFollow(sendOnce), { close })
}

/** Headers as a list: an object costs some 10 µs more for each message. To a list Node adds neither host nor length. */
function listOf(headers: Hop['headers'], body: Hop['body']): string[] {
  const list = Object.entries(headers).flat()
  if (body !== undefined) list.push('Content-Length', `${Buffer.byteLength(body)}`)
  return list
}

/** The socket connects to the checked addresses, so names cannot be rebound. Fails if any of them is refused. */
export function createLookup(
  resolve: Resolve,
  accepts: (address: string) => boolean,
): LookupFunction {
  const addressesOf = async (host: string) => {
    const addresses = await resolve(host).catch(() => [])
    if (addresses.length === 0) throw new Aborted('name not resolved')
    if (!addresses.every(accepts)) throw new Aborted('address refused')
    return addresses.map(address => ({ address, family: isIP(address) }))
  }
  return (host, options, callback) => {
    addressesOf(host).then(
      addresses => {
        if (options.all) callback(null, addresses)
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
      },
      error => callback(error, ''),
    )
  }
}

/** Resolves at the status or at the failure. Later events change nothing. */
function resultOf(request: ClientRequest, began: number, hop: Hop) {
  const { keepsAnswer = false, redirects, repeats, headers: sent } = hop
  return new Promise<AttemptResult & { next?: Next }>(resolve => {
    let connected = false
    let handshaking = false
    const elapsed = () => (connected ? Math.round(performance.now() - began) : null)

    request.on('socket', socket => {
      connected = request.reusedSocket
      if (connected) return
      socket.once('connect', () => {
        connected = true
        handshaking = request.protocol === 'https:'
      })
      socket.once('secureConnect', () => {
        handshaking = false
      })
    })
    let interim = 0
    request.on('information', () => {
      interim += 1
      if (interim > MAX_INTERIM_RESPONSES) request.destroy()
    })
    const settle = (response: Head, body?: Promise<Body>) => {
      const result: AttemptResult & { next?: Next } = answered(response, elapsed())
      if (redirects || repeats) result.next = nextOf(response)
      resolve(keepsAnswer ? { ...result, answer: answerOf(sent, response, body) } : result)
    }
    request.on('response', response => settle(response, readToEnd(response, keepsAnswer)))
    request.on('upgrade', (response, socket) => {
      settle(response)
      socket.destroy()
    })
    request.on('error', (error: ParseError) => {
      const response = repeatedLengthIn(error)
      if (response) return settle(response.head, Promise.resolve(response.body))
      const result = failed(reasonOf(error, handshaking), elapsed())
      resolve(error.code ? { ...result, cause: error.code } : result)
    })
    request.on('close', () => resolve(failed('connection failed', elapsed())))
  })
}

type Head = Pick<IncomingMessage, 'statusCode' | 'statusMessage' | 'rawHeaders'>

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer }

/** The response that Node refuses for the same Content-Length twice, as other HTTP clients read it. */
function repeatedLengthIn({ code, rawPacket }: ParseError): { head: Head; body: Body } | undefined {
  if (code !== 'HPE_UNEXPECTED_CONTENT_LENGTH' || !rawPacket) return undefined
  const text = rawPacket.toString('latin1')
  const [head = ''] = text.split(/\r?\n\r?\n/, 1)
  const rest = text.slice(head.length).replace(/^\r?\n\r?\n/, '')
  const [status = '', ...lines] = head.split(/\r?\n/)
  const [, statusCode, statusMessage = ''] = /^HTTP\/1\.[01] ([2-5]\d\d) ?(.*)$/.exec(status) ?? []
  const headers = lines.flatMap(line => {
    const [name, ...value] = line.split(':')
    return name && value.length > 0 ? [[name, value.join(':').trim()] as const] : []
  })
  const lengths = headers.filter(([name]) => name.toLowerCase() === 'content-length')
  const [length] = new Set(lengths.map(([, value]) => value))
  if (!statusCode || !length || lengths.some(([, value]) => value !== length)) return undefined
  const body = Buffer.from(rest.slice(0, Number(length)), 'latin1').subarray(0, KEPT_ANSWER_BYTES)
  const rawHeaders = headers.flat()
  return {
    head: { statusCode: Number(statusCode), statusMessage, rawHeaders },
    body: { body, size: body.length },
  }
}

/** The first of each header counts. */
function nextOf({ rawHeaders }: Head): Next {
  const first = (wanted: string) => {
    const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === wanted)
    return at < 0 ? undefined : rawHeaders[at + 1]
  }
  return {
    location: first('location'),
    retryAfter: first('retry-after'),
    date: first('date'),
  }
}

function answered(response: Head, responseTime: number | null): AttemptResult {
  const code = response.statusCode ?? 0
  const phrase = response.statusMessage?.trim() || http.STATUS_CODES[code] || ''
  return {
    status: isSuccess(code) ? 'SUCCESSFUL' : 'FAILED',
    status_code: code,
    response_time: responseTime,
    result: `${code} ${phrase.slice(0, REASON_PHRASE_CHARACTERS)}`.trim(),
  }
}

/** `response_time` is in milliseconds. */
export const failed = (result: string, response_time: number | null): AttemptResult => ({
  status: 'FAILED',
  status_code: null,
  response_time,
  result,
})

/**
 * A broken connection is `connection failed`, also during the handshake. A TLS error is `tls failed`, also
 * after the handshake, because TLS 1.3 servers reject a missing client certificate only then.
 */
function reasonOf(error: NodeJS.ErrnoException, handshaking: boolean): Reason {
  if (error instanceof Aborted) return error.message
  const code = error.code ?? ''
  if (code === 'EPROTO' || /^ERR_(SSL|TLS)/.test(code)) return 'tls failed'
  const isConnection = code === 'ECONNRESET' || error.syscall !== undefined
  return handshaking && !isConnection ? 'tls failed' : 'connection failed'
}

type Body = Pick<ReceiverResponse, 'body' | 'size'>

/** Reads to the end, so that the connection can be reused, unless the body is long. Returns its kept beginning. */
function readToEnd(response: IncomingMessage, keepsBody: boolean): Promise<Body> | undefined {
  const chunks: Buffer[] = []
  let size = 0
  let pieces = 0
  response.on('error', () => {})
  response.on('data', (chunk: Buffer) => {
    // Node still emits the other pieces of its last read.
    if (response.destroyed) return
    if (keepsBody && size < KEPT_ANSWER_BYTES)
      chunks.push(chunk.subarray(0, KEPT_ANSWER_BYTES - size))
    size += chunk.length
    pieces += 1
    if (size > ANSWER_BYTES || pieces > ANSWER_PIECES) response.destroy()
  })
  if (!keepsBody) return undefined
  return new Promise(resolve => {
    response.once('close', () => resolve({ body: Buffer.concat(chunks), size }))
  })
}

async function answerOf(
  sent: Hop['headers'],
  { rawHeaders }: Head,
  body: Promise<Body> | undefined,
): Promise<ReceiverResponse> {
  const headers: ReceiverResponse['headers'] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    headers.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? ''])
  return {
    headers,
    sent,
    ...((await body) ?? { body: Buffer.alloc(0), size: 0 }),
  }
}
