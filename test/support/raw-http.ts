/** HTTP over a plain socket, for requests that an HTTP client refuses to send. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Answer, withBody } from './client.ts'
import { descriptionOf } from './description.ts'

/**
 * Sends a request line and headers exactly as given, and adds Host, Connection, and the length of a body without a
 * length or chunks. The response must be as /openapi.json describes it. Its status is 0 if the bytes are not an HTTP
 * response.
 */
export async function sendRaw(baseUrl: string, head: string[], body: string | Uint8Array = '') {
  const { host } = new URL(baseUrl)
  const isSized = body.length === 0 || head.some(line => /^(content-length|transfer-)/i.test(line))
  const length = isSized ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const all = [...head, ...length, `Host: ${host}`, 'Connection: close', '', '']
  const answer = parseAnswer(await exchangeBytes(baseUrl, [all.join('\r\n'), body]))
  const [method = '', path = ''] = head[0]?.split(' ') ?? []
  // Node itself answers an invalid request, without this header.
  if (answer.headers.has('x-content-type-options'))
    (await descriptionOf(baseUrl)).check({ ...answer, method, path, sent: undefined })
  return answer
}

/** Writes these bytes to a new connection and returns all bytes until it closes. `ends` closes this side. */
export async function exchangeBytes(
  baseUrl: string,
  pieces: (string | Uint8Array)[],
  ends = false,
): Promise<Buffer> {
  const socket = await open(baseUrl)
  const received: Buffer[] = []
  socket.on('data', (data: Buffer) => received.push(data))
  for (const piece of pieces) if (piece.length > 0 && socket.writable) socket.write(piece)
  if (ends) socket.end()
  await closed(socket)
  return Buffer.concat(received)
}

/** The statuses of the answers to these requests, all written at once on one connection. */
export async function statusesOf(baseUrl: string, ...requests: string[]): Promise<string[]> {
  const text = String(await exchangeBytes(baseUrl, [requests.join('')]))
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)
}

/** Resolves when the connection is closed, normally or by an error. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>(resolve => socket.once('close', () => resolve()))
}

/** An error on the connection only closes it. */
export async function open(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket.on('error', () => {})
}

/** Parses bytes that contain one response. */
export function parseAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, Math.max(end, 0)).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  const text = bytes.toString('utf8', end + 4)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0)
  return withBody({ status, headers, text })
}
