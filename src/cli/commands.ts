import { Command as CommanderCommand, CommanderError, Help } from 'commander'
import { readConfig } from '../app/config.ts'
import { SETTINGS, settings } from '../app/settings.ts'
import { asTypedHere, exceptLoopback } from '../core/invocation.ts'
import { version } from '../core/version.ts'
import { CommandError, EXIT } from './command-error.ts'
import { addCompletion } from './completion.ts'
import type { Command, CommandGroup } from './define-command.ts'
import { note } from './output.ts'
import { addCommand, moreHelp, usageHere } from './program.ts'

/** Every command, in the order of the help. */
const loaders: Record<string, () => Promise<Command | CommandGroup>> = {
  serve: async () => (await import('./serve.ts')).serve,
  pay: async () => (await import('./pay.ts')).pay,
  trigger: async () => (await import('./trigger.ts')).trigger,
  listen: async () => (await import('./listen.ts')).listen,
  logs: async () => (await import('./logs.ts')).logs,
  resend: async () => (await import('./resend.ts')).resend,
  verify: async () => (await import('./verify.ts')).verify,
  open: async () => (await import('./open.ts')).open,
  check: async () => (await import('./check.ts')).check,
  ready: async () => (await import('./ready.ts')).ready,
  doctor: async () => (await import('./doctor.ts')).doctor,
  keys: async () => (await import('./keys.ts')).keys,
  seed: async () => (await import('./seed.ts')).seed,
  backup: async () => (await import('./backup.ts')).backup,
}

/** Loads the command that the arguments name or, for the list of commands, all of them. */
export async function loadCommands(args: string[] = []) {
  const [named = ''] = args.filter(arg => !arg.startsWith('-'))
  const isNamed = Object.hasOwn(loaders, named)
  const chosen = Object.entries(loaders).filter(([name]) => !isNamed || name === named)
  return Object.fromEntries(
    await Promise.all(chosen.map(async ([name, load]) => [name, await load()] as const)),
  )
}

/** Explains a failure, and returns the exit code: see EXIT. Reads the settings only if a command needs them. */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  exceptLoopback(env)
  let exitCode = 0
  const end = (code: number) => {
    exitCode = code
  }
  const program = new CommanderCommand('farthing')
    .description('The payment service that moves no money.')
    .version(version, '-v, --version')
    .usage('[command] [options]')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(explainUsage(text)) })
    .showHelpAfterError(asTypedHere('(farthing --help lists the commands and settings)'))
    .configureHelp({ commandUsage: usageHere })
    .addHelpText('after', settingsHelp)
  const commands = await loadCommands(args)
  for (const [name, command] of Object.entries(commands))
    addCommand(program, name, command, { config: () => readConfig(env), env, end })
  addCompletion(program)
  try {
    await program.parseAsync(withWholeRefund(args, commands.pay), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage
    if (!(error instanceof CommandError)) throw error
    note(`farthing: ${error.message}`)
    if (error.exitCode === EXIT.usage) note(asTypedHere(moreHelp(`farthing ${args[0]}`)))
    return error.exitCode
  }
}

/** --refund takes no scenario for its value, so that the argument may follow it. */
function withWholeRefund(args: string[], pay: Command | CommandGroup | undefined): string[] {
  const scenarios = (pay && 'argument' in pay && pay.argument?.values) || []
  const isValue = (arg = '-') => !arg.startsWith('-') && !scenarios.includes(arg)
  return args.map((arg, i) => (arg === '--refund' && !isValue(args[i + 1]) ? '--refund=all' : arg))
}

/** A closed pipe is a success: `farthing listen --json | head -1` has printed its line. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
      if (stream === process.stdout) note(`farthing: the output cannot be written: ${error.code}`)
      process.exit(1)
    })
}

const LONGEST_NAME = 23

const settingsHelp = (): string => `
Settings are environment variables. All are optional.
${Object.values(settings)
  .map(({ name, meaning, initial }) => {
    const text = `${meaning}${initial ? ` (default: ${initial})` : ''}`
    const plain = text
      .replaceAll(/ \(\[[^[\]]*\]\([^()]*\)\)|`/g, '')
      .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    return new Help().formatItem(name, LONGEST_NAME, asTypedHere(plain), new Help())
  })
  .join('\n')}

Ctrl-C or SIGTERM stops the service. A signal to npx or npm may not reach it, so
a script should start node_modules/.bin/farthing.
`

/** Commander's message. For an option with the name of a setting it says which variable to set instead. */
function explainUsage(text: string): string {
  if (text.startsWith("error: unknown command 'start'"))
    return "farthing: unknown command 'start'\n(Did you mean serve?)\n"
  const [, option = ''] = /^error: unknown option '--([a-z-]+)/.exec(text) ?? []
  const name = option.replaceAll('-', '_').toUpperCase()
  const setting = SETTINGS.find(setting => setting.replace('FARTHING_', '') === name)
  return setting
    ? `farthing: unknown option '--${option}': set the environment variable ${setting} instead\n`
    : text.replace(/^error: /, 'farthing: ')
}
