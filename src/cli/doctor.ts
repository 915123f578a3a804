import { hash } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, readConfig } from '../app/config.ts'
import type { Config, DatabaseAddress } from '../core/config.ts'
import { isLoopback } from '../core/invocation.ts'
import { inspectDatabase } from '../platform/database/inspect.ts'
import { EXIT } from './command-error.ts'
import { locationOf, requireDatabase } from './database.ts'
import { defineCommand, type Env } from './define-command.ts'
import { type Check, fail, ok, warn } from './doctor-check.ts'
import { checkService } from './doctor-service.ts'
import { explainError } from './explain-error.ts'
import { colour, oneLine, print, printJson } from './output.ts'
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
  const wanted = Number(port || (protocol === 'https:' ? 443 : 80))
  if (!PORT || !isLoopback(hostname) || config.port === wanted) return []
  const sentence = `PORT is ${PORT}, but the commands speak to ${url}.`
  return [warn('port', sentence, `FARTHING_URL=http://127.0.0.1:${PORT} farthing doctor`)]
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function show({ name, status, sentence, command }: Check): void {
  const mark = colour(COLOURS[status], status.padEnd(4))
  print(`${mark}  ${name.padEnd(10)}  ${oneLine(sentence, 400)}`)
  if (command) print(`${' '.repeat(18)}${oneLine(command, 400)}`)
}

const checkNode = (): Check => ok('node', `Node ${process.versions.node} runs this command.`)

const MB = 1024 * 1024
const LEAST_ROOM = 1024 * MB
const LARGEST_WAL = 256 * MB

/** `hasKey` is undefined if the database cannot be looked at. */
async function checkDatabase(
  address: DatabaseAddress,
  key: string | undefined,
): Promise<{ checks: Check[]; hasKey?: boolean }> {
  if (address.kind === 'sqlite' && address.path === ':memory:')
    return { checks: [warn('database', 'DATABASE_URL is sqlite::memory:, so nothing is kept.')] }
  try {
    requireDatabase(address)
    const keyHash = hash('sha256', key ?? '')
    const { has, knows, walBytes, hasKey } = await inspectDatabase(address, keyHash)
    return {
      hasKey,
      checks: [versionOf(locationOf(address), has, knows), ...room(address, walBytes)],
    }
  } catch (error) {
    const missing = error instanceof Error && error.message.startsWith('there is no database')
    const check = missing
      ? warn('database', `${capital(error.message)}. The next start creates it.`, 'farthing')
      : fail('database', `${capital(explainError(error))}.`)
    return { checks: [check] }
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function versionOf(place: string, has: number, knows: number): Check {
  if (has > knows)
    return fail(
      'database',
      `${capital(place)} was migrated by a newer Farthing: it has version ${has}, and this Farthing knows version ${knows}.`,
    )
  if (has < knows)
    return warn(
      'database',
      has === 0
        ? `${capital(place)} has no tables yet. The next start makes them.`
        : `${capital(place)} has version ${has}. The next start brings it to ${knows}.`,
      'farthing',
    )
  return ok('database', `${capital(place)} can be read and has the version of this Farthing.`)
}

function room(address: DatabaseAddress, walBytes: number): Check[] {
  if (address.kind !== 'sqlite') return []
  const { bavail, bsize } = statfsSync(dirname(resolve(address.path)))
  const free = Math.round((bavail * bsize) / MB)
  const checks = [
    bavail * bsize < LEAST_ROOM
      ? warn('disk', `Only ${free} MB are free where the database is.`)
      : ok('disk', `${free} MB are free where the database is.`),
  ]
  if (walBytes > LARGEST_WAL)
    checks.push(
      warn(
        'disk',
        `The file -wal has ${Math.round(walBytes / MB)} MB, because a program has kept a read of the database open. Restart the service to shorten it.`,
      ),
    )
  return checks
}
