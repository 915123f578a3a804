/** Real receivers of webhooks on loopback, with any behaviour. */
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type Socket } from 'node:net'
import type { SecureVersion } from 'node:tls'
import type { Post } from '../../src/core/ports.ts'
import { type CertificateKind, certificates } from './certificates.ts'
import { listen } from './ports.ts'

export type Received = {
  method: string
  path: string
  headers: http.IncomingHttpHeaders
  /** The exact bytes, read as UTF-8. */
  body: string
  /** When it was complete, in milliseconds since 1970. */
  at: number
}

export type Answer = {
  request: Received
  response: http.ServerResponse
  /** The connection, to send bytes that no HTTP server would send. */
  socket: Socket
  /** 1 for the first request of this receiver. */
  nth: number
}

/** The differences from a receiver that responds 200 at once. */
export type Behaviour = {
  /** Attempts time out after two seconds. With other receivers they have more time, for a slow machine. */
  hangs?: boolean
  /** Nothing listens at the port. */
  refuses?: true
  plain?: true
  certificate?: CertificateKind
  newestTls?: SecureVersion
  /** Takes over each new TCP connection; `serve` carries on as usual. */
  onConnection?: (socket: Socket, serve: () => void) => void
  /** Takes over each connection after its TLS handshake. */
  onSecured?: (socket: Socket) => void
  /** Answers a request that has arrived in full. */
  onRequest?: (answer: Answer) => void
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A POST without headers, for the real sender. */
export const postTo = (url: string, body = '{}'): Post => ({ url, headers: {}, body })

/** Not an ephemeral port: the system could give a port that was just closed to the next receiver. */
export const UNUSED_PORT = 1

/**
 * Starts a receiver on 127.0.0.1, at a port of the system's choice. It does not keep the process running, so that a
 * test that fails before it closes its receiver ends the run.
 */
export async function startReceiver(behaviour: Behaviour = {}) {
  const requests: Received[] = []
  const sockets = new Set<Socket>()
  const arrivals = new EventTarget()
  let connections = 0
  let handedOut = 0

  const web = webServer(behaviour, answer => {
    requests.push(answer.request)
    arrivals.dispatchEvent(new Event('request'))
    const { onRequest = ({ response }) => response.end() } = behaviour
    onRequest({ ...answer, nth: requests.length })
  })
  const listener = net.createServer(socket => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    const serve = () => web.emit('connection', socket)
    if (behaviour.onConnection) behaviour.onConnection(socket, serve)
    else serve()
  })
  const port = behaviour.refuses ? UNUSED_PORT : await listen(listener.unref())

  return {
    /** Has the host `localhost`, for which the certificate is valid. */
    url: `${behaviour.plain ? 'http' : 'https'}://localhost:${port}/hook`,
    port,
    requests,
    connections: () => connections,
    /** Resolves with the next `count` requests that no earlier call returned. */
    async next(count = 1): Promise<Received[]> {
      const from = handedOut
      handedOut += count
      while (requests.length < from + count) await once(arrivals, 'request')
      return requests.slice(from, from + count)
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      web.close()
      if (listener.listening) await new Promise(closed => listener.close(closed))
    },
  }
}

function webServer(behaviour: Behaviour, receive: (answer: Omit<Answer, 'nth'>) => void) {
  const { certificate = 'valid', newestTls, onSecured } = behaviour
  const listener: http.RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url: path = '', headers, socket } = request
      const body = Buffer.concat(chunks).toString('utf8')
      receive({ request: { method, path, headers, body, at: Date.now() }, response, socket })
    })
  }
  if (behaviour.plain) return http.createServer(listener)
  const server = https.createServer(
    {
      ...certificates[certificate],
      ...(newestTls && { minVersion: 'TLSv1', maxVersion: newestTls, ciphers: 'ALL:@SECLEVEL=0' }),
    },
    listener,
  )
  if (onSecured) server.removeAllListeners('secureConnection').on('secureConnection', onSecured)
  server.on('tlsClientError', () => {})
  return server
}
