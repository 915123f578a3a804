import type { Config } from '../app/config.ts'
import type { Deliveries } from '../pay/webhooks/deliver.ts'
import type { Listeners } from '../pay/webhooks/listeners.ts'
import type { Recorder } from '../tools/recorder/recorder.ts'
import type { Ports } from './ports.ts'

/** What every slice gets: the ports, the configuration, and the delivery of webhook messages. */
export type Context = Ports & {
  config: Config
  deliveries: Deliveries
  /** undefined where nothing is recorded. */
  recorder: Recorder | undefined
  listeners: Listeners
}
