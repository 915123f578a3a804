/** Makes commander's program from the commands. */

import {
  Argument,
  type Command as CommanderCommand,
  Help,
  InvalidArgumentError,
  Option,
} from 'commander'
import { asTypedHere } from '../core/invocation.ts'
import { oneOf } from '../core/values.ts'
import { CommandError } from './command-error.ts'
import type { Command, CommandGroup, Description, Row } from './define-command.ts'
import { capital } from './output.ts'
import { option as optionOf } from './parse.ts'

/** The end of the help of a command that speaks to a service, unless it says something else. */
const NEEDS_SERVICE = 'Needs FARTHING_URL (default: http://127.0.0.1:3000) and FARTHING_API_KEY.'

/** The context that a command gets beside its options. `end` takes its exit code. */
type Shell = Pick<Parameters<Command['run']>[0], 'config' | 'env'> & {
  end: (exitCode: number) => void
}

export const isGroup = (entry: Command | CommandGroup): entry is CommandGroup => 'commands' in entry

export function addCommand(
  parent: CommanderCommand,
  name: string,
  command: Command | CommandGroup,
  shell: Shell,
): void {
  const added = parent.command(name)
  added.configureHelp({ argumentDescription: meaningOf, optionDescription: meaningOf })
  const isOfService = !isGroup(command) && command.options?.url !== undefined
  const described = describe(added, { ...(isOfService && { after: NEEDS_SERVICE }), ...command })
  if (isGroup(command)) {
    for (const [each, part] of Object.entries(command.commands))
      addCommand(described, each, part, shell)
    return
  }
  const { argument, options: rows = {} } = command
  const flags = ['--help', ...Object.keys(rows).map(flagOf)]
  if (argument)
    described.addArgument(
      withRow(new Argument(argument.value ?? '', argument.meaning), argument, flags),
    )
  for (const [key, row] of Object.entries(rows)) {
    const option = new Option(`${flagOf(key)} ${row.value ?? ''}`.trim(), row.meaning)
    described.addOption(withRow(option, row, flags).makeOptionMandatory(row.isRequired ?? false))
  }
  described.action(async given => {
    const { end, ...context } = shell
    end((await command.run({ ...context, options: described.opts(), argument: given })) ?? 0)
  })
}

/** --delayed-capture for `delayedCapture`. */
export const flagOf = (key: string): string =>
  `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/** `flags`: all options of the command. None of them may be a value, but commander would take it for one. */
function withRow<Added extends Argument | Option>(
  added: Added,
  row: Row,
  flags: readonly string[],
): Added {
  if (row.initial !== undefined) added.default(row.initial)
  if (row.values) added.argChoices = [...row.values] // a shell offers them
  let isGiven = false
  const parse = row.parse ?? (row.values ? optionOf(oneOf(row.values)) : (text: string) => text)
  added.argParser((text, before) => {
    if (text === '') throw new InvalidArgumentError('It is empty.')
    if (flags.includes(text)) throw new InvalidArgumentError(`A value is missing before ${text}.`)
    if (isGiven && !row.isRepeatable) throw new InvalidArgumentError('It is given twice.')
    isGiven = true
    try {
      return parse(text, before as never) // commander passes what the parser gave before
    } catch (error) {
      throw error instanceof CommandError ? new InvalidArgumentError(error.message) : error
    }
  })
  return added
}

/**
 * The help of a command has its examples before its options. They are not part of commander's description: for a shell
 * that completes commands each line of that is another candidate, and bash runs the commands in it.
 */
export function describe(
  described: CommanderCommand,
  { summary, more, examples, after }: Description,
  typed = asTypedHere,
): CommanderCommand {
  const sentences = [`${capital(summary)}.`, more]
  const text = [
    asTypedHere(sentences.filter(Boolean).join(' ')),
    ...examples.map((line, i) => `${i === 0 ? '\n' : ''}  ${typed(line)}`),
  ].join('\n')
  const names = [described.name()]
  for (let { parent } = described; parent; { parent } = parent) names.unshift(parent.name())
  return described
    .description(summary)
    .configureHelp({
      ...described.configureHelp(),
      commandDescription: () => text,
      commandUsage: usageHere,
      boxWrap,
    })
    .showHelpAfterError(asTypedHere(moreHelp(names.join(' '))))
    .addHelpText('after', after === undefined ? '' : `\n${after}\n`)
}

/** Commander's own function would list the values, which the meaning names already if they are few. */
const meaningOf = ({ description, defaultValue }: Argument | Option): string =>
  description + (defaultValue === undefined ? '' : ` (default: ${JSON.stringify(defaultValue)})`)

/** Wraps all lines but the examples, which are indented: a shell could not read a wrapped example. */
function boxWrap(this: Help, text: string, width: number): string {
  const wrap = (line: string) => Help.prototype.boxWrap.call(this, line, width)
  return text
    .split('\n')
    .map(line => (line.startsWith('  ') ? line : wrap(line)))
    .join('\n')
}

export const usageHere = (described: CommanderCommand): string =>
  asTypedHere(new Help().commandUsage(described))

/** The line after a message about wrong usage. `name`: the command's, with `farthing`. */
export const moreHelp = (name: string): string => `(${name} --help explains the command)`
