/** The checks of this machine. */

import { createHash } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseAddress } from '../core/config.ts'
import { inspectDatabase } from '../platform/database/inspect.ts'
import { locationOf, requireDatabase } from './database.ts'
import { type Check, fail, ok, warn } from './doctor-check.ts'
import { explainError } from './explain-error.ts'

export const checkNode = (): Check => ok('node', `Node ${process.versions.node} runs this command.`)

const MB = 1024 * 1024
const LEAST_ROOM = 1024 * MB
const LARGEST_WAL = 256 * MB

/** `hasKey` is undefined if the database cannot be looked at. */
export async function checkDatabase(
  address: DatabaseAddress,
  key: string | undefined,
): Promise<{ checks: Check[]; hasKey?: boolean }> {
  if (address.kind === 'sqlite' && address.path === ':memory:')
    return { checks: [warn('database', 'DATABASE_URL is sqlite::memory:, so nothing is kept.')] }
  try {
    requireDatabase(address)
    const hash = createHash('sha256').update(key ?? '')
    const { has, knows, walBytes, hasKey } = await inspectDatabase(address, hash.digest('hex'))
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
