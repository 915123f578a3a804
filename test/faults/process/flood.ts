/** Floods against a service. As a thread it makes one until terminated; test/long/floods.ts measures beside it. */
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, workerData } from 'node:worker_threads'
import { createClient } from '../../support/client.ts'
import { payOnPages } from '../../support/journeys.ts'
import { listen } from '../../support/ports.ts'

/** `flood` is a key of `floods`. */
export type FloodData = { flood: string; baseUrl: string; key: string }

/** Keeps `count` connections open, each of which sends `bytes` again and again, and reads only if `reads`. */
function keepSending(baseUrl: string, count: number, bytes: string, reads: boolean): void {
  const { hostname, port } = new URL(baseUrl)
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname)
    const send = () => {
      while (socket.writable && socket.write(bytes)) if (socket.writableLength > 1e6) break
    }
    socket
      .setNoDelay(true)
      .on('connect', send)
      .on('drain', send)
      .on('error', () => {})
    socket.on('close', () => void setTimeout(20).then(() => keepSending(baseUrl, 1, bytes, reads)))
    if (reads) socket.resume()
  }
}

/** 100 webhooks of an account at one receiver, and 20 confirms at once, again and again. */
async function keepConfirming({ baseUrl, key }: FloodData, answer: RequestListener): Promise<void> {
  const receiver = createServer((request, response) => answer(request.resume(), response))
  const port = await listen(receiver, 'localhost')
  const api = createClient([baseUrl], key)
  for (let i = 0; i < 100; i++)
    await api.post('/v1/webhooks', { callback_url: `http://localhost:${port}/${i}` })
  const pay = async () => {
    for (;;) await payOnPages(api, await api.createPayment()).catch(() => setTimeout(50))
  }
  await Promise.all(Array.from({ length: 20 }, pay))
}

const PAGES = 'GET /docs HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(64)
const BODY =
  'POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'

export const floods: Record<string, (data: FloodData) => unknown> = {
  'unread pages': ({ baseUrl }) => keepSending(baseUrl, 200, PAGES, false),
  'bodies in pieces': ({ baseUrl }) =>
    keepSending(baseUrl, 100, BODY + '1\r\nx\r\n'.repeat(10_000), true),
  'hanging webhooks': data => keepConfirming(data, () => {}),
  'answers in pieces': data =>
    keepConfirming(data, (_, { socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket?.write('1\r\nx\r\n'.repeat(60_000))
    }),
}

if (!isMainThread && workerData?.flood) floods[workerData.flood]?.(workerData as FloodData) // as floods.ts sends it
