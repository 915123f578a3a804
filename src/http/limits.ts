import { Server } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { overloaded } from '../errors.ts'
import { isUnder, setApiHeaders } from './server.ts'

/** Of a request: its body is still to come, or what it asks for is being done, or neither. */
type Stage = 'none' | 'arriving' | 'atWork'

declare module 'fastify' {
  interface FastifyRequest {
    /** What it is counted as. */
    stage: Stage
  }
}

/** Requests that may be at work at once: they have arrived, and wait for the database. */
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
 * everybody's places, nor clients that are slow to send a body.
 */
export function refuseOverload(app: FastifyInstance, waiting: () => number): void {
  const count = { arriving: 0, atWork: 0 }
  let thisTurn = 0
  let turnBegan = performance.now()
  const ticking = setInterval(() => {
    thisTurn = 0
    turnBegan = performance.now()
  }, TICK).unref()

  const tooLong = () => thisTurn > MANY && performance.now() - turnBegan > LONGEST_TURN
  const tooMany = () => count.atWork - waiting() > MOST_AT_WORK

  function enter(stage: Stage, request: FastifyRequest): void {
    if (request.stage !== 'none') count[request.stage] -= 1
    if (stage !== 'none') count[stage] += 1
    request.stage = stage
  }

  /** The refusal, or undefined for what must always be answered. */
  function refuse(request: FastifyRequest, reply: FastifyReply): Error | undefined {
    if (isHealth(request)) return undefined
    if (isUnder('/v1', request)) setApiHeaders(reply)
    void reply.header('retry-after', '1')
    return overloaded()
  }

  app.decorateRequest('stage', 'none')
  app.server.maxConnections = MOST_CONNECTIONS
  app.addHook('onRequest', (request, reply, done) => {
    thisTurn += 1
    enter('atWork', request)
    done(tooMany() || tooLong() ? refuse(request, reply) : undefined)
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    enter('arriving', request)
    done(null, payload)
  })
  app.addHook('preValidation', (request, reply, done) => {
    enter('atWork', request)
    done(tooMany() ? refuse(request, reply) : undefined)
  })
  // The work is done once there is an answer, whether or not the client is still there to hear it.
  app.addHook('onSend', (request, _reply, payload, done) => {
    enter('none', request)
    done(null, payload)
  })
  app.addHook('onClose', async () => clearInterval(ticking))
}

const isHealth = ({ routeOptions }: FastifyRequest): boolean => HEALTH.has(routeOptions.url ?? '')

/**
 * How long a connection may stay quiet once the service is stopping, in milliseconds: a client that
 * is at work sends its next request in this time, and is told with the answer that it was the last.
 */
const GRACE = 500

export type Drain = {
  begun(): boolean
  /**
   * Takes no new connections, and ends each open one with its next answer. Resolves when there are
   * none left, or when those that stayed quiet may be cut. Closing a connection without such a
   * warning would lose the request that its client is sending just then.
   */
  begin(): Promise<void>
}

/** To be made before the routes: it adds a hook to all that come after it. */
export function createDrain(app: FastifyInstance): Drain {
  let begun = false
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (begun) void reply.header('connection', 'close')
    done(null, payload)
  })
  return {
    begun: () => begun,
    begin() {
      begun = true
      return new Promise(resolve => {
        setTimeout(resolve, GRACE)
        app.server.once('close', resolve)
        // Not HTTP's own close, which cuts the connections that are between two requests.
        Server.prototype.close.call(app.server)
      })
    },
  }
}
