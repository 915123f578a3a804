/** A proxy on loopback that brings each request to the next of several services, as a load balancer does. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** A request that has no response after `cutAfter` milliseconds is ended, and the client gets 504. */
export async function startRoundRobin(targets: string[], cutAfter = 60_000) {
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server has one
    async close() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
