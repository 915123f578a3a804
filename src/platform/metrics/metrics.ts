import { once } from 'node:events'
import type { Server } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS_CONNECTIONS } from '../../core/budgets.ts'
import type { AttemptResult, Send } from '../../core/ports.ts'
import { linkTo } from '../http/addresses.ts'
import { createHttpServer, refuseUnreadable } from '../http/connections.ts'
import { methodOf } from '../http/fastify.ts'
import { routeOf } from '../http/server.ts'

/** Label values come from closed lists, so the number of time series does not grow with the data. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'farthing_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'farthing_http_request_duration_seconds',
    help: 'Time from the request to the end of its response, deliveries to webhooks included.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const commits = new Histogram({
    name: 'farthing_commit_writes',
    help: 'Writes that shared a commit; the count is the number of commits.',
    buckets: [1, 2, 4, 8, 16, 32],
    registers,
  })
  const attempts = new Counter({
    name: 'farthing_webhook_attempts_total',
    help: 'Attempts to deliver.',
    labelNames: ['result'],
    registers,
  })
  const delay = addReadings(registry)

  const server = createHttpServer(async (request, response) => {
    const isMetrics = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics'
    response.writeHead(isMetrics ? 200 : 404, { 'Content-Type': registry.contentType })
    response.end(isMetrics ? await registry.metrics() : 'only GET /metrics\n')
    if (isMetrics) delay.reset()
  })
  server.maxConnections = METRICS_CONNECTIONS
  server.on('clientError', refuseUnreadable)

  return {
    /** Counts the requests of a server. Call it before the routes are added. */
    watch(app: FastifyInstance) {
      app.addHook('onResponse', (request, reply, done) => {
        const method = methodOf(request)
        const route = routeOf(request) ?? 'none'
        requests.inc({ method, route, status: reply.statusCode })
        durations.observe({ method, route }, reply.elapsedTime / 1_000)
        done()
      })
    },
    committed: (writes: number) => commits.observe(writes),
    counting:
      (send: Send): Send =>
      async message => {
        const result = await send(message)
        attempts.inc({ result: resultOf(result) })
        return result
      },
    /** Serves GET /metrics on a port of its own and returns the address. Throws if the port cannot be used. */
    async listen(host: string, port: number) {
      await listenOn(server, host, port)
      return `${linkTo(host, server)}/metrics`
    },
    async close() {
      delay.disable()
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Adds metrics that are computed when Prometheus reads them. The caller must disable the returned monitor. */
function addReadings(registry: Registry) {
  const registers = [registry]
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  gauge(
    'farthing_event_loop_delay_p99_seconds',
    'Time between two looks at the event loop, 10 ms where nothing delays it: 99 of 100 were shorter.',
    () => delay.percentile(99) / 1e9,
  )
  gauge(
    'farthing_event_loop_delay_max_seconds',
    'The longest time between two looks at the event loop since the last reading.',
    () => delay.max / 1e9,
  )
  gauge('process_resident_memory_bytes', 'Memory in use.', process.memoryUsage.rss)
  gauge(
    'nodejs_heap_size_used_bytes',
    'Memory in use by JavaScript objects.',
    () => process.memoryUsage().heapUsed,
  )
  gauge('farthing_uptime_seconds', 'Time since the start.', process.uptime)
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  return delay
}

const resultOf = ({ status_code, result }: AttemptResult): string =>
  status_code === null ? result : `${Math.floor(status_code / 100)}xx`

async function listenOn(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // the only kind that a server emits
    const reason =
      code === 'EADDRINUSE' ? 'is in use: set another one' : `cannot be used: ${message}`
    throw new Error(`FARTHING_METRICS_PORT ${port} on ${host} ${reason}`)
  }
}
