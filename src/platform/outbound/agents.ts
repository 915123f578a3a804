/** The pools of connections to receivers. */
import type { Agent } from 'node:http'
import type { AgentOptions, Agent as SecureAgent } from 'node:https'
import type { OnReadOpts, Socket } from 'node:net'
import { DELIVERIES_TO_HOST } from '../../core/budgets.ts'
import { http, loadHttps, loadTls } from '../http/node-http.ts'

/** Servers usually keep idle connections for two seconds or more, so ours end first. */
const IDLE_MS = 1000
/** Happy Eyeballs: milliseconds for one address before the next is tried. TCP repeats a lost SYN after one second. */
const ADDRESS_MS = 1250

/** Node parses a read to its end. In pieces of one byte, 64 KB blocked the event loop for 16 ms, this size for 2 ms. */
const READ_BYTES = 4096

const POOL = {
  keepAlive: true,
  timeout: IDLE_MS,
  autoSelectFamilyAttemptTimeout: ADDRESS_MS,
  maxFreeSockets: DELIVERIES_TO_HOST, // idle connections to a host that are kept
}

/** The agent for https is made for the first request over TLS. */
export type Agents = { http: Agent; https?: SecureAgent }

export const createAgent = (): Agent => new http.Agent({ ...POOL, ...smallReads })

type Trust = { ca?: AgentOptions['ca']; insecure?: boolean }

export function createSecureAgent({ ca, insecure = false }: Trust): SecureAgent {
  const agent = new (loadHttps().Agent)({
    ...POOL,
    maxCachedSessions: 0, // no TLS session resumption: each connection has a full handshake
    rejectUnauthorized: !insecure,
    // Creating it for each connection would take a fifth of the time of a message over a new connection.
    secureContext: loadTls().createSecureContext(ca ? { ca } : {}),
  })
  // Connections differ in host and port only. Node's own getName joins twenty options, three times a request.
  agent.getName = to => `${to?.host}:${to?.port}`
  return agent
}

/** Only for http: over TLS a read is one record, so at most 16 KB. */
const smallReads: { onread: OnReadOpts } = {
  onread: {
    buffer: () => Buffer.allocUnsafe(READ_BYTES),
    callback(this: Socket, size, bytes) {
      return this.push(bytes.subarray(0, size))
    },
  },
}

export function dropIdle(agents: Agents, host: string): void {
  for (const { freeSockets } of Object.values(agents))
    for (const [name, sockets] of Object.entries(freeSockets))
      if (name.startsWith(`${host}:`)) for (const socket of sockets ?? []) socket.destroy()
}
