import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { isBelow } from './areas.ts'

export type Part = {
  /** Handles a request below its prefixes. Returns false for any other. */
  takes(raw: IncomingMessage, response: ServerResponse): boolean
  close(): Promise<void> | undefined
}

/**
 * A part of the service that is an app of its own: its code is loaded, and `make` called, for the first request to it.
 * A service that is only paid with starts faster and takes less memory: P7, P8.
 */
export function createPart(
  prefixes: readonly string[],
  make: () => Promise<FastifyInstance>,
  onFault: (error: unknown) => void,
): Part {
  let made: Promise<FastifyInstance> | undefined
  async function makeReady(): Promise<FastifyInstance> {
    const app = await make()
    await app.ready()
    return app
  }
  return {
    takes(raw, response) {
      const { url = '' } = raw
      if (url.startsWith('/v1/') || !prefixes.some(prefix => isBelow(prefix, url))) return false
      made ??= makeReady()
      made.then(
        app => app.routing(raw, response),
        error => {
          onFault(error)
          response.writeHead(500).end()
        },
      )
      return true
    },
    close: () =>
      made?.then(
        app => app.close(),
        () => {},
      ),
  }
}
