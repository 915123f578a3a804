import { once } from 'node:events'
import type { Server } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { linkTo } from '../http/addresses.ts'
import { methodOf } from '../http/methods.ts'
import { http } from '../http/node-http.ts'
import { routeOf } from '../http/server.ts'
import type { AttemptResult, Send } from '../ports.ts'
import { createRegistry, type Registry } from './prometheus.ts'

/** What the service tells the metrics while it works. No label grows with the data. */
export type Metrics = {
  /** Counts the requests of a server; to be called before it has routes. */
  watch(app: FastifyInstance): void
  /** A commit, and how many writes shared it. */
  committed(writes: number): void
  /** The same Send, counted. */
  counting(send: Send): Send
  /**
   * Answers GET /metrics on a port of its own, so that who may see the service need not see its
   * metrics. Answers the address, or throws one line when the port cannot be had.
   */
  listen(host: string, port: number): Promise<string>
  close(): void
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const WRITES = [1, 2, 4, 8, 16, 32]
const MILLISECOND = 1e-3
const MICROSECOND = 1e-6
const NANOSECOND = 1e-9

export function createMetrics(): Metrics {
  const registry = createRegistry()
  const requests = registry.counter('farthing_http_requests_total', 'Requests answered.', [
    'method',
    'route',
    'status',
  ])
  const durations = registry.histogram(
    'farthing_http_request_duration_seconds',
    'Time from the request to the end of its answer, deliveries to webhooks included.',
    ['method', 'route'],
    SECONDS,
  )
  const commits = registry.histogram(
    'farthing_commit_writes',
    'Writes that shared a commit; the count is the number of commits.',
    [],
    WRITES,
  )
  const attempts = registry.counter('farthing_webhook_attempts_total', 'Attempts to deliver.', [
    'result',
  ])
  const delay = readProcess(registry)

  const server = http.createServer((request, response) => {
    const found = request.method === 'GET' && request.url?.split('?', 1)[0] === '/metrics'
    response.writeHead(found ? 200 : 404, { 'Content-Type': 'text/plain; version=0.0.4' })
    response.end(found ? registry.text() : 'only GET /metrics\n')
    if (found) delay.reset()
  })

  return {
    watch(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const method = methodOf(request)
        const route = routeOf(request) ?? 'none'
        requests.increase([method, route, String(reply.statusCode)])
        durations.observe([method, route], reply.elapsedTime * MILLISECOND)
        done()
      })
    },
    committed: writes => commits.observe([], writes),
    counting: send => async message => {
      const result = await send(message)
      attempts.increase([resultOf(result)])
      return result
    },
    async listen(host, port) {
      await listenOn(server, host, port)
      return `${linkTo(host, server)}/metrics`
    },
    close() {
      delay.disable()
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Readings of the process. Answers the monitor of its event loop, which measures until it is disabled. */
function readProcess(registry: Registry) {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  registry.reading(
    'farthing_event_loop_delay_p99_seconds',
    'Time between two looks at the event loop, 10 ms where nothing delays it: 99 of 100 were shorter.',
    () => delay.percentile(99) * NANOSECOND,
  )
  registry.reading(
    'farthing_event_loop_delay_max_seconds',
    'The longest time between two looks at the event loop since the last reading.',
    () => delay.max * NANOSECOND,
  )
  registry.reading(
    'process_cpu_seconds_total',
    'Processor time used.',
    () => {
      const { user, system } = process.cpuUsage()
      return (user + system) * MICROSECOND
    },
    'counter',
  )
  registry.reading('process_resident_memory_bytes', 'Memory in use.', process.memoryUsage.rss)
  registry.reading('farthing_uptime_seconds', 'Time since the start.', process.uptime)
  return delay
}

/** The status as in `2xx`, or why there is none: a receiver's own words would be without number. */
const resultOf = ({ status_code, result }: AttemptResult): string =>
  status_code === null ? result : `${Math.floor(status_code / 100)}xx`

async function listenOn(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // a server emits no other kind
    const reason =
      code === 'EADDRINUSE' ? 'is in use: set another one' : `cannot be used: ${message}`
    throw new Error(`FARTHING_METRICS_PORT ${port} on ${host} ${reason}`)
  }
}
