import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { unexpectedFault } from '../../core/errors.ts'
import { isBelow } from './areas.ts'
import { JSON_TYPE } from './body.ts'
import { errorBodyOf } from './errors.ts'

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
    try {
      const app = await make()
      await app.ready()
      return app
    } catch (error) {
      made = undefined // the next request tries again
      throw error
    }
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
          response
            .writeHead(500, { 'content-type': JSON_TYPE })
            .end(JSON.stringify(errorBodyOf(unexpectedFault())))
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
