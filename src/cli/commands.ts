import tab from '@bomb.sh/tab/commander'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { readConfig } from '../app/config.ts'
import { SETTINGS, settings } from '../app/settings.ts'
import { DEFAULT_ACCOUNT, isAccountName } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { version } from '../core/version.ts'
import { CommandError, EXIT } from './command-error.ts'
import { offerValues } from './completion.ts'
import { asTypedHere } from './invocation.ts'
import { exceptLoopback } from './proxy.ts'
import {
  addServiceCommands,
  command,
  explained,
  moreHelp,
  numberFrom,
  type Shell,
  usageHere,
  withEmptyRefund,
} from './service-commands.ts'
import type { Env } from './verify.ts'

/** The variables with their meaning, in the width of a terminal. */
const settingsHelp = (): string => `
Settings are environment variables. All are optional.
${Object.values(settings)
  .map(({ name, meaning, initial }) => settingLines(name, meaning, initial))
  .join('\n')}

Ctrl-C or SIGTERM stops the service. A signal to npx or npm may not reach it, so
a script should start node_modules/.bin/farthing.
`

const NAME_WIDTH = 27
const TERMINAL = 80

function settingLines(name: string, meaning: string, initial: string | undefined): string {
  const text = `${meaning}${initial ? ` (default: ${initial})` : ''}`
  const plain = text.replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)|`/g, '')
  const lines: string[] = ['']
  for (const word of asTypedHere(plain).split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length <= TERMINAL - NAME_WIDTH) lines.splice(-1, 1, longer)
    else lines.push(word)
  }
  return lines.map((line, i) => (i === 0 ? `  ${name}` : '').padEnd(NAME_WIDTH) + line).join('\n')
}

const DATABASE_HELP = `
DATABASE_URL names the database, as for the service. The service may be running.
`

const SEED_HELP = `
The payments cover every mode and state, and are dated over the last 6 days.
Payments last 7 days, so the oldest expire tomorrow. No webhooks are sent.
DATABASE_URL names the database, as for the service. The service may be running.
`

const BACKUP_HELP = `
DATABASE_URL names the database, as for the service. The service may be running.
To restore, stop the service and put the copy at the path in DATABASE_URL, in a
folder without the files of an older database (-wal and -shm included). For
PostgreSQL use pg_dump.
`

const COMPLETION_HELP = `
bash: add this line to ~/.bashrc
  source <(farthing completion bash)
zsh: add this line to ~/.zshrc, after compinit
  source <(farthing completion zsh)
fish: run this once
  farthing completion fish > ~/.config/fish/completions/farthing.fish
PowerShell: add this line to the file $PROFILE
  farthing completion powershell | Out-String | Invoke-Expression

The command farthing must be on the PATH.
`

/** A substitute for the one function of bash-completion that the script for bash needs. */
const BASH_PRELUDE = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  }
fi
`

/** Where the script offers nothing of its own, bash completes the names of files. */
const BASH_END = 'complete -o default -F __farthing_complete farthing\n'

const ACCOUNT = ['--account <name>', 'the account', parseAccount, DEFAULT_ACCOUNT] as const
const CREATE = ['--create', 'make the SQLite file if there is none'] as const

const AS_JSON = ['--json', 'print JSON'] as const
/** The most that `farthing seed` makes. */
const MOST_PAYMENTS = 100_000_000
const MORE_HELP = '(farthing --help lists the commands and settings)'

/**
 * Runs a command and returns its exit code (see EXIT). Explains a failure on standard error. Throws an error that it
 * cannot explain. Reads the settings in `env` only when a command needs them, so that help works with invalid
 * settings.
 */
