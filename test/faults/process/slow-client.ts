/** Clients whose request does not end. */
import { closed, open } from '../../support/raw-http.ts'

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
  /**
   * What the service has sent when it closes the connection. A client that drips may miss it: if a byte of its crosses
   * the answer, its system may discard that.
   */
  answer: Promise<string>
}

/** Sends `head`, and then nothing or, if it `drips`, one byte every half second until the service closes the connection. */
export function sendSlowly(baseUrl: string, head: string, { drips = false } = {}): SlowClient {
  const connected = open(baseUrl)
  let isOpen = true
  async function send(): Promise<string> {
    const socket = await connected
    let answer = ''
    socket.setEncoding('utf8').on('data', text => {
      answer += text
    })
    socket.write(head)
    const dripping = drips ? setInterval(() => socket.write('x'), 500) : undefined
    await closed(socket)
    clearInterval(dripping)
    isOpen = false
    return answer
  }
  return { connected, isOpen: () => isOpen, answer: send() }
}
