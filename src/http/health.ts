import type { FastifyInstance } from 'fastify'
import type { Farthing } from '../context.ts'
import { resource } from './endpoint.ts'
import type { Drain } from './limits.ts'

/** For whoever starts, stops and balances instances; no key, no detail. */
export function healthRoutes(app: FastifyInstance, { database }: Farthing, drain: Drain): void {
  resource(app, '/healthz', {
    GET: { operation: 'readHealth', handler: async () => ({ status: 'ok' }) },
  })

  resource(app, '/readyz', {
    GET: {
      operation: 'readReadiness',
      handler: async (_request, reply) => {
        const usable = await database.check().then(
          () => true,
          () => false,
        )
        if (usable && !drain.begun()) return { status: 'ok' }
        return reply.code(503).send({ status: 'unavailable' })
      },
    },
  })

  // GOV.UK Pay's own health check: some clients ask it before they pay, and look at both.
  resource(app, '/healthcheck', {
    GET: {
      operation: 'readHealthcheck',
      handler: async () => ({ ping: { healthy: true }, deadlocks: { healthy: true } }),
    },
  })
}
