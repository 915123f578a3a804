import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { createLogger } from '../log.ts'
import { serve } from '../start.ts'
import { version } from '../version.ts'
import { announce } from './announce.ts'
import { BACKUP_HELP, backupCommand } from './backup.ts'
import { startProblem } from './explain-error.ts'
import { KEYS_HELP, keysCommand } from './keys.ts'
import { SEED_HELP, type SeedOptions, seedCommand } from './seed.ts'

/** In milliseconds: Ctrl-C under npm arrives twice, from the terminal and from npm. */
const SAME_KEY_PRESS = 1_000

const HELP = `Farthing: the payment service that moves no money.

Usage:
  farthing [serve]                        run the service
  farthing keys create [--account NAME]   make an API key and print it once
  farthing keys list                      show the keys' ids, never the keys
  farthing keys revoke ID                 stop a key from working
  farthing seed --payments N [--account NAME]
                                          make N payments in every state, to try things with
  farthing backup FILE                    copy the SQLite database, also while the service runs
  farthing --help | --version

In a clone of the repository each is: npm start -- keys list

Configuration, all of it optional, in environment variables:
  PORT, HOST               where to listen: 3000 on 127.0.0.1
  DATABASE_URL             sqlite:data/farthing.db; also sqlite::memory: (nothing is kept) and
                           postgres://USER:PASSWORD@HOST/DATABASE
  FARTHING_API_KEY         a fixed key of the default account; without it the first start makes one
  FARTHING_BASE_URL        the API's address in links; without it the request's Host
  FARTHING_PAGES_URL       the address of the hosted pages in links; without it the API's
  FARTHING_CALLBACK_HOSTS  comma list of host or host:port that webhooks may reach even if private
  FARTHING_TRUST_PROXY     true: take scheme and host from X-Forwarded-Proto and X-Forwarded-Host
  FARTHING_METRICS_PORT    Prometheus metrics on this port; without it there are none
  LOG_LEVEL                fatal, error, warn, info, debug, trace or silent: info
`

type Command = {
  help: string
  /** Beside --help. */
  options: string[]
  /** Answers the exit code, or undefined while the service is running. */
  run(config: Config, words: string[], values: SeedOptions): Promise<number | undefined>
}

const commands = new Map(
  Object.entries<Command>({
    serve: { help: HELP, options: [], run: serveUntilStopped },
    keys: {
      help: KEYS_HELP,
      options: ['account'],
      run: (config, words, values) => keysCommand(words, values, config, print, screen.write),
    },
    seed: {
      help: SEED_HELP,
      options: ['account', 'payments'],
      run: (config, words, values) => seedCommand(words, values, config, print, screen),
    },
    backup: {
      help: BACKUP_HELP,
      options: [],
      run: (config, words) => backupCommand(words, config, print),
    },
  }),
)

/** Runs a command line and answers the exit code, or undefined while the service is running. */
async function run(args: string[]): Promise<number | undefined> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
      account: { type: 'string' },
      payments: { type: 'string' },
    },
  })
  const [name = 'serve', ...words] = positionals
  if (values.version) return print(version)
  const command = commands.get(name)
  if (!command || (name === 'serve' && words.length > 0))
    return complain(`unknown command: ${positionals.join(' ')} (farthing --help)`)
  const foreign = Object.keys(values).find(
    option => option !== 'help' && !command.options.includes(option),
  )
  if (foreign) return complain(`--${foreign} is no option of this command (farthing --help)`)
  if (values.help || (name === 'keys' && words.length === 0)) return print(command.help)
  return command.run(readConfig(process.env), words, values)
}

function print(text: string): number {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  return 0
}

const screen = {
  write: (text: string) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
}

function complain(problem: string): number {
  process.stderr.write(`farthing: ${problem.replaceAll('\n', '\nfarthing: ')}\n`)
  return 1
}

async function serveUntilStopped(config: Config): Promise<undefined> {
  const atTerminal = process.stdout.isTTY
  const logger = createLogger(config.logLevel, atTerminal)
  const end = (code: number) => logger.written().then(() => process.exit(code))
  const die = (error: unknown) => {
    logger.fatal({ err: error }, 'the service cannot go on')
    void end(1)
  }
  process.on('uncaughtException', die)
  // The first lines go where the log goes, and that it cannot be written to must not be the end of the service.
  process.stdout.on('error', () => {})
  const serving = await serve(config, logger, die)
  let since: number | undefined
  const stop = async () => {
    if (since !== undefined) {
      if (performance.now() - since < SAME_KEY_PRESS) return
      logger.warn('stopped a second time: ending at once')
      return end(1)
    }
    since = performance.now()
    logger.info('stopping: finishing what is in flight')
    await serving.stop()
    return end(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop().catch(die))
  announce(serving, config, logger, atTerminal)
}

try {
  const code = await run(process.argv.slice(2))
  if (code !== undefined) process.exitCode = code
} catch (error) {
  process.exitCode = complain(error instanceof ConfigError ? error.message : startProblem(error))
}
