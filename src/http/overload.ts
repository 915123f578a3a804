import type { FastifyInstance, FastifyRequest } from 'fastify'
import { overloaded } from '../errors.ts'

/**
 * Requests that may be at work at once. At the thousands a second that one process answers, those
 * that wait longest wait some hundreds of milliseconds; more would only make everybody wait longer.
 */
export const MOST_AT_WORK = 1_000

/** Connections that may be open at once; more are closed as they come. */
export const MOST_CONNECTIONS = 10_000

/** What whoever balances instances must always be told. */
const HEALTH = new Set(['/healthz', '/readyz'])

/**
 * Refuses requests beyond what the service can do, with 503 and Retry-After, so that those it has
 * taken are answered in time. `waiting` says how many requests only wait for the answers of
 * webhooks: they cost no work, and a receiver that hangs must not use up everybody's places.
 */
export function refuseOverload(app: FastifyInstance, waiting: () => number): void {
  let inFlight = 0
  app.server.maxConnections = MOST_CONNECTIONS
  app.addHook('onRequest', (request, reply, done) => {
    inFlight += 1
    if (inFlight - waiting() <= MOST_AT_WORK || isHealth(request)) return done()
    void reply.header('Retry-After', '1')
    done(overloaded())
  })
  app.addHook('onResponse', (_request, _reply, done) => {
    inFlight -= 1
    done()
  })
}

const isHealth = ({ routeOptions }: FastifyRequest): boolean => HEALTH.has(routeOptions.url ?? '')
