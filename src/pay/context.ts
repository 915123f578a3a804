import type { FastifyRequest } from 'fastify'
import type { Config } from '../core/config.ts'
import type { Ports } from '../core/ports.ts'
import { type RecordEffects, recordEffectsOf } from '../platform/http/request-state.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** Every slice gets these: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** Notes for the record the payment of one request or action, and the events and messages that the request caused. */
  recordEffects?: RecordEffects | undefined
}

export const contextOf = (request: FastifyRequest, context: Context): Context => ({
  ...context,
  recordEffects: recordEffectsOf(request),
})
