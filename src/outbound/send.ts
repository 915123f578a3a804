/**
 * The real Send. `fetch` and Node's global agents obey proxy variables, and a proxy would connect to
 * addresses that nobody checked: so the requests go out through agents of their own.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Agent as SecureAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { SecureContext } from 'node:tls'
import { http, https, tls } from '../http/node-http.ts'
import type { AttemptResult, Post, Resolve } from '../ports.ts'
import {
  type AllowedHosts,
  callbackUrlProblem,
  hostOf,
  isAllowed,
  isPublicAddress,
} from './address.ts'
import { createSlots } from './slots.ts'

/** One limit, in milliseconds, over the wait for a slot, name look-up, connection, TLS, request and status. */
const DEADLINE_MS = 2000
const REQUESTS_PER_HOST = 64
/** For a slot: who waits in vain gives up before those under way free theirs, and who gets one has time for an answer. */
const LONGEST_SLOT_WAIT_MS = 1900
/** Servers close idle connections after two seconds or more; one kept for less is not closed under us. */
const IDLE_MS = 1000
/** Of the headers of a reply, and again of its body. */
const REPLY_BYTES = 64 * 1024
const REASON_PHRASE_CHARACTERS = 100
/** Answers 1xx before the real one. */
const INTERIM_ANSWERS = 100
/** For one address of several before the next is tried: enough for a lost packet, which is sent again after a second. */
const ADDRESS_MS = 1250

/** Why an attempt has no status. */
type Reason =
  | 'timeout'
  | 'connection failed'
  | 'tls failed'
  | 'name not resolved'
  | 'address refused'

/** Why a request has no status that was ended here: by the look-up of its socket, or for want of time. */
class GivenUp extends Error {
  readonly reason: Reason
  constructor(reason: Reason) {
    super(reason)
    this.reason = reason
  }
}

type Agents = { https: SecureAgent; http: Agent }

export type SendOptions = {
  resolve: Resolve
  allowed: AllowedHosts
  /** Sent as `User-Agent`, unless the headers of a call have their own. */
  userAgent?: string
  /** Certificates to trust, in PEM, instead of those that Node trusts (NODE_EXTRA_CA_CERTS among them). */
  ca?: string | string[]
}

/** A Send that keeps connections for a second; `close` drops them all, those in use too. */
export type ClosableSend = ((post: Post) => Promise<AttemptResult>) & { close(): void }

/**
 * Makes the real Send. What a caller may build on beside the promises of the port:
 * - A request is written at most once: a connection that breaks is a failed attempt, never a silent
 *   repeat, so two attempts are at most two messages. The next attempt then gets a new connection.
 * - It answers as soon as the status is known. What follows is read and forgotten, at most 64 KiB of
 *   it and not beyond the same two seconds.
 * - `response_time` counts from when the request had its slot; it is null when no connection stood: then
 *   nothing was sent.
 */
export function createSend(options: SendOptions): ClosableSend {
  const { resolve, allowed, userAgent } = options
  const agents = createAgents()
  const takeSlot = createSlots(REQUESTS_PER_HOST)
  const guarded = createLookup(resolve, isPublicAddress)
  const exempt = createLookup(resolve, address => isIP(address) !== 0)
  // One for all connections: each of its own would be a fifth of what a message over a new connection costs.
  let context: SecureContext | undefined
  const secureContext = () => {
    context ??= tls.createSecureContext(options.ca ? { ca: options.ca } : {})
    return context
  }

  const open = (url: URL, headers: Record<string, string>) => {
    const secure = url.protocol === 'https:'
    return (secure ? https : http).request({
      agent: secure ? agents.https : agents.http,
      ...(secure && { secureContext: secureContext() }),
      lookup: isAllowed(url, allowed) ? exempt : guarded,
      method: 'POST',
      host: hostOf(url),
      port: url.port || (secure ? 443 : 80),
      path: url.pathname + url.search,
      headers: { ...(userAgent && { 'User-Agent': userAgent }), ...headers },
      maxHeaderSize: REPLY_BYTES,
    })
  }

  const send = async ({ url: target, headers, body }: Post): Promise<AttemptResult> => {
    const started = performance.now()
    const url = URL.parse(target)
    if (url === null || callbackUrlProblem(target, allowed)) return failed('address refused', null)
    const slot = takeSlot(hostOf(url), LONGEST_SLOT_WAIT_MS)
    // To await a slot that is there already would let other work pass for a wait.
    const release = slot instanceof Promise ? await slot : slot
    if (release === undefined) return failed('timeout', null)
    const began = performance.now()
    const left = started + DEADLINE_MS - began
    if (left < 1) {
      // The event loop was held up: the slot came before the end of the wait was noticed.
      release()
      return failed('timeout', null)
    }
    try {
      const request = open(url, headers)
      // A timer, and no `signal`: with all the listeners that a request puts on one, sending took a quarter longer.
      const timer = setTimeout(() => request.destroy(new GivenUp('timeout')), left)
      request.once('close', () => {
        clearTimeout(timer)
        release()
      })
      // A receiver that closed one idle connection has likely closed them all.
      request.once('error', () => request.reusedSocket && dropIdle(agents, hostOf(url)))
      const outcome = outcomeOf(request, began)
      request.end(body)
      return await outcome
    } catch {
      // Only a header that HTTP cannot carry leads here; there is no request then.
      release()
      return failed('connection failed', null)
    }
  }

  const close = () => {
    for (const agent of Object.values(agents)) agent.destroy()
  }
  return Object.assign(send, { close })
}

