import net from 'node:net'

/** A response; `head` is the status line and the headers. */
export type Answer = { status: number; head: string; body: string }

/** Sends the bytes of one request and returns the response on the same connection. */
export type Send = (request: string) => Promise<Answer>

/**
 * One unit of load: a request or a whole journey. It throws if a response is wrong. `judge` is called after
 * the load, and throws if the responses contradict each other.
 */
export type Work = ((send: Send) => Promise<void>) & { judge?: () => void }

/** The result of a load run: units per second, and the duration of each unit in milliseconds. */
export type Run = { rate: number; units: number; times: number[] }

export type Connection = { send: Send; close: () => void }

/**
 * A closed loop: each connection does one unit after another. A wrong response rejects. It uses bare
 * sockets, because a client on node:http would be slower than the servers it measures.
 */
export async function load(
  port: number,
  connections: number,
  limit: ({ seconds: number } | { units: number }) & { mayRest?: boolean },
  work: Work,
): Promise<Run> {
  const rest = limit.mayRest || connections < MANY ? () => {} : lookForAnswers()
  const open = await Promise.all(Array.from({ length: connections }, () => connect(port)))
  const times: number[] = []
  const units = 'units' in limit ? limit.units : Infinity
  const began = performance.now()
  const until = 'seconds' in limit ? began + limit.seconds * 1000 : Infinity
  let started = 0
  try {
    await Promise.all(
      open.map(async ({ send }) => {
        for (let now = performance.now(); now < until && started < units; ) {
          started++
          await work(send)
          const done = performance.now()
          times.push(done - now)
          now = done
        }
      }),
    )
  } finally {
    rest()
    for (const { close } of open) close()
  }
  const rate = (times.length / (performance.now() - began)) * 1000
  work.judge?.()
  return { rate, units: times.length, times }
}

/** Milliseconds. */
const SHORT_SLEEP = 0.2
/** Fewer connections do not poll: most responses would arrive while the process sleeps. */
const MANY = 16

/** Chunks of responses that arrived in this turn of the event loop. */
let arrived = 0

/**
 * Polls for responses: after a turn of the event loop without any, the process sleeps for 0.2 ms. A client that blocks
 * must be woken by the server's write, which in a virtual machine costs the server more than the write itself. A client
 * that never sleeps would take a core from a server that can use two. `mayRest` turns polling off, if a third process
 * needs the core.
 */
function lookForAnswers(): () => void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  let turn = setImmediate(function again() {
    if (arrived === 0) Atomics.wait(sleeper, 0, 0, SHORT_SLEEP)
    arrived = 0
    turn = setImmediate(again)
  })
  return () => clearImmediate(turn)
}

export function percentile(times: number[], share: number): number {
  const sorted = Float64Array.from(times).sort()
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0
}

/** Bytes of the read buffer. */
const PIECE = 16_384

/** One kept-alive connection with one request on it at a time. */
export function connect(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
    let received = ''
    let closing = false

    const buffer = Buffer.alloc(PIECE)
    function take(size: number): boolean {
      arrived++
      // latin1 keeps one character per byte, so lengths are those of the wire.
      received += buffer.toString('latin1', 0, size)
      const answer = read(received)
      if (answer) {
        received = ''
        waiting?.resolve(answer)
        waiting = undefined
      }
      return true
    }

    // `onread` bypasses the socket's stream, whose work would take time from the server on the same cores.
    const onread = { buffer, callback: take }
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, onread })
    const fail = (error: Error) => {
      reject(error)
      waiting?.reject(error)
    }
    socket.on('error', fail)
    socket.on('close', () => closing || fail(new Error('the server closed the connection')))
    const send: Send = request =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request, 'latin1')
      })
    const close = () => {
      closing = true
      socket.destroy()
    }
    socket.on('connect', () => resolve({ send, close }))
  })
}

export const LENGTH = /\r\ncontent-length: (\d+)/i
const CHUNKED = /\r\ntransfer-encoding: chunked/i

function read(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = text.slice(0, end)
  const status = Number(text.slice(9, 12))
  const length = LENGTH.exec(head)?.[1]
  if (length !== undefined) {
    const body = text.slice(end + 4)
    return body.length >= Number(length) ? { status, head, body } : undefined
  }
  if (!CHUNKED.test(head)) return { status, head, body: '' }
  return text.endsWith('\r\n0\r\n\r\n') || text.endsWith('\r\n\r\n0\r\n\r\n')
    ? { status, head, body: unchunk(text.slice(end + 4)) }
    : undefined
}

function unchunk(text: string): string {
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (!size) return body
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
}

export const headerLines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** The text of a request in HTTP/1.1; the body is ASCII. */
export function request(method: string, path: string, headers: string, body = ''): string {
  const length = method === 'GET' ? '' : `Content-Length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${length}\r\n${body}`
}
