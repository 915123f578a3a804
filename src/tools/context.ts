import type { Signals } from '../core/signal.ts'
import type { TakeSlot } from '../core/slots.ts'
import type { Reading } from '../core/turns.ts'
import type { Context } from '../pay/context.ts'
import type { Recorder } from './record/recorder.ts'
import type { Watch } from './watch.ts'

/** What every tool gets beside what the slices get. */
export type ToolContext = Context & {
  /** Wake requests of this process that wait. */
  signals: Signals
  /** Wakes them when another process has written. */
  watch: Watch
  /** undefined where nothing is recorded. */
  recorder: Recorder | undefined
  /** For long work of an account, such as reading its record: few at once, and together what has the same address. */
  reading: Reading
  /** For looks of an account's listeners, one at a time: 200 that look would take all connections to the database. */
  listening: TakeSlot
  /** How many requests to this instance had no key, or an unknown one, in the last `MINUTES`: they belong to no account. */
  refusedKeys: () => number
  /** Receives what went wrong in the check, which then says less: the error of a rule, or of a row that it could not read. */
  onRuleFault: (error: unknown) => void
}
