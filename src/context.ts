import type { Config } from './config.ts'
import type { Ports } from './ports.ts'
import type { Deliveries } from './webhooks/deliver.ts'

/** What every slice is handed: the ports, the configuration, and the way to webhooks. */
export type Farthing = Ports & { config: Config; deliveries: Deliveries }
