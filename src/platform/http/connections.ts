/** The rules of a connection: time limits, the order of requests, and the response to bytes that are not HTTP. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  ARRIVING_BYTES,
  BODY_PIECES,
  HEADERS_MS,
  IDLE_MS,
  PIPELINED,
  PIPELINED_IN_ALL,
  REQUEST_MS,
} from '../../core/budgets.ts'
import { overloaded } from '../../core/errors.ts'
import { createShares } from '../../core/shares.ts'
import { http } from './node-http.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** A part of the body was dropped, because too many bytes of bodies were arriving. */
    isCut?: boolean
    /** Counts the body towards this account. Without a call it counts towards requests without an account. */
    arriveFor?(owner: string): void
  }
}

/** Bytes of memory that a piece takes beside its content. */
const BYTES_PER_PIECE = 256
/** The first bytes of a body are not counted, so that others cannot get a small body refused: at most 40 MB in all. */
const SMALL_BYTES = 4_096

type Handle = (request: IncomingMessage, response: ServerResponse) => void

type Connection = {
  /** The response that is being made or sent. */
  serving: ServerResponse | undefined
  waiting: [IncomingMessage, ServerResponse][]
  /** Set when unreadable bytes have arrived: called after the last response that is due. */
  refuse?: () => void
  next(): void
}

const connections = new WeakMap<Socket, Connection>()

/**
 * A server with the time limits of the budgets. It handles a request when the response before it has left: Node would
 * handle all requests of one read at once, and keep the responses for a client that does not read. It closes a
 * connection on which more than PIPELINED requests wait. Bytes that are not HTTP go to the event `clientError`.
 */
export function createHttpServer(handle: Handle): Server {
  const options = {
    IncomingMessage: countArriving(),
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    // Late connections are closed together: at one check a second, 9,900 idle ones stopped all others for 0.5 s.
    connectionsCheckingInterval: 100,
    optimizeEmptyRequests: true,
  }
  const server = http.createServer(options, oneAtATime(handle))
  return server.on('connection', stopWhenClosed).setTimeout(IDLE_MS, closeIdle)
}

/**
 * Node would also close connections whose clients wait, such as for a move of the clock over many payments, and a
 * connection whose next request came while the process was busy or suspended: those bytes are read first.
 */
function closeIdle(socket: Socket): void {
  const { bytesRead } = socket
  setImmediate(() => {
    const response = connections.get(socket)?.serving
    const isWaitedFor = response?.req.complete && !response.headersSent
    if (!isWaitedFor && socket.bytesRead === bytesRead) socket.destroy()
  })
}

/** Node's parser of a connection. Node uses it again for another connection. */
type Parser = {
  /** Called for each request. A result of 2 stops the parser, as for an upgrade. */
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
  /** The callback at `kOnBody` is called for each chunk. */
  [callback: number]: unknown
  constructor: { kOnBody: number }
}

type ParsedSocket = Socket & { parser?: Parser }

/**
 * Lets the parser drop the rest of a body, until the returned function is called or the connection closes. Otherwise
 * Node copies each chunk: chunks of one byte from 1,000 connections stopped all others for 8 s.
 */
function dropBody(socket: ParsedSocket): () => void {
  const { parser } = socket
  if (!parser) return () => {}
  const { kOnBody } = parser.constructor
  const onBody = parser[kOnBody]
  parser[kOnBody] = undefined
  const take = () => {
    parser[kOnBody] = onBody
    socket.off('close', take)
  }
  socket.once('close', take)
  return take
}

/**
 * Stops the parser of a closed connection, which would go on with the bytes that it has read: a read of 64 KB can have
 * 1,800 requests. The requests of 300 connections took 1 GB and stopped all others for 3 s.
 */
function stopWhenClosed(socket: ParsedSocket): void {
  const { parser } = socket
  const onIncoming = parser?.onIncoming
  if (!parser || !onIncoming) return
  parser.onIncoming = (request, keepAlive) => {
    const outcome = onIncoming(request, keepAlive)
    return socket.destroyed ? 2 : outcome
  }
}

/**
 * A class of requests that limit their bodies as these arrive, also before anything reads them. A body in too many
 * pieces closes its connection. Beyond its account's share of ARRIVING_BYTES a body is dropped: its request gets 503.
 */
function countArriving(): typeof IncomingMessage {
  const shares = createShares(ARRIVING_BYTES)
  return class extends http.IncomingMessage {
    private pieces = 0
    private bytes = 0
    private owner = ''
    private takeBodies?: () => void

    override push(piece: Buffer | null): boolean {
      if (piece === null) {
        this.takeBodies?.()
        return super.push(null)
      }
      this.pieces += 1
      if (this.pieces > BODY_PIECES) {
        this.takeBodies ??= dropBody(this.socket)
        this.socket.destroy()
        return false
      }
      const bytes = this.bytes + piece.length + BYTES_PER_PIECE
      const more = counted(bytes) - counted(this.bytes)
      if (!this.isCut && more > 0 && !shares.hasSpace(this.owner, more)) {
        this.isCut = true
        this.takeBodies ??= dropBody(this.socket)
        // The body is already being read, or http/fastify.ts will see `isCut` before it begins.
        if (this.listenerCount('error') > 0) this.emit('error', overloaded())
      }
      if (this.isCut) return true
      this.bytes = bytes
      shares.add(this.owner, more)
      return super.push(piece)
    }

    override arriveFor(owner: string): void {
      shares.add(this.owner, -counted(this.bytes))
      this.owner = owner
      shares.add(owner, counted(this.bytes))
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
      shares.add(this.owner, -counted(this.bytes))
      this.bytes = 0
      super._destroy(error, done)
    }
  }
}

const counted = (bytes: number): number => Math.max(0, bytes - SMALL_BYTES)

function oneAtATime(handle: Handle): Handle {
  let waitingInAll = 0

  function open(socket: Socket): Connection {
    const connection: Connection = {
      serving: undefined,
      waiting: [],
      next() {
        connection.serving = undefined
        const { waiting, refuse } = connection
        const isClosed = socket.destroyed
        const [request, response] = (!isClosed && waiting.shift()) || []
        waitingInAll -= isClosed ? waiting.splice(0).length : Number(request !== undefined)
        if (request && response && (request.complete || !refuse))
          serve(connection, request, response)
        else refuse?.()
      },
    }
    connections.set(socket, connection)
    return connection
  }

  function serve(connection: Connection, request: IncomingMessage, response: ServerResponse) {
    connection.serving = response
    response.on('close', connection.next)
    handle(request, response)
  }

  return (request, response) => {
    const { socket } = request
    const connection = connections.get(socket) ?? open(socket)
    const { serving, waiting } = connection
    if (!serving) return serve(connection, request, response)
    if (waiting.length === PIPELINED || waitingInAll === PIPELINED_IN_ALL) {
      socket.destroy()
      return
    }
    waiting.push([request, response])
    waitingInAll += 1
  }
}

/** The statuses of errors below HTTP, by Node's names for them. All other errors are bad requests: 400. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/**
 * Answers bytes that are not HTTP, too long headers and slow clients with a bare status, after the valid requests before
 * them, and closes. Logs nothing, because the error contains the bytes: test/contract/http/connections.test.ts.
 */
export function refuseUnreadable({ code = '' }: { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = statuses[code] ?? 400
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`
  const refuse = () =>
    socket.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
  const connection = connections.get(socket)
  // An incomplete request never gets a response: its body contains the unreadable bytes.
  const isDue = connection?.serving?.req.complete || connection?.waiting.length
  if (!connection || !isDue) refuse()
  else connection.refuse ??= refuse
}
