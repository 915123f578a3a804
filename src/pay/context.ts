import type { FastifyRequest } from 'fastify'
import type { Config } from '../core/config.ts'
import type { Ports } from '../core/ports.ts'
import type { Signals } from '../core/signal.ts'
import type { PlannedScenario } from './payments/commands.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** What every slice gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** The scenario that a plan sets for the payment which the request creates; undefined if no plan may set one. */
  scenarioFor: (request: FastifyRequest) => PlannedScenario | undefined
  /** Wake requests of this process that wait for a row. */
  signals: Signals
}