export async function runCommand(args: string[], env: Env): Promise<number> {
  exceptLoopback(env)
  let exitCode = 0
  const end = (code: number) => {
    exitCode = code
  }
  const program = createProgram({ config: () => readConfig(env), env, end })
  try {
    await program.parseAsync(withEmptyRefund(args), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage
    if (!(error instanceof CommandError)) throw error
    const more = error.exitCode === EXIT.usage ? `${moreHelp(`farthing ${args[0]}`)}\n` : ''
    process.stderr.write(`farthing: ${error.message}\n${more}`)
    return error.exitCode
  }
}

/** A closed pipe is a success: `farthing listen --json | head -1` has printed its line. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

/** Describes the commands. Each loads its own code when it runs. */
function createProgram(shell: Shell): Command {
  const { config } = shell
  const program = new Command('farthing')
    .description('The payment service that moves no money.')
    .version(version, '-v, --version')
    .usage('[command] [options]')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(explainUsage(text)) })
    .showHelpAfterError(asTypedHere(MORE_HELP))
    .configureHelp({ commandUsage: usageHere })
    .addHelpText('after', settingsHelp)
  command(program, 'serve', {
    summary: 'run the service (also without a command)',
    more: ' Settings are environment variables: farthing --help lists them.',
    examples: `farthing serve
    FARTHING_API_KEY=my-first-farthing-key farthing`,
  }).action(async () => (await import('./serve.ts')).serveUntilStopped(config()))
  addServiceCommands(program, shell)
  addKeys(program, config)
  command(program, 'seed', {
    summary: 'fill the database with payments, refunds and agreements',
    examples: `farthing seed --payments 1000
    farthing seed --payments 1000 --account licensing --create`,
  })
    .requiredOption('--payments <number>', 'how many', numberFrom(1, MOST_PAYMENTS))
    .option(...ACCOUNT)
    .option(...CREATE)
    .option(...AS_JSON)
    .addHelpText('after', SEED_HELP)
    .action(async options => (await import('./seed.ts')).seed(config(), options))
  command(program, 'backup', {
    summary: 'copy the SQLite database to a new file, and check the copy',
    examples: 'farthing backup /backup/farthing-monday.db',
  })
    .argument('<file>', 'the new file')
    .option(...AS_JSON)
    .addHelpText('after', BACKUP_HELP)
    .action(async (file, options) => (await import('./backup.ts')).backup(config(), file, options))
  offerValues(program, tab(program, { completionCommandName: 'completion' }))
  const completion = program.commands.find(command => command.name() === 'completion')
  if (!completion) throw new Error('there is no command completion')
  explained(
    completion,
    'print a script for your shell that completes commands',
    '\n\n  source <(farthing completion bash)',
  )
    .hook('preAction', ({ args: [shell] }) => {
      if (shell === 'bash') process.stdout.write(BASH_PRELUDE)
    })
    .hook('postAction', ({ args: [shell] }) => {
      if (shell === 'bash') process.stdout.write(BASH_END)
    })
    .addHelpText('after', COMPLETION_HELP)
  return program
}

function addKeys(program: Command, config: () => Config): void {
  const keys = command(program, 'keys', {
    summary: 'make, list and revoke API keys, each of which sees only its own account',
    examples: `farthing keys create
    farthing keys list`,
  }).addHelpText('after', DATABASE_HELP)
  command(keys, 'create', {
    summary: 'make an API key and print it once',
    examples: `farthing keys create
    farthing keys create --account licensing --create`,
  })
    .option(...ACCOUNT)
    .option(...CREATE)
    .option(...AS_JSON)
    .addHelpText('after', DATABASE_HELP)
    .action(async options => (await import('./keys.ts')).create(config(), options))
  command(keys, 'list', {
    summary: 'show the id, account and dates of each key, never the key',
    examples: `farthing keys list
    farthing keys list --json | jq '.keys[] | select(.revoked == null)'`,
  })
    .option(...AS_JSON)
    .addHelpText('after', DATABASE_HELP)
    .action(async options => (await import('./keys.ts')).list(config(), options))
  command(keys, 'revoke', {
    summary: 'stop a key; a running service refuses it within a second',
    examples: 'farthing keys revoke 06h3k9v0u2j4m5n6p7q8r9s0t1',
  })
    .argument('<id>', 'from keys list')
    .option(...AS_JSON)
    .addHelpText('after', DATABASE_HELP)
    .action(async (id, options) => (await import('./keys.ts')).revoke(config(), id, options))
}

function parseAccount(name: string): string {
  if (isAccountName(name)) return name
  throw new InvalidArgumentError(
    'It must be 1 to 64 letters, digits, spaces, dots, hyphens or underscores.',
  )
}

/** Commander's message. An option that has the name of a setting gets the variable to set instead. */
function explainUsage(text: string): string {
  if (text.startsWith("error: unknown command 'start'"))
    return "farthing: unknown command 'start'\n(Did you mean serve?)\n"
  const [, option = ''] = /^error: unknown option '--([a-z-]+)/.exec(text) ?? []
  const name = option.replaceAll('-', '_').toUpperCase()
  const setting = SETTINGS.find(known => known.replace('FARTHING_', '') === name)
  return setting
    ? `farthing: unknown option '--${option}': set the environment variable ${setting} instead\n`
    : text.replace(/^error: /, 'farthing: ')
}
