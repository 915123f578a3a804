import type { Signals } from '../core/signal.ts'
import type { TakeSlot } from '../core/slots.ts'
import type { Reading } from '../core/turns.ts'
import type { Context } from '../pay/context.ts'
import type { Recorder } from './record/recorder.ts'
import type { Watch } from './watch.ts'

/** Every tool gets these in addition to the context of the slices. */
export type ToolContext = Context & {
  /** Wake the waiting requests of this process. */
  signals: Signals
  /** Wakes waiting requests when another process has written. */
  watch: Watch
  /** undefined if nothing is recorded. */
  recorder: Recorder | undefined
  /** Runs long work of an account, such as reading its record: little at once, and once for requests of one address. */
  reading: Reading
  /** Lets the listeners of an account query one at a time: 200 at once would take all connections to the database. */
  listening: TakeSlot
  /** The number of requests to this instance without a known key in the last `MINUTES`. They belong to no account. */
  refusedKeys: () => number
  /** Receives errors in the check, which then says less: the error of a rule, or of a row that it could not read. */
  onRuleFault: (error: unknown) => void
}
