import type { FastifyRequest } from 'fastify'
import type { Config } from '../core/config.ts'
import type { Recorder } from '../core/exchange.ts'
import type { Ports } from '../core/ports.ts'
import type { Signals } from '../core/signal.ts'
import type { PlannedScenario } from './payments/commands.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** What every slice and tool gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** undefined where nothing is recorded. */
  recorder: Recorder | undefined
  /** Receives what went wrong in the check, which then says less: the error of a rule, or of a row that it could not read. */
  onRuleFault: (error: unknown) => void
  /** The scenario that a plan sets for the payment which the request creates; undefined if no plan may set one. */
  scenarioFor: (request: FastifyRequest) => PlannedScenario | undefined
  /** Wake requests of this process that wait for a row. */
  signals: Signals
}
