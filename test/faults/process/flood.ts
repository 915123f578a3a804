/** The thread of one flood against the service at `baseUrl`, until it is terminated. test/long/floods.ts measures beside it. */
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { createClient } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'

export type Flood = 'unread pages' | 'bodies in pieces' | 'hanging webhooks' | 'answers in pieces'
export type FloodData = { flood: Flood; baseUrl: string; key: string; receiverPort: number }

const { flood, baseUrl, key, receiverPort } = workerData as FloodData // from floods.ts
const { hostname, port } = new URL(baseUrl)

/** Keeps `count` connections open, each of which sends `bytes` again and again, and reads only if `reads`. */
function keepSending(count: number, bytes: () => string, reads: boolean): void {
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname)
    const send = () => {
      while (socket.writable && socket.write(bytes())) if (socket.writableLength > 1e6) break
    }
    socket
      .setNoDelay(true)
      .on('connect', send)
      .on('drain', send)
      .on('error', () => {})
    socket.on('close', () => void setTimeout(20).then(() => keepSending(1, bytes, reads)))
    if (reads) socket.resume()
  }
}

const PAGES = `GET /docs HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(64)
const BODY = `POST /v1/payments HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`

/** 100 webhooks of an account, and 20 confirms at once, again and again. */
async function keepConfirming(answer: (port: number) => void): Promise<void> {
  answer(receiverPort)
  const api = createClient([baseUrl], key)
  for (let i = 0; i < 100; i++)
    await api.post('/v1/webhooks', { callback_url: `http://localhost:${receiverPort}/${i}` })
  const pay = async () => {
    for (;;) await payOnPages(api, await api.createPayment()).catch(() => setTimeout(50))
  }
  await Promise.all(Array.from({ length: 20 }, pay))
}

if (flood === 'unread pages') keepSending(200, () => PAGES, false)
else if (flood === 'bodies in pieces')
  keepSending(100, () => BODY + '1\r\nx\r\n'.repeat(10_000), true)
else
  await keepConfirming(receiver => {
    createServer((request, response) => {
      request.resume()
      if (flood === 'hanging webhooks') return
      response.socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      response.socket?.write('1\r\nx\r\n'.repeat(60_000))
    }).listen(receiver, 'localhost')
  })
