import { ConfigError, readConfig } from '../app/config.ts'
import type { Config } from '../core/config.ts'
import { EXIT } from './command-error.ts'
import { defineCommand, type Env } from './define-command.ts'
import { type Check, fail, ok, warn } from './doctor-check.ts'
import { checkDatabase, checkNode } from './doctor-here.ts'
import { checkService } from './doctor-service.ts'
import { colour, oneLine, print, printJson } from './output.ts'
import { isLoopback } from './proxy.ts'
import { NEEDS_SERVICE, serviceOptions } from './running-service.ts'

export const doctor = defineCommand({
  summary: 'look for mistakes in your set-up',
  more: 'It makes one payment of 1p with the reference doctor, and changes nothing else.',
  examples: [
    'farthing doctor',
    `farthing doctor --json | jq '.checks[] | select(.status != "ok")'`,
  ],
  options: serviceOptions,
  exitCodes: { [EXIT.wrong]: 'a check failed' },
  after: NEEDS_SERVICE,
  async run({ env, options }) {
    const checks: Check[] = []
    const add = (found: Check[]) => {
      checks.push(...found)
      if (!options.json) for (const check of found) show(check)
    }
    add([checkNode()])
    const { config, found } = readSettings(env)
    add(found)
    if (config) {
      const key = options.key ?? config.apiKey
      const database = await checkDatabase(config.database, key)
      add(database.checks)
      const url = options.url ?? config.url
      add(checkPort(env, config, url))
      const expected = { url, key, keyIsHere: database.hasKey, pagesUrl: config.pagesUrl }
      for await (const check of checkService(expected)) add([check])
    }
    if (options.json) printJson({ checks })
    return checks.some(({ status }) => status === 'fail') ? EXIT.wrong : 0
  },
})

function readSettings(env: Env): { config?: Config; found: Check[] } {
  try {
    const config = readConfig(env)
    const unknown = config.warnings.map(warning => warn('settings', warning, 'farthing --help'))
    const found = unknown.length > 0 ? unknown : [ok('settings', 'Every setting can be used.')]
    return { config, found }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { found: error.problems.map(problem => fail('settings', `${problem}.`)) }
  }
}

/** A service that is started with these settings listens elsewhere than the commands look for it. */
function checkPort({ PORT }: Env, config: Config, url: string): Check[] {
  const { hostname, port, protocol } = new URL(url)
  const asked = Number(port || (protocol === 'https:' ? 443 : 80))
  if (!PORT || !isLoopback(hostname) || config.port === asked) return []
  const sentence = `PORT is ${PORT}, but the commands speak to ${url}.`
  return [warn('port', sentence, `FARTHING_URL=http://127.0.0.1:${PORT} farthing doctor`)]
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function show({ name, status, sentence, command }: Check): void {
  const mark = colour(COLOURS[status], status.padEnd(4))
  print(`${mark}  ${name.padEnd(10)}  ${oneLine(sentence, 400)}`)
  if (command) print(`${' '.repeat(18)}${oneLine(command, 400)}`)
}
