/** A client that writes a request exactly as given. */
import assert from 'node:assert/strict'
import { exchangeBytes, parseAnswer } from '../support/raw-http.ts'
import type { HostileRequest } from './hostile-requests.ts'

/** Follows each request on its connection: a service that reads a request wrongly answers this one wrongly. */
const NEXT = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** undefined if the connection was closed without a response. */
export async function sendHostile(baseUrl: string, request: HostileRequest) {
  const received = await exchangeBytes(baseUrl, [bytesOf(request, new URL(baseUrl).host), NEXT])
  const end = received.lastIndexOf('HTTP/1.1 ')
  if (end < 0) return undefined
  const answer = parseAnswer(received.subarray(0, end || undefined))
  const closes = request.headers.some(([name, value]) => name === 'Connection' && value === 'close')
  if (end > 0) assert.equal(parseAnswer(received.subarray(end)).status, 200, 'the next request')
  else
    assert.ok(closes || answer.headers.get('connection') === 'close', 'there is no next response')
  return answer
}

function bytesOf({ method, target, headers, body, chunked }: HostileRequest, host: string): Buffer {
  const hasHost = headers.some(([name]) => name === 'Host')
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(hasHost ? [] : [`Host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body.length > 0 ? [length] : []),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return Buffer.concat([head, ...(chunked && body.length > 0 ? inChunks(body) : [body])])
}

function inChunks(body: Buffer): Buffer[] {
  const half = body.length >> 1
  const pieces = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0)
  const sizeOf = ({ length }: Buffer) => Buffer.from(`${length.toString(16)};a=b\r\n`)
  const end = Buffer.from('\r\n')
  return [...pieces.flatMap(piece => [sizeOf(piece), piece, end]), Buffer.from('0\r\n\r\n')]
}
