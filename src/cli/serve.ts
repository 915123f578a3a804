import type { Logger } from 'pino'
import { type Farthing, startFarthing } from '../app/start.ts'
import type { Config } from '../core/config.ts'
import { createLogger } from '../core/log.ts'
import { paymentCommand } from '../pay/payments/first-payment.ts'
import { placeOf } from './database.ts'
import { print } from './output.ts'

/** In milliseconds. Under npm one Ctrl-C arrives twice: from the terminal, and passed on by npm. */
const SAME_KEY_PRESS = 1_000

/**
 * Milliseconds that an idle connection stays open while the service stops. A client that is at work sends its next
 * request in this time, and gets `Connection: close` with the response.
 */
const GRACE = 500

/**
 * Starts the service and returns when it is listening. SIGTERM and SIGINT stop it, a second signal ends
 * the process at once. Throws if the service cannot start.
 */
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

/**
 * The first lines: where the service listens, where payments are kept, which key to use and how to make a
 * payment. A terminal gets them as text. A file gets one line of text, then JSON.
 */
function announce(
  { url: address, apiKey, metricsUrl }: Farthing,
  config: Config,
  logger: Logger,
  atTerminal: boolean,
): void {
  const site = config.baseUrl ?? address
  const firstKey = config.apiKey ? undefined : apiKey
  const pages = config.pagesUrl ?? site
  const consoleUrl = `${pages}/console`
  const place = placeOf(config.database)
  const key = firstKey ?? (config.apiKey ? '$FARTHING_API_KEY' : 'YOUR_API_KEY')
  const curl = paymentCommand(site, key)
  const pay = `farthing pay --url ${address} --key ${key}`
  print(`Farthing is listening on ${address}`)
  if (metricsUrl) logger.info({ metrics: metricsUrl }, `metrics: ${metricsUrl}`)
  if (atTerminal) {
    print(`Payments are kept in ${place}.\n\n${keyLine(firstKey, config)}`)
    print(`Make a payment, then open its next_url in a browser:\n\n  ${curl}\n`)
    print(`Or make a payment and pay it (in a clone: npm start -- pay):\n\n  ${pay}\n`)
    if (config.console) print(`Console:       ${consoleUrl}`)
    print(`Documentation: ${pages}/docs\n\nNo money moves here.\n`)
  } else {
    logger.info({ address: site }, 'listening')
    logger.info({ database: place }, `payments are kept in ${place}`)
    if (config.console) logger.info({ console: consoleUrl }, 'the console shows what happens')
    // Logged at every LOG_LEVEL, because the key cannot be shown again.
    const always = logger.child({}, { level: 'info' })
    if (firstKey) always.info({ api_key: firstKey }, 'made an API key, shown only now')
    logger.info({ curl }, 'make a payment')
  }
  if (config.callbackHosts.size > 0)
    logger.warn(
      `FARTHING_CALLBACK_HOSTS or FARTHING_WEBHOOK_URL lets webhooks reach private addresses: ${[...config.callbackHosts].join(', ')}`,
    )
  for (const warning of config.warnings) logger.warn(warning)
}

function keyLine(firstKey: string | undefined, config: Config): string {
  if (firstKey) return `Your API key, shown only now:\n\n  ${firstKey}\n`
  if (config.apiKey) return 'The API key is the one in FARTHING_API_KEY.\n'
  return 'If you have lost your API key, make a new one: farthing keys create (npm start -- keys create)\n'
}
