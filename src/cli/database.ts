/** The database that DATABASE_URL names, for commands that run beside the service. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { DEFAULT_ACCOUNT } from '../core/account.ts'
import type { DatabaseAddress } from '../core/config.ts'
import type { Database } from '../core/ports.ts'
import { accountName } from '../core/values.ts'
import { inspectDatabase } from '../platform/database/inspect.ts'
import { openDatabase } from '../platform/database/open.ts'
import { JSON_OPTION } from './define-command.ts'
import { note } from './output.ts'
import { option } from './parse.ts'

/** The last options of a command that adds something to an account. */
export const accountOptions = {
  account: {
    value: '<name>',
    meaning: 'the account',
    parse: option(accountName),
    initial: DEFAULT_ACCOUNT,
  },
  create: { meaning: 'make the SQLite file if there is none' },
  ...JSON_OPTION,
} as const

/** The end of the help of a command that opens the database. */
export const NEEDS_DATABASE =
  'DATABASE_URL names the database, as for the service. The service may be running.'

export const isInMemory = (address: DatabaseAddress): boolean =>
  address.kind === 'sqlite' && address.path === ':memory:'

/** Where payments are kept, without a user name or a password. */
export function locationOf(address: DatabaseAddress): string {
  if (isInMemory(address)) return 'memory until Farthing stops'
  if (address.kind === 'sqlite') return `the SQLite file ${resolve(address.path)}`
  const url = new URL(address.url)
  // A Unix socket is given as ?host=/var/run/postgresql. The driver takes missing parts from PGHOST and so on.
  const host = url.host || url.searchParams.get('host') || 'its default host'
  const name = decodeURIComponent(url.pathname.slice(1))
  return `PostgreSQL on ${host}, ${name ? `database ${name}` : 'its default database'}`
}

/** Throws if the database is in the service's memory, or is an SQLite file that does not exist. */
export function requireDatabase(address: DatabaseAddress, advice = ''): void {
  if (isInMemory(address))
    throw new Error(
      'DATABASE_URL is sqlite::memory:. That database is in the memory of the running service, where no command can reach it',
    )
  if (address.kind === 'sqlite' && !existsSync(address.path))
    throw new Error(
      `there is no database at ${resolve(address.path)} (DATABASE_URL names it)${advice}`,
    )
}

/** Throws if the database is older. Only a start of the service migrates it: an older service may be using it. */
async function refuseOlder(address: DatabaseAddress, mayBeEmpty: boolean): Promise<void> {
  if (address.kind === 'sqlite' && !existsSync(address.path)) return // `openDatabase` makes the file
  const { has, knows } = await inspectDatabase(address, '')
  if (has >= knows || (has === 0 && mayBeEmpty)) return
  if (has === 0)
    throw new Error(
      `${locationOf(address)} has no tables yet: start the service before this command`,
    )
  throw new Error(
    `${locationOf(address)} has version ${has}. The next start of the service brings it to ${knows}: start it before this command`,
  )
}

/**
 * Opens the database for `work`, names it on standard error, and closes it. Without `create` the database must exist.
 * Without `options` it must have tables too.
 */
export async function useDatabase<Result>(
  address: DatabaseAddress,
  options: { create?: boolean } | undefined,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (!options?.create || isInMemory(address))
    requireDatabase(address, options && '. Add --create to make a new one')
  await refuseOlder(address, options !== undefined)
  // A failed write ends the command with its error, so nothing else needs to be reported.
  const database = await openDatabase(address, {
    onUnknownOutcome: () => {},
    onConnectionError: () => {},
  })
  try {
    note(`Database: ${locationOf(address)}`)
    return await work(database)
  } finally {
    await database.close()
  }
}
