/** Clients that take their time, and what becomes of them. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The two ways of being slow: in the middle of the headers, and in the middle of the body. */
export function slowRequests(key: string): string[] {
  const head = `POST /v1/payments HTTP/1.1\r\nHost: farthing.test\r\nAuthorization: Bearer ${key}\r\n`
  return [
    `${head}X-Slow: `,
    `${head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"`,
  ]
}

export async function openSocket(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Sends `head`, then one byte every half second until it is cut off; answers what it was sent, and when. */
export async function drip(baseUrl: string, head: string): Promise<{ answer: string; ms: number }> {
  const begun = performance.now()
  const socket = await openSocket(baseUrl)
  let answer = ''
  socket.setEncoding('utf8').on('data', text => {
    answer += text
  })
  socket.write(head)
  const dripping = setInterval(() => socket.write('x'), 500)
  await new Promise(resolve => socket.on('error', () => {}).on('close', resolve))
  clearInterval(dripping)
  return { answer, ms: performance.now() - begun }
}