function createAgents(): Agents {
  const pool = {
    keepAlive: true,
    maxFreeSockets: REQUESTS_PER_HOST,
    timeout: IDLE_MS,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
  }
  const secure = new https.Agent({
    ...pool,
    maxCachedSessions: 0, // no session is resumed, so that no secret of one connection travels on another
    rejectUnauthorized: true,
  })
  // Its connections differ in nothing else; Node would put twenty options together, three times a request.
  secure.getName = to => `${to?.host}:${to?.port}`
  return { https: secure, http: new http.Agent(pool) }
}

/**
 * The `lookup` of a socket: what it passes on is what the socket connects to, so the address that was
 * checked is the one connected to. One address that `accepts` refuses is enough to refuse them all.
 */
export function createLookup(
  resolve: Resolve,
  accepts: (address: string) => boolean,
): LookupFunction {
  const addressesOf = async (host: string) => {
    const addresses = await resolve(host).catch(() => [])
    if (addresses.length === 0) throw new GivenUp('name not resolved')
    if (!addresses.every(accepts)) throw new GivenUp('address refused')
    return addresses.map(address => ({ address, family: isIP(address) }))
  }
  return (host, options, callback) => {
    addressesOf(host).then(
      ([first, ...others]) => {
        if (options.all) callback(null, first ? [first, ...others] : [])
        else callback(null, first?.address ?? '', first?.family)
      },
      error => callback(error, ''),
    )
  }
}

/** Waits for the status or the failure, whichever is first. What happens to the request later is not told. */
function outcomeOf(request: ClientRequest, began: number): Promise<AttemptResult> {
  return new Promise(resolve => {
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
      if (interim > INTERIM_ANSWERS) request.destroy()
    })
    request.on('response', response => {
      resolve(answered(response, elapsed()))
      discard(response)
    })
    request.on('upgrade', (response, socket) => {
      resolve(answered(response, elapsed()))
      socket.destroy()
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const outcome = failed(reasonOf(error, handshaking), elapsed())
      resolve(error.code ? { ...outcome, cause: error.code } : outcome)
    })
    request.on('close', () => resolve(failed('connection failed', elapsed())))
  })
}

function answered(response: IncomingMessage, responseTime: number | null): AttemptResult {
  const code = response.statusCode ?? 0
  const phrase = response.statusMessage?.trim() || http.STATUS_CODES[code] || ''
  return {
    status: code >= 200 && code <= 299 ? 'SUCCESSFUL' : 'FAILED',
    status_code: code,
    response_time: responseTime,
    result: `${code} ${phrase.slice(0, REASON_PHRASE_CHARACTERS)}`.trim(),
  }
}

function failed(reason: Reason, responseTime: number | null): AttemptResult {
  return { status: 'FAILED', status_code: null, response_time: responseTime, result: reason }
}

/**
 * A connection that breaks is a failed connection, also during the handshake; what TLS itself
 * complains about is a failed TLS, also after it (a client certificate is asked for only then).
 */
function reasonOf(error: NodeJS.ErrnoException, handshaking: boolean): Reason {
  if (error instanceof GivenUp) return error.reason
  const code = error.code ?? ''
  if (code === 'EPROTO' || /^ERR_(SSL|TLS)/.test(code)) return 'tls failed'
  const broken = code === 'ECONNRESET' || error.syscall !== undefined
  return handshaking && !broken ? 'tls failed' : 'connection failed'
}

/** Reads the body to its end, so that the connection can be used again; a long one costs it the connection. */
function discard(response: IncomingMessage): void {
  let received = 0
  response.on('error', () => {})
  response.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > REPLY_BYTES) response.destroy()
  })
}

function dropIdle(agents: Agents, host: string): void {
  for (const [name, sockets] of Object.values(agents).flatMap(agent =>
    Object.entries(agent.freeSockets),
  )) {
    if (name.startsWith(`${host}:`)) for (const socket of sockets ?? []) socket.destroy()
  }
}
