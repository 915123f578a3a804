import type { Config } from '../core/config.ts'
import { CommandError, EXIT } from './command-error.ts'
import { defineCommand, JSON_OPTION } from './define-command.ts'
import { print, printJson } from './output.ts'
import { AnotherAnswered, serviceAt, serviceOptions } from './running-service.ts'

/** Milliseconds. A service whose database hangs answers after 5 seconds. */
const LONGEST_ANSWER = 8_000

const options = { url: serviceOptions.url, ...JSON_OPTION } as const

export const ready = defineCommand({
  summary: 'see whether the service is ready',
  more: 'It needs no key, and no record shows it.',
  examples: ['farthing ready', 'farthing ready --url http://127.0.0.1:3000 && farthing pay'],
  options,
  exitCodes: { [EXIT.failed]: 'the service is not ready' },
  after: `Needs FARTHING_URL. Without it, it asks the service that the settings here start
(default: http://127.0.0.1:3000).`,
  async run({ config, env, options }) {
    const { url = addressHere(config(), env), json } = options
    const signal = AbortSignal.timeout(LONGEST_ANSWER)
    const { status, body } = await serviceAt(url, undefined)
      .request('GET', '/readyz', { signal })
      .catch(error => {
        throw signal.aborted ? new CommandError(`${url} does not respond`, EXIT.unreachable) : error
      })
    if (body?.status !== 'ok' && body?.status !== 'unavailable')
      throw new AnotherAnswered(url, status)
    if (body.status !== 'ok')
      throw new CommandError(`${url} is not ready: it is stopping, or cannot use its database`)
    if (json) printJson({ url, ready: true })
    else print(`${url} is ready.`)
  },
})

/** In a container the command has the settings of the service, so a health check needs no settings of its own. */
function addressHere({ url, host, port }: Config, env: NodeJS.ProcessEnv): string {
  if (env.FARTHING_URL || !env.PORT || port === 0) return url
  const isAny = host === '0.0.0.0' || host === '::'
  return `http://${isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
