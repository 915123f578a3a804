import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

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
