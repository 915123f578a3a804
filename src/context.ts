import type { Config } from './config.ts'
import type { Ports } from './ports.ts'
import type { Recorder } from './recorder/recorder.ts'
import type { Deliveries } from './webhooks/deliver.ts'
import type { Listeners } from './webhooks/listeners.ts'

/** What every slice gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** undefined where nothing is recorded. */
  recorder: Recorder | undefined
  listeners: Listeners
}
