import { resolve } from 'node:path'
import type { Logger } from 'pino'
import { paymentCommand } from '../app/first-payment.ts'
import { DEFAULT_DATABASE, DEFAULT_URL } from '../app/settings.ts'
import { type Farthing, startFarthing } from '../app/start.ts'
import type { Config } from '../core/config.ts'
import { isSource } from '../core/files.ts'
import { hint, isLoopback, shellWord } from '../core/invocation.ts'
import { createLogger } from '../core/log.ts'
import { locationOf } from './database.ts'
import { defineCommand } from './define-command.ts'
import { print } from './output.ts'

/** Milliseconds. Under npm one Ctrl-C arrives twice: from the terminal, and from npm. */
const SAME_KEY_PRESS = 1_000

/** Milliseconds that an idle connection stays open in a stop: a busy client sends its next request in this time. */
const GRACE = 500

export const serve = defineCommand({
  summary: 'run the service (also without a command)',
  more: 'Settings are environment variables: farthing --help lists them.',
  examples: ['farthing serve', 'FARTHING_API_KEY=my-first-farthing-key farthing'],
  run: ({ config }) => serveUntilStopped(config()),
})

/** Resolves when it listens, rejects if it cannot start. SIGTERM and SIGINT stop it; a second one ends the process. */
export async function serveUntilStopped(config: Config): Promise<void> {
  const atTerminal = process.stdout.isTTY
  const logger = createLogger(config.logLevel, atTerminal)
  const end = (code: number) => logger.written().then(() => process.exit(code))
  const die = (error: unknown) => {
    logger.fatal({ err: error }, 'the service cannot go on')
    void end(1)
  }
  process.on('uncaughtException', die)
  // The first lines go to the same stream as the log. A full disk or a closed pipe must not end the service.
  process.stdout.on('error', () => {})
  // Loaded later, it would delay all requests. A package has all code in one file, and loads this at its first request.
  if (isSource) await (await import('../app/tools.ts')).loadTools()
  const farthing = await startFarthing({ config, logger, onFatal: die })
  let since: number | undefined
  const stop = async () => {
    if (since !== undefined) {
      if (performance.now() - since < SAME_KEY_PRESS) return
      logger.warn('stopped a second time: ending at once')
      return end(1)
    }
    since = performance.now()
    logger.info('stopping: finishing what is in flight')
    await farthing.close(GRACE)
    return end(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop().catch(die))
  announce(farthing, config, logger, atTerminal)
}

/** The first lines: addresses, the database, the key and a first payment. A file gets JSON after the first line. */
function announce(farthing: Farthing, config: Config, logger: Logger, atTerminal: boolean): void {
  const { url, metricsUrl } = farthing
  print(`Farthing is listening on ${url}`)
  if (metricsUrl) logger.info({ metrics: metricsUrl }, `metrics: ${metricsUrl}`)
  if (atTerminal) printFirstLines(farthing, config)
  else logFirstLines(farthing, config, logger)
  if (config.callbackHosts.size > 0)
    logger.warn(
      `FARTHING_CALLBACK_HOSTS or FARTHING_WEBHOOK_URL lets webhooks reach private addresses: ${[...config.callbackHosts].join(', ')}`,
    )
  for (const warning of config.warnings) logger.warn(warning)
}

const pagesOf = (url: string, { pagesUrl, baseUrl }: Config): string => pagesUrl ?? baseUrl ?? url

/** The commands contain the key only if no other machine reaches the service: a terminal may be a container's log. */
function printFirstLines({ url, apiKey }: Farthing, config: Config): void {
  const pages = pagesOf(url, config)
  const visible = isLoopback(config.host) ? apiKey : undefined
  const authorization = visible && shellWord(`Authorization: Bearer ${visible}`)
  const key = visible ? ` --key ${shellWord(visible)}` : ''
  const service = url === DEFAULT_URL ? '' : ` --url ${url}`
  print(`Payments are kept in ${locationOf(config.database)}.\n\n${keyLines(apiKey, config)}`)
  print('In another terminal, make a payment and pay it:\n')
  print(`  ${hint`farthing pay${service}${key}`}\n`)
  print('Or make one that you pay in a browser, at its next_url:\n')
  print(`  ${paymentCommand(url, authorization)}\n`)
  if (config.console) print(`Console:       ${pages}/console`)
  print(`Documentation: ${pages}/docs\n\nNo money moves here.\n`)
}

function logFirstLines({ url, apiKey }: Farthing, config: Config, logger: Logger): void {
  const site = config.baseUrl ?? url
  const place = locationOf(config.database)
  logger.info({ address: site }, 'listening')
  logger.info({ database: place }, `payments are kept in ${place}`)
  if (config.console)
    logger.info({ console: `${pagesOf(url, config)}/console` }, 'the console shows what happens')
  const isNew = apiKey !== undefined && config.apiKey === undefined
  // Logged at every LOG_LEVEL, because the key cannot be visible again.
  if (isNew)
    logger.child({}, { level: 'info' }).info({ api_key: apiKey }, 'made an API key, shown only now')
  const authorization = isNew ? `'Authorization: Bearer ${apiKey}'` : undefined
  logger.info({ curl: paymentCommand(site, authorization) }, 'make a payment')
}

/** The source of the API key or, if the key is not known here, the command that makes another. */
function keyLines(apiKey: string | undefined, { apiKey: configured, fixedKeys, database }: Config) {
  if (configured) return 'The API key is the one in FARTHING_API_KEY.\n'
  if (fixedKeys.length > 0) return 'The API keys are those in FARTHING_API_KEYS.\n'
  if (apiKey) return `Your API key, shown only now:\n\n  ${apiKey}\n`
  const address =
    database.kind === 'sqlite' && database.path !== DEFAULT_DATABASE.path
      ? `DATABASE_URL=${shellWord(`sqlite:${resolve(database.path)}`)} `
      : ''
  const create = hint`export FARTHING_API_KEY=$(${address}farthing keys create)`
  const also = database.kind === 'postgres' ? ', with the same DATABASE_URL' : ''
  return `Set FARTHING_API_KEY to your API key. If you have lost it, make a new one${also}:\n\n  ${create}\n`
}
