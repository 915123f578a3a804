import { hash } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, readConfig } from '../app/config.ts'
import type { Config, DatabaseAddress } from '../core/config.ts'
import { asTypedHere, hint, isLoopback } from '../core/invocation.ts'
import { inspectDatabase } from '../platform/database/inspect.ts'
import { EXIT } from './command-error.ts'
import { isInMemory, locationOf, requireDatabase } from './database.ts'
import { defineCommand } from './define-command.ts'
import { type Check, checksOf } from './doctor-check.ts'
import { checkService } from './doctor-service.ts'
import { explainError } from './explain-error.ts'
import { capital, colour, oneLine, print, printJson } from './output.ts'
import { type ServiceOptions, serviceOptions } from './running-service.ts'

export const doctor = defineCommand({
  summary: 'look for mistakes in your set-up',
  more: 'It makes one payment of 1p with the reference doctor, and changes nothing else.',
  examples: [
    'farthing doctor',
    `farthing doctor --json | jq '.checks[] | select(.status != "ok")'`,
  ],
  options: serviceOptions,
  exitCodes: { [EXIT.wrong]: 'a check failed' },
  async run({ env, options }) {
    const checks: Check[] = []
    for await (const check of checkAll(env, options)) {
      checks.push(check)
      if (!options.json) show(check)
    }
    if (options.json) printJson({ checks })
    return checks.some(({ status }) => status === 'fail') ? EXIT.wrong : 0
  },
})

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function show({ name, status, sentence, command }: Check): void {
  const mark = colour(COLOURS[status], status.padEnd(4))
  print(`${mark}  ${name.padEnd(10)}  ${oneLine(sentence, 400)}`)
  if (command) print(`${' '.repeat(18)}${oneLine(command, 400)}`)
}

async function* checkAll(env: NodeJS.ProcessEnv, options: ServiceOptions): AsyncGenerator<Check> {
  yield checksOf('node').ok(`Node ${process.versions.node} runs this command.`)
  const config = yield* checkSettings(env)
  if (!config) return
  const { pagesUrl } = config
  const key = options.key ?? config.apiKey
  const url = options.url ?? config.url
  const { hasKey: keyIsHere, cause } = yield* checkDatabase(config.database, key)
  yield* checkPort(env, config, url)
  yield* checkService({ url, key, keyIsHere, pagesUrl, cause })
}

function* checkSettings(env: NodeJS.ProcessEnv): Generator<Check, Config | undefined> {
  const { ok, warn, fail } = checksOf('settings')
  try {
    const config = readConfig(env)
    for (const warning of config.warnings) yield warn(warning, asTypedHere('farthing --help'))
    if (config.warnings.length === 0) yield ok('Every setting can be used.')
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) yield fail(`${problem}.`)
    return undefined
  }
}

/** Warns if a service with these settings would listen on another port than the commands use. */
function* checkPort({ PORT }: NodeJS.ProcessEnv, config: Config, url: string): Generator<Check> {
  const { hostname, port, protocol } = new URL(url)
  const wanted = Number(port || (protocol === 'https:' ? 443 : 80))
  if (!PORT || !isLoopback(hostname) || config.port === wanted) return
  yield checksOf('port').warn(
    `PORT is ${PORT}, but the commands speak to ${url}.`,
    hint`FARTHING_URL=http://127.0.0.1:${PORT} farthing doctor`,
  )
}

/** Whether the database has the key, if it can be read, and the reason why a service cannot use it. */
type Looked = { hasKey?: boolean; cause?: string }

async function* checkDatabase(address: DatabaseAddress, key = ''): AsyncGenerator<Check, Looked> {
  const { ok, warn, fail } = checksOf('database')
  const start = asTypedHere('farthing')
  if (isInMemory(address)) {
    yield warn('DATABASE_URL is sqlite::memory:, so nothing is kept.')
    return {}
  }
  try {
    requireDatabase(address)
    const { has, knows, walBytes, hasKey } = await inspectDatabase(address, hash('sha256', key))
    const place = capital(locationOf(address))
    if (has > knows)
      yield fail(
        `${place} was migrated by a newer Farthing: it has version ${has}, and this Farthing knows version ${knows}.`,
      )
    else if (has === 0) yield warn(`${place} has no tables yet. The next start makes them.`, start)
    else if (has < knows)
      yield warn(`${place} has version ${has}. The next start brings it to ${knows}.`, start)
    else yield ok(`${place} can be read and has the version of this Farthing.`)
    const isFull = address.kind === 'sqlite' && (yield* checkDisk(address.path, walBytes))
    return { hasKey, ...(isFull && { cause: 'the disk of its database is full' }) }
  } catch (error) {
    const cause = explainError(error)
    const sentence = `${capital(cause)}.`
    const isMissing = sentence.startsWith('There is no database')
    yield isMissing ? warn(`${sentence} The next start creates it.`, start) : fail(sentence)
    return isMissing ? {} : { cause }
  }
}

const MB = 1024 * 1024
const LEAST_ROOM = 1024 * MB
/** A disk with less free space is full: SQLite needs about so much for a write. */
const FULL = MB
const LARGEST_WAL = 256 * MB

/** Returns whether the disk is full. */
function* checkDisk(path: string, walBytes: number): Generator<Check, boolean> {
  const { ok, warn, fail } = checksOf('disk')
  const { bavail, bsize } = statfsSync(dirname(resolve(path)))
  const bytes = bavail * bsize
  const isFull = bytes < FULL
  const free = `${Math.round(bytes / MB)} MB are free where the database is.`
  if (isFull) yield fail('The disk is full where the database is: nothing can be written.')
  else yield bytes < LEAST_ROOM ? warn(`Only ${free}`) : ok(free)
  if (walBytes > LARGEST_WAL)
    yield warn(
      `The file -wal has ${Math.round(walBytes / MB)} MB, because a program has kept a read of the database open. Restart the service to shorten it.`,
    )
  return isFull
}
