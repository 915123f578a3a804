import type { Context } from '../pay/context.ts'
import type { Recorder } from './record/exchange.ts'

/** What every tool gets beside what the slices get. */
export type ToolContext = Context & {
  /** undefined where nothing is recorded. */
  recorder: Recorder | undefined
  /** Receives what went wrong in the check, which then says less: the error of a rule, or of a row that it could not read. */
  onRuleFault: (error: unknown) => void
}
