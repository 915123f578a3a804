import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Serving } from '../start.ts'

/**
 * Tells who started the service where it is, which key to use and how to make a payment: at a terminal
 * in a few lines, elsewhere in one line for people and then a JSON line each.
 */
export function announce(
  { address, firstKey, metricsAddress }: Serving,
  config: Config,
  logger: Logger,
  atTerminal: boolean,
): void {
  const site = config.baseUrl ?? address
  const key = firstKey ?? (config.apiKey ? '$FARTHING_API_KEY' : 'YOUR_API_KEY')
  const curl = paymentCommand(site, key)
  process.stdout.write(`Farthing is listening on ${address}\n`)
  if (metricsAddress) logger.info({ metrics: metricsAddress }, `metrics: ${metricsAddress}`)
  if (atTerminal) process.stdout.write(introduction(site, firstKey, config, curl))
  else {
    logger.info({ address: site }, 'listening')
    // Whatever LOG_LEVEL says: nothing can show this key again.
    const always = logger.child({}, { level: 'info' })
    if (firstKey) always.info({ api_key: firstKey }, 'made an API key, shown only now')
    logger.info({ curl }, 'make a payment')
  }
  if (config.callbackHosts.size > 0)
    logger.warn(
      `FARTHING_CALLBACK_HOSTS lets webhooks reach private addresses: ${[...config.callbackHosts].join(', ')}`,
    )
  for (const warning of config.warnings) logger.warn(warning)
}

function paymentCommand(site: string, key: string): string {
  const body = JSON.stringify({
    amount: 1450,
    reference: 'FIRST-1',
    description: 'My first payment',
    return_url: 'https://example.org/paid',
  })
  return `curl -s ${site}/v1/payments -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${body}'`
}

function introduction(
  site: string,
  firstKey: string | undefined,
  config: Config,
  curl: string,
): string {
  const key = firstKey
    ? `Your API key, shown only now:\n\n  ${firstKey}\n`
    : config.apiKey
      ? 'The API key is the one in FARTHING_API_KEY.\n'
      : 'A new API key, if you need one: farthing keys create (npm start -- keys create)\n'
  return `
${key}
Make a payment, then open its next_url in a browser:

  ${curl}

Documentation: ${config.pagesUrl ?? site}/docs   No money moves here.

`
}
