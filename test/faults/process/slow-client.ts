/** Clients that send a byte now and then. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { open } from '../../support/raw-http.ts'

/** A request that stays in the middle of its headers, and one that stays in the middle of its body. */
export function slowRequests(key: string): string[] {
  const head = `POST /v1/payments HTTP/1.1\r\nHost: farthing.test\r\nAuthorization: Bearer ${key}\r\n`
  return [
    `${head}X-Slow: `,
    `${head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"`,
  ]
}

export type SlowClient = {
  connected: Promise<unknown>
  isOpen(): boolean
  /** What the service has sent when it closes the connection. */
  answer: Promise<string>
}

/** Sends `head`, then one byte every half second until the service closes the connection. */
export function drip(baseUrl: string, head: string): SlowClient {
  const connected = open(baseUrl)
  let isOpen = true
  async function sendSlowly(): Promise<string> {
    const socket = await connected
    let answer = ''
    socket.setEncoding('utf8').on('data', text => {
      answer += text
    })
    socket.on('close', () => {
      isOpen = false
    })
    socket.write(head)
    while (isOpen) {
      await setTimeout(500)
      // An answer that has come is read first: a write to a closed connection would discard it.
      await setImmediate()
      if (answer === '') socket.write('x')
    }
    return answer
  }
  return { connected, isOpen: () => isOpen, answer: sendSlowly() }
}
