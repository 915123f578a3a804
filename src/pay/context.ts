import type { Config } from '../core/config.ts'
import type { Ports } from '../core/ports.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** What every slice gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
}
