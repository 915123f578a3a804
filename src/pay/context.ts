import type { FastifyRequest } from 'fastify'
import type { Config } from '../core/config.ts'
import type { Ports } from '../core/ports.ts'
import { type RecordEffects, recordEffectsOf } from '../platform/http/request-state.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** What every slice gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** Of one request or action: receives the payment, and the events and messages that it caused, for the record. */
  recordEffects?: RecordEffects | undefined
}

export const contextOf = (request: FastifyRequest, context: Context): Context => ({
  ...context,
  recordEffects: recordEffectsOf(request),
})
