import type { Socket } from 'node:net'
import { http } from './node-http.ts'

/** What Node calls the faults that are not simply a bad request. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/**
 * Answers what is no HTTP, is too long or comes too slowly with a bare status, and closes the
 * connection. Says nothing to the log: the error holds the bytes that came, keys and tokens among them.
 */
export function refuseUnreadable({ code = '' }: { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = statuses[code] ?? 400
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`
  socket.end(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
