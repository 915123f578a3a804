import { setImmediate } from 'node:timers/promises'
import type { DatabaseAddress } from '../../core/config.ts'
import type { Database } from '../../core/ports.ts'
import { refuseForeignFile, refuseForeignSchema } from './inspect.ts'
import { migrate, type OnMigrated } from './migrate.ts'
import type { PostgresOptions } from './postgres.ts'
import type { QueueOptions } from './sqlite/commit.ts'
import { makeFile } from './sqlite/file.ts'
import { openSqlite } from './sqlite/sqlite.ts'

type OpenOptions = QueueOptions &
  Pick<PostgresOptions, 'onConnectionError'> & { onMigrated?: OnMigrated }

/** Opens and migrates. Throws if it is unusable, another program's or a newer Farthing's. SQLite errors have `path`. */
export async function openDatabase(address: DatabaseAddress, options: OpenOptions) {
  const { database, migrated } = await beginOpening(address, options)
  await migrated
  return database
}

/** As `openDatabase`, but use a file only once `migrated` resolves. If `migrated` rejects, the database is closed. */
export async function beginOpening(address: DatabaseAddress, options: OpenOptions) {
  if (address.kind === 'postgres') {
    const database = await openPostgresDatabase(address.url, options)
    return { database, migrated: Promise.resolve() }
  }
  const { path } = address
  const isFile = path !== ':memory:'
  const withPath = (error: unknown) =>
    error instanceof Error ? Object.assign(error, { path }) : error
  try {
    if (isFile) makeFile(path)
    const has = isFile ? await refuseForeignFile(path) : 0
    const database = openSqlite({ path, ...options })
    const migrated = migrate(database, has, options.onMigrated).catch(async error => {
      await database.close()
      throw withPath(error)
    })
    migrated.catch(() => undefined) // the caller that waits for `migrated` gets the error
    await setImmediate() // the thread gets the statements at the end of this turn, and works while the caller does
    return { database, migrated }
  } catch (error) {
    throw withPath(error)
  }
}

async function openPostgresDatabase(url: string, options: OpenOptions): Promise<Database> {
  // Loaded only here: a service on SQLite does not need the driver.
  const { openPostgres } = await import('./postgres.ts')
  const migrating = openPostgres({ url, ...options, timeouts: false, pooled: true })
  try {
    await refuseUnsafe(migrating)
    await migrate(migrating, await refuseForeignSchema(migrating.query), options.onMigrated)
    await makeUnlogged(migrating)
    return openPostgres({ url, ...options, pooled: await migrating.isPooled() })
  } finally {
    await migrating.close()
  }
}

/** The one table whose rows may be lost: the record of requests. */
const UNLOGGED = 'exchanges'

/** Takes the record out of PostgreSQL's write-ahead log: a crash then empties it. If refused, writes are slower. */
async function makeUnlogged(database: Database): Promise<void> {
  const [row] = await database.query<{ relpersistence: string }>(
    'select relpersistence from pg_class where oid = to_regclass($1)',
    [UNLOGGED],
  )
  if (row?.relpersistence === 'p')
    await database.query(`alter table ${UNLOGGED} set unlogged`).catch(() => undefined)
}

/** The server encodings that can store every text. */
const GOOD_ENCODINGS = new Set(['UTF8', 'SQL_ASCII'])

/** The oldest version of PostgreSQL that the tests have run on. Databases that only speak its protocol may have any. */
const OLDEST_POSTGRES = 14

/** Throws if PostgreSQL is too old, or if a setting would make it lose acknowledged writes or refuse some texts. */
async function refuseUnsafe(database: Database): Promise<void> {
  const [row] = await database.query<{ version: string; commit: string; encoding: string }>(
    `select version() as version, current_setting('synchronous_commit') as commit,
       current_setting('server_encoding') as encoding`,
  )
  const [, version = ''] = /^PostgreSQL ([\d.]+)(?!.*-YB)/.exec(row?.version ?? '') ?? []
  if (version !== '' && Number.parseInt(version, 10) < OLDEST_POSTGRES)
    throw new Error(`Farthing needs PostgreSQL ${OLDEST_POSTGRES} or newer: this one is ${version}`)
  if (row?.commit === 'off')
    throw new Error('PostgreSQL would lose writes in a crash: set its synchronous_commit to on')
  if (row && !GOOD_ENCODINGS.has(row.encoding))
    throw new Error(`the encoding of the PostgreSQL database must be UTF8: it is ${row.encoding}`)
}
