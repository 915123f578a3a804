/** Messages through `farthing listen`, behind a balancer with two instances. */
import assert from 'node:assert/strict'
import http from 'node:http'
import { pipeline } from 'node:stream'
import { type Body, sendUnchecked, webPayment } from './client.ts'
import { listen } from './ports.ts'
import { createPostgresDatabase } from './postgres.ts'
import { startCommand, startProcess } from './process.ts'
import { startReceiver } from './receiver.ts'

type Options = {
  /** Payments that are cancelled, each with one message. */
  count: number
  clients: number
  /** Milliseconds after which the balancer ends a request without a response. */
  cutAfter?: number
  pause?: () => Promise<unknown>
}

export type Listened = Awaited<ReturnType<typeof listenThroughBalancer>>

const FARTHING_API_KEY = 'key-of-the-listener'
/** The key of another account, whose messages go to the receiver without the listener. */
const DIRECT_KEY = 'key-of-the-direct-account'

/** The command and the payments go through the balancer. The first payment follows *Ready* at once. */
export async function listenThroughBalancer(options: Options) {
  const { count, clients, cutAfter, pause = async () => {} } = options
  const receiver = await startReceiver({ plain: true })
  const direct = await startReceiver({ plain: true })
  const env = {
    DATABASE_URL: await createPostgresDatabase(),
    FARTHING_API_KEY,
    FARTHING_API_KEYS: `direct=${DIRECT_KEY}`,
    FARTHING_CALLBACK_HOSTS: 'localhost',
  }
  const first = await startProcess({ env })
  const services = [first, await startProcess({ env })]
  const balancer = await startRoundRobin(
    services.map(({ baseUrl }) => baseUrl),
    cutAfter,
  )
  await post(`${first.baseUrl}/v1/webhooks`, DIRECT_KEY, { callback_url: direct.url })
  const listener = await startCommand(
    {
      args: ['listen', '--forward-to', receiver.url],
      env: { FARTHING_API_KEY, FARTHING_URL: balancer.url },
    },
    'Ready',
  )
  try {
    const times: number[] = []
    const directTimes: number[] = []
    let begun = 0
    const client = async () => {
      while (begun++ < count) {
        times.push(await cancelOne(balancer.url, FARTHING_API_KEY))
        directTimes.push(await cancelOne(balancer.url, DIRECT_KEY))
        await pause()
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    const ids = receiver.requests.map(({ body }) => JSON.parse(body).webhook_message_id)
    return {
      /** The number of arrivals, repeated ones included. */
      arrived: ids.length,
      different: new Set(ids).size,
      /** Milliseconds of the requests that caused a message to the listener, ascending. */
      times: times.toSorted((a, b) => a - b),
      /** The same times for messages that Farthing sent to the receiver itself, in turn with the others. */
      directTimes: directTimes.toSorted((a, b) => a - b),
    }
  } finally {
    await listener.kill()
    await balancer.close()
    await Promise.all(services.map(service => service.terminate()))
    await Promise.all([receiver.close(), direct.close()])
  }
}

async function post(url: string, key: string, json?: object): Promise<Body> {
  const { status, body, text } = await sendUnchecked(url, { key, method: 'POST', json })
  assert.ok(status < 300, `${url} answered ${status} ${text}`)
  return body
}

/** Returns the milliseconds that the cancellation of a new payment took. */
async function cancelOne(url: string, key: string): Promise<number> {
  const { payment_id } = await post(`${url}/v1/payments`, key, webPayment)
  const began = performance.now()
  await post(`${url}/v1/payments/${payment_id}/cancel`, key)
  return performance.now() - began
}

/**
 * A proxy on loopback that brings each request to the next of several services, as a load balancer does. A request that has no
 * response after `cutAfter` milliseconds is ended, and the client gets 504.
 */
async function startRoundRobin(targets: string[], cutAfter = 60_000) {
  const agent = new http.Agent({ keepAlive: true })
  let requests = 0
  const server = http.createServer((request, response) => {
    const target = new URL(targets[requests++ % targets.length] ?? '')
    const { method, url: path, headers } = request
    const { hostname, port } = target
    const behind = http.request({ agent, hostname, port, method, path, headers })
    const cut = setTimeout(() => behind.destroy(), cutAfter)
    behind.on('response', answer => {
      clearTimeout(cut)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response, () => {})
    })
    behind.on('error', () => {
      if (!response.headersSent) response.writeHead(504).end()
    })
    response.on('close', () => {
      clearTimeout(cut)
      if (!response.writableFinished) behind.destroy()
    })
    pipeline(request, behind, () => {})
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
