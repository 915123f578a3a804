import assert from 'node:assert/strict'
import http from 'node:http'
import { pipeline } from 'node:stream'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../support/client.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { listen } from '../../support/ports.ts'
import { createPostgresDatabase } from '../../support/postgres.ts'
import { startCommand } from '../../support/process.ts'
import { startReceiver } from '../../support/receiver.ts'
import { history } from '../../support/subscriber.ts'
import { KEY, serve } from './serve.ts'

test('farthing listen behind a balancer with two instances receives every message once', async t => {
  const url = await createPostgresDatabase()
  const start = async () => (await serve(t, url)).service.baseUrl
  const balancer = await startRoundRobin([await start(), await start()])
  const receiver = await startReceiver({ plain: true })
  const env = { FARTHING_API_KEY: KEY, FARTHING_URL: balancer.url }
  const args = ['listen', '--forward-to', receiver.url]
  const listener = await startCommand({ args, env }, 'Ready')
  t.after(async () => {
    await listener.kill()
    await balancer.close()
    await receiver.close()
  })
  // The first payment follows *Ready* at once.
  const api = createClient([balancer.url], KEY)
  const client = async () => {
    for (let nth = 0; nth < 10; nth++) await cancelledPayment(api)
  }
  await Promise.all([client(), client(), client()])
  const ids = () => receiver.requests.map(({ body }) => JSON.parse(body).webhook_message_id)
  while (new Set(ids()).size < 30) await setTimeout(20)
  const [webhook] = (await api.get('/v1/webhooks')).body.results
  for (const { webhook_message_id, attempts } of await history(api, webhook)) {
    const arrivals = ids().filter(id => id === webhook_message_id).length
    // On a slow machine an attempt may be over before the response to it, and is repeated.
    assert.ok(arrivals <= attempts.length, `${arrivals} arrivals of ${attempts.length} attempts`)
  }
})

/** A proxy on loopback that brings each request to the next of several services, as a load balancer does. */
async function startRoundRobin(targets: string[]) {
  const agent = new http.Agent({ keepAlive: true })
  let requests = 0
  const server = http.createServer((request, response) => {
    const { hostname, port } = new URL(targets[requests++ % targets.length] ?? '')
    const { method, url: path, headers } = request
    const behind = http.request({ agent, hostname, port, method, path, headers })
    behind.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response, () => {})
    })
    behind.on('error', () => response.destroy())
    response.on('close', () => {
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
