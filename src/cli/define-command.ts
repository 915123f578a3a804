/** A command is one object: its description, argument, options and exit codes, and the code that it runs. */

import type { Config } from '../core/config.ts'

/** An argument or an option. The key of an option is its name: `delayedCapture` is --delayed-capture. */
export type Row = {
  /** As the help shows it: `<pence>`, or `[pence]` if it may be missing. An option without it is a switch. */
  value?: string
  meaning: string
  /** The values that a shell offers. Without `parse` no other is allowed. */
  values?: readonly string[]
  /** Throws `wrongUsage` with a sentence. `text` is never empty. */
  parse?: (text: string, before: never) => unknown
  /** It may be given again: `parse` then gets its own earlier result as `before`. */
  isRepeatable?: true
  /** The value when it is not given. */
  initial?: string
  isRequired?: true
}
type Rows = Record<string, Row>

type ValueOf<Parameter> = Parameter extends { parse: (...given: never[]) => infer Value }
  ? Value
  : Parameter extends { values: readonly (infer Value)[] }
    ? Value
    : Parameter extends { value: string }
      ? string
      : boolean
type AlwaysThere = { initial: string } | { isRequired: true }

export type OptionsOf<Options> = {
  -readonly [Name in keyof Options]?: ValueOf<Options[Name]>
} & {
  -readonly [Name in keyof Options as Options[Name] extends AlwaysThere ? Name : never]: ValueOf<
    Options[Name]
  >
}

export type Description = {
  /** For the list of commands, without a capital letter and a full stop. */
  summary: string
  /** More sentences for the help of the command itself. */
  more?: string
  /** Each is a line that begins with `farthing`, or with variables before it. */
  examples: readonly string[]
  after?: string
}

type Invocation<Options, Argument> = {
  options: OptionsOf<Options>
  argument: Argument extends Row ? ValueOf<Argument> : undefined
  /** Reads the settings when it is called. Throws ConfigError. */
  config: () => Config
  env: NodeJS.ProcessEnv
}

type CommandOf<Options, Argument, Code extends number> = Description & {
  argument?: Argument
  options?: Options
  /** The meanings of its own exit codes. Every command also has those of EXIT. */
  exitCodes?: { [Each in Code]: string }
  run(invocation: Invocation<Options, Argument>): Promise<void> | Promise<0 | NoInfer<Code>>
}
export type Command = CommandOf<Rows, Row, number>
export type CommandGroup = Description & { commands: Record<string, Command> }

/** The types of the options, the argument and the exit codes of `run` follow from the object. */
export const defineCommand = <
  const Argument extends Row | undefined = undefined,
  const Options extends Rows = Record<never, never>,
  Code extends number = never,
>(
  command: CommandOf<Options, Argument, Code>,
): Command => command as Command

export const JSON_OPTION = { json: { meaning: 'print JSON' } } as const
