import type { DatabaseAddress } from '../config.ts'
import type { Database } from '../ports.ts'
import { migrate } from './migrate.ts'
import type { PostgresOptions } from './postgres.ts'
import type { QueueOptions } from './sqlite/commit.ts'
import { makeFile, refuseForeign } from './sqlite/file.ts'
import { openSqlite } from './sqlite/sqlite.ts'

export type OpenOptions = QueueOptions & Pick<PostgresOptions, 'onConnectionError'>

/**
 * Opens the database that DATABASE_URL names and brings it to this version.
 * Throws when it cannot be reached, written to, or was made by a newer Farthing or another program; what
 * is wrong with a file gets its `path`.
 */
export async function openDatabase(
  address: DatabaseAddress,
  options: OpenOptions,
): Promise<Database> {
  if (address.kind === 'postgres') return openPostgresDatabase(address.url, options)
  try {
    if (address.path !== ':memory:') {
      makeFile(address.path)
      refuseForeign(address.path)
    }
    return await openSqliteDatabase(address.path, options)
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: address.path }) : error
  }
}

async function openSqliteDatabase(path: string, options: OpenOptions): Promise<Database> {
  const database = openSqlite({ path, ...options })
  try {
    await migrate(database, sql => database.exec(sql))
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

async function openPostgresDatabase(url: string, options: OpenOptions): Promise<Database> {
  // The driver is loaded only where it is needed.
  const { openPostgres } = await import('./postgres.ts')
  const patient = openPostgres({ url, ...options, patient: true })
  try {
    await refuseUnsafe(patient)
    await migrate(patient, sql => patient.exec(sql))
  } finally {
    await patient.close()
  }
  return openPostgres({ url, ...options })
}

const HOLDS_EVERY_TEXT = new Set(['UTF8', 'SQL_ASCII'])

/** Settings of the server or of the database under which it would lose or refuse what it is given. */
async function refuseUnsafe(database: Database): Promise<void> {
  const [found] = await database.query<{ commit: string; encoding: string }>(
    `select current_setting('synchronous_commit') as commit, current_setting('server_encoding') as encoding`,
  )
  if (found?.commit === 'off')
    throw new Error('PostgreSQL would lose writes in a crash: set synchronous_commit to on')
  if (found && !HOLDS_EVERY_TEXT.has(found.encoding))
    throw new Error(`the encoding of the database must be UTF8: it is ${found.encoding}`)
}
