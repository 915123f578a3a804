import type { FastifyInstance, FastifyRequest } from 'fastify'
import { overloaded } from '../errors.ts'
import { isUnder, setApiHeaders } from './server.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** It is one of those at work; one that no endpoint has is answered before it would be. */
    atWork: boolean
  }
}

/** Requests that may be at work at once: they wait for the database. */
export const MOST_AT_WORK = 1_000

/**
 * Where the event loop has served so many requests without coming round, and for so long, in
 * milliseconds, those that it reads now have waited as long before it saw them.
 */
const MANY = 256
const LONGEST_TURN = 1_000
const TICK = 100

/** Connections that may be open at once; more are closed as they come. */
const MOST_CONNECTIONS = 10_000

/** What whoever balances instances must always be told. */
const HEALTH = new Set(['/healthz', '/readyz'])

/**
 * Refuses requests beyond what the service can do, with 503 and Retry-After, so that those it takes
 * are answered in time and nobody's request grows old unseen. `waiting` says how many requests only
 * wait for the answers of webhooks: they cost no work, and a receiver that hangs must not use up
 * everybody's places.
 */
export function refuseOverload(app: FastifyInstance, waiting: () => number): void {
  let atWork = 0
  let thisTurn = 0
  let turnBegan = performance.now()
  const ticking = setInterval(() => {
    thisTurn = 0
    turnBegan = performance.now()
  }, TICK).unref()

  const tooLong = () => thisTurn > MANY && performance.now() - turnBegan > LONGEST_TURN

  function leave(request: FastifyRequest): void {
    if (request.atWork) atWork -= 1
    request.atWork = false
  }

  app.decorateRequest('atWork', false)
  app.server.maxConnections = MOST_CONNECTIONS
  app.addHook('onRequest', (request, reply, done) => {
    request.atWork = true
    atWork += 1
    thisTurn += 1
    if ((atWork - waiting() <= MOST_AT_WORK && !tooLong()) || isHealth(request)) return done()
    if (isUnder('/v1', request)) setApiHeaders(reply)
    void reply.header('retry-after', '1')
    done(overloaded())
  })
  // The work is done once there is an answer, whether or not the client is still there to hear it.
  app.addHook('onSend', (request, _reply, payload, done) => {
    leave(request)
    done(null, payload)
  })
  app.addHook('onClose', async () => clearInterval(ticking))
}

const isHealth = ({ routeOptions }: FastifyRequest): boolean => HEALTH.has(routeOptions.url ?? '')
