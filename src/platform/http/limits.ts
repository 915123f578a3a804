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

/** Waiting connections that a stop accepts at most: clients that open one for each request would keep it from ending. */
const MAX_ACCEPTING = 200

type Sent = (error: Error | null, payload?: unknown) => void

export type Limits = ReturnType<typeof createLimits>

/** Limits work at once. Bodies that still arrive use up no places. `stopping` is aborted as a stop begins. */
export function createLimits({ server, log }: FastifyInstance, stopping: AbortController) {
  const places = createPlaces()
  const begin = createBeginning()
  const leaving = createLeaving()
  server.maxConnections = CONNECTIONS
  reportExhaustion(server, line => log.warn(line))
  return {
    /** Adds the hook that counts responses and, during a stop, closes connections. Call it before there are routes. */
    watch(app: FastifyInstance) {
      app.addHook('onSend', (request, reply, payload, done) => {
        // Only once this instance listens no longer, so that the client's next connection goes to another one.
        if (!server.listening) void reply.header('connection', 'close')
        const error = leaving.leave(request, reply, payload)
        if (error) done(error)
        else done(null, payload)
      })
    },
    /**
     * Takes a place of the account, to which all later work belongs, and begins when it is its turn. Beyond the limits 503
     * with Retry-After. A request without key and body, of which few places are left, takes one only then.
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
     * Accepts the connections that wait, and closes each open one with its next response. Resolves when all are closed, or
     * after `graceMs`: without a warning a request that has not arrived yet would be lost.
     */
    async drain(graceMs: number) {
      stopping.abort()
      await acceptWaiting(server)
      const closed = once(server, 'close')
      // http.Server.close would also cut connections that are between two requests.
      Server.prototype.close.call(server)
      await Promise.race([closed, setTimeout(graceMs, undefined, { ref: false })])
      // Reads what has arrived: in a process that was held up, the timer fires first.
      await setImmediate()
    },
  }
}

/**
 * Resolves once no connection waits: the system resets those when the server closes. Node accepts one in each turn of the
 * event loop. The first turn does not count, because it may not have asked for connections yet.
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

/** Warns at most once a minute of closed connections. Node does not report the lack of files: it opens one each second. */
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
