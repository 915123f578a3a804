/** A client that writes requests exactly as given, one after another on one connection. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Answer } from '../support/client.ts'
import { parseAnswer } from '../support/raw-http.ts'
import type { HostileRequest } from './hostile-requests.ts'

export type HostileClient = {
  /** undefined: the connection was closed without a response. Throws if nothing comes for 10 seconds. */
  send(request: HostileRequest): Promise<Answer | undefined>
  close(): void
}

const LONGEST_WAIT_MS = 60_000

export function createHostileClient(baseUrl: string): HostileClient {
  const { hostname, port, host } = new URL(baseUrl)
  let socket: Socket | undefined
  let received: Buffer = Buffer.alloc(0)
  let news = Promise.withResolvers<void>()

  async function open(): Promise<Socket> {
    if (socket?.writable) return socket
    socket?.destroy()
    const opened = connect(Number(port), hostname)
    received = Buffer.alloc(0)
    opened.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data])
      news.resolve()
    })
    opened.on('close', () => {
      if (socket === opened) socket = undefined
      news.resolve()
    })
    opened.on('error', () => {})
    socket = opened
    await once(opened, 'connect')
    return opened
  }

  async function answer(isHead: boolean): Promise<Buffer | undefined> {
    const wait = AbortSignal.timeout(LONGEST_WAIT_MS)
    const late = Promise.withResolvers<never>()
    wait.addEventListener('abort', () => late.reject(new Error('no response in 60 seconds')))
    for (;;) {
      news = Promise.withResolvers()
      received = withoutContinue(received)
      const length = lengthOf(received, isHead)
      if (length !== undefined && (length <= received.length || !socket)) {
        const whole = received.subarray(0, length)
        received = received.subarray(length)
        return whole
      }
      if (!socket) return undefined
      await Promise.race([news.promise, late.promise])
    }
  }

  async function exchange(request: HostileRequest): Promise<Buffer | undefined> {
    const connection = await open()
    connection.write(bytesOf(request, host))
    return answer(request.method === 'HEAD')
  }

  return {
    async send(request) {
      const isReused = socket?.writable ?? false
      const bytes = await exchange(request)
      // The service may close an idle connection just when a request is sent on it.
      if (!bytes && isReused) return this.send(request)
      if (!bytes) return undefined
      const parsed = parseAnswer(bytes)
      // After a request to upgrade, Node does not report what it cannot parse, until it closes.
      const wantsUpgrade = request.headers.some(([name]) => name === 'Upgrade')
      if (wantsUpgrade || parsed.headers.get('connection') === 'close') socket?.destroy()
      return parsed
    },
    close: () => socket?.destroy(),
  }
}

function bytesOf({ method, target, headers, body, chunked }: HostileRequest, host: string): Buffer {
  const hasHost = headers.some(([name]) => name === 'Host')
  const framing: [string, string][] =
    body.length === 0
      ? []
      : chunked
        ? [['Transfer-Encoding', 'chunked']]
        : [['Content-Length', String(body.length)]]
  const all = [...(hasHost ? [] : [['Host', host] as const]), ...headers, ...framing]
  const lines = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return Buffer.concat([head, chunked && body.length > 0 ? inChunks(body) : body])
}

function inChunks(body: Buffer): Buffer {
  const half = body.length >> 1
  const pieces = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0)
  return Buffer.concat([
    ...pieces.flatMap(piece => [
      Buffer.from(`${piece.length.toString(16)};a=b\r\n`),
      piece,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('0\r\n\r\n'),
  ])
}

const withoutContinue = (bytes: Buffer): Buffer =>
  bytes.indexOf('HTTP/1.1 100 ') === 0 ? bytes.subarray(bytes.indexOf('\r\n\r\n') + 4) : bytes

/** The length of the first response in bytes; undefined until its headers are complete. */
function lengthOf(bytes: Buffer, isHead: boolean): number | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? []
  const [, length = '0'] = /^content-length: (\d+)$/im.exec(head) ?? []
  if (/^transfer-encoding: chunked$/im.test(head)) {
    const last = bytes.indexOf('0\r\n\r\n', end)
    return last < 0 ? undefined : last + 5
  }
  const hasBody = !isHead && status !== '204' && status !== '304'
  return end + 4 + (hasBody ? Number(length) : 0)
}
