import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { Server } from 'node:net'
import { devNull } from 'node:os'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { type Account, ownerOf } from '../../core/account.ts'
import { CONNECTIONS } from '../../core/budgets.ts'
import { overloaded, unreadable } from '../../core/errors.ts'
import { workFor } from '../../core/guests.ts'
import type { AreaName } from './areas.ts'
import { createBeginning } from './beginning.ts'
import { hasBody } from './body.ts'
import { createLeaving } from './leaving.ts'
import { createPlaces, type Place } from './places.ts'

/** The most connections that a stop still accepts. Clients that open one for each request would keep it from ending. */
const MAX_ACCEPTING = 200

type Sent = (error: Error | null, payload?: unknown) => void

export type Limits = ReturnType<typeof createLimits>

/** Limits the requests in progress, which have arrived with their body. A stop begins by aborting `stopping`. */
export function createLimits({ server, log }: FastifyInstance, stopping: AbortController) {
  const places = createPlaces()
  const begin = createBeginning(server)
  const leaving = createLeaving()
  server.maxConnections = CONNECTIONS
  reportExhaustion(server, line => log.warn(line))
  return {
    /** Adds the hook that counts responses and, during a stop, closes connections. Call it before there are routes. */
    watch(app: FastifyInstance) {
      app.addHook('onSend', (request, reply, payload, done) => {
        // Only once this instance listens no longer, so that the client's next connection goes to another instance.
        if (!server.listening) void reply.header('connection', 'close')
        const error = leaving.leave(request, reply, payload)
        if (error) done(error)
        else done(null, payload)
      })
    },
    /**
     * Takes a place of the account, to which all later work belongs, and begins at its turn. Beyond the limits 503 with
     * Retry-After. A request without key and body takes one of few places, so only at its turn.
     */
    enter:
      (area: AreaName) =>
      (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
        const refuse = () => done(request.socket.destroyed ? unreadable() : overloaded())
        const go = (place: Place | undefined) => {
          if (!place) return refuse()
          request.place = place
          workFor(place, done)
        }
        const goInTurn = (place: Place | undefined) =>
          place ? begin(place.owner, () => go(place)) : refuse()
        const enterUnnamed = (then: typeof go) => {
          const place = places.enterUnnamed(reply.raw)
          if (place instanceof Promise) place.then(then, done)
          else then(place)
        }
        const account: Account | undefined = request.account // there is none without a key
        if (account) goInTurn(places.enter(ownerOf(account), area))
        else if (hasBody(request)) enterUnnamed(goInTurn)
        else begin('', () => enterUnnamed(go))
      },
    /** Gives the place up once there is a response that no plan delays, whether or not the client is still there. */
    leave(request: FastifyRequest, _reply: FastifyReply, payload: unknown, done: Sent) {
      request.place?.leave()
      request.place = null
      done(null, payload)
    },
    takeTurn: leaving.takeTurn,
    /**
     * Accepts waiting connections, and closes each connection with its next response, which warns the client: otherwise
     * a request on its way would be lost. Resolves when all are closed, or after `graceMs` milliseconds.
     */
    async drain(graceMs: number) {
      stopping.abort()
      await acceptWaiting(server)
      const closed = once(server, 'close')
      // http.Server.close would also cut connections that are between two requests.
      Server.prototype.close.call(server)
      await Promise.race([closed, setTimeout(graceMs, undefined, { ref: false })])
      // Reads the bytes that have arrived: in a process that was held up, the timer fires before that.
      await setImmediate()
    },
  }
}

/**
 * Resolves once no connection waits to be accepted: the system would reset it when the server closes. Node accepts one
 * in each turn of the event loop. The first turn does not count: it may not have asked for connections yet.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = true
  const note = () => {
    accepted = true
  }
  await setImmediate()
  server.on('connection', note)
  for (let turn = 0; accepted && turn < MAX_ACCEPTING; turn++) {
    accepted = false
    await setImmediate()
  }
  server.off('connection', note)
}

/** Milliseconds between two checks, and checks between two lines of the log. */
const CHECK_INTERVAL = 1_000
const LOOKS_PER_LINE = 60

/** Warns of closed connections, once a minute at most. Opens a file each second: Node reports no lack of files. */
function reportExhaustion(server: Server, warn: (line: string) => void): void {
  let refused = 0
  let looksToSkip = 0
  server.on('drop', () => {
    refused += 1
  })

  async function look(): Promise<void> {
    looksToSkip -= 1
    if (looksToSkip >= 0) return
    const line =
      refused > 0
        ? `connections were closed as they came: ${refused}, because too many are open`
        : await filesLine(server)
    if (line === undefined) return
    warn(line)
    refused = 0
    looksToSkip = LOOKS_PER_LINE - 1
  }

  server.once('listening', () => {
    const looking = setInterval(look, CHECK_INTERVAL).unref()
    server.once('close', () => clearInterval(looking))
  })
}

async function filesLine(server: Server): Promise<string | undefined> {
  try {
    closeSync(openSync(devNull, 'r'))
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // fs throws no other kind
    if (code !== 'EMFILE' && code !== 'ENFILE') return undefined
    const count = await promisify(server.getConnections).call(server)
    return `new connections are closed as they come, because the process may open no further file: ${count} connections are open`
  }
}
