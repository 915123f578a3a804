import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createBearer } from './accounts/bearer.ts'
import { agreementRoutes } from './agreements/routes.ts'
import type { Config } from './config.ts'
import type { Farthing } from './context.ts'
import { disputeRoutes } from './disputes/routes.ts'
import { aboutRoutes } from './docs/routes.ts'
import { noSuchEndpoint } from './errors.ts'
import { hostedRoutes, isPagePath, sendFault } from './hosted/routes.ts'
import { answerBehindBody } from './http/body.ts'
import { createDrain, type Drain } from './http/drain.ts'
import { healthRoutes } from './http/health.ts'
import { refuseOverload } from './http/limits.ts'
import { listRoutes } from './http/openapi.ts'
import {
  type AnswerUnknownPath,
  answerUnknownPaths,
  createServer,
  isUnder,
  setApiHeaders,
} from './http/server.ts'
import { authoriseRoute } from './payments/authorise-route.ts'
import { paymentRoutes } from './payments/routes.ts'
import type { Ports } from './ports.ts'
import { refundRoutes } from './refunds/routes.ts'
import { assetRoutes } from './web/asset-routes.ts'
import { type AttemptFacts, createDeliveries, type Deliveries } from './webhooks/deliver.ts'
import { webhookRoutes } from './webhooks/routes.ts'

export type App = { server: FastifyInstance; deliveries: Deliveries; drain: Drain }

/**
 * Ports and configuration in, a server that is not listening yet out: the list of what Farthing is.
 * `watch` is given the server before its routes, to add hooks of its own.
 */
export async function createApp(
  ports: Ports,
  config: Config,
  logger?: FastifyBaseLogger,
  watch?: (server: FastifyInstance) => void,
): Promise<App> {
  const onFault = (error: unknown) =>
    logger?.error({ err: error }, 'a delivery could not be recorded')
  const onAttempt = ({ result, ms, ...facts }: AttemptFacts) =>
    logger?.info(
      { ...facts, result, ms },
      `${facts.event_type} to ${facts.callback_host}: ${result}, ${ms} ms`,
    )
  const deliveries = createDeliveries({ ...ports, onFault, onAttempt })
  const farthing: Farthing = { ...ports, config, deliveries }
  const bearer = createBearer(farthing)
  const answerUnknownPath: AnswerUnknownPath = async (request, reply) => {
    if (isPagePath(request)) return sendFault(farthing, noSuchEndpoint(), request, reply)
    if (isUnder('/v1', request)) {
      setApiHeaders(reply)
      await bearer.authenticate(request, reply)
    }
    throw noSuchEndpoint()
  }
  const server = createServer(logger, answerUnknownPath)

  watch?.(server)
  const drain = createDrain(server)
  refuseOverload(server, deliveries.waiting)
  answerUnknownPaths(server, answerUnknownPath)
  answerBehindBody(server)
  const routes = listRoutes(server)
  await server.register(async api => {
    api.addHook('onRequest', (_request, reply, done) => {
      setApiHeaders(reply)
      done()
    })
    authoriseRoute(api, farthing)
    await api.register(async behindKey => {
      behindKey.addHook('onRequest', bearer.onRequest)
      paymentRoutes(behindKey, farthing)
      refundRoutes(behindKey, farthing)
      agreementRoutes(behindKey, farthing)
      disputeRoutes(behindKey, farthing)
      webhookRoutes(behindKey, farthing)
    })
  })
  await server.register(async pages => hostedRoutes(pages, farthing))
  await server.register(async open => {
    assetRoutes(open)
    healthRoutes(open, farthing, drain)
    aboutRoutes(open, farthing, routes)
  })

  return { server, deliveries, drain }
}
