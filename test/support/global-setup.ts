import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { bundleService, shippedFolders } from '../../scripts/bundle.ts'
import { openAt } from './open-database.ts'
import { createPostgresDatabase, type RunningPostgres, startPostgres } from './postgres.ts'

let server: RunningPostgres | undefined

/**
 * The server does not wait for the disk and does little for databases that soon go. synchronous_commit stays on: the
 * service starts only with it. Tests that crash PostgreSQL start their own servers.
 */
const SETTINGS = [
  ...'fsync=off full_page_writes=off wal_level=minimal max_wal_senders=0 jit=off'.split(' '),
  ...'checkpoint_timeout=1h max_wal_size=8GB autovacuum_naptime=10min max_connections=500'.split(
    ' ',
  ),
]

/** From version 18 on: copies a database without reading it. */
const COPY = 'file_copy_method=clone'

/** A folder with bin, lib and share of another version of PostgreSQL to test with. */
const BINARIES = process.env.FARTHING_TEST_POSTGRES_BINARIES

/**
 * Starts one PostgreSQL server for the whole run, in which each test file makes its own databases, and makes one
 * bundled command. A run that a test starts uses those of the outer run.
 */
export async function globalSetup(): Promise<void> {
  if (process.env.FARTHING_TEST_POSTGRES) return
  const bundling = bundleCommand()
  try {
    server = await startPostgres(
      BINARIES ? { settings: SETTINGS, binaries: BINARIES } : { settings: [...SETTINGS, COPY] },
    )
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
  process.env.FARTHING_TEST_POSTGRES = server.url
  process.env.FARTHING_TEST_TEMPLATE = await makeTemplate(server.url)
  process.env.FARTHING_TEST_COMMAND = await bundling
}

/** Makes a migrated database for `copyMigratedDatabase`. Returns its name. */
async function makeTemplate(serverUrl: string): Promise<string> {
  const url = await createPostgresDatabase(serverUrl)
  await (await openAt(url)).close()
  return new URL(url).pathname.slice(1)
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}

const ROOT = join(import.meta.dirname, '../..')
/** The same folder in each run, so that Node finds the code that it compiled in earlier runs. */
const FOLDER = join(ROOT, 'node_modules/.cache/farthing-command')
const COPIED = ['package.json', 'bin/farthing.js', 'bin/installation.js', 'bin/package.json']
const COMPILED = ['farthing.cjs', 'platform/database/sqlite/thread.cjs']

/**
 * Makes the command as the package has it: in one file, which starts in two thirds of the time that the sources take.
 * Returns its path. Another run may be using it, so each file is replaced at once.
 */
async function bundleCommand(): Promise<string> {
  const draft = join(FOLDER, `draft-${process.pid}`)
  const dist = join(FOLDER, 'dist')
  for (const folder of [join(dist, 'platform/database/sqlite'), join(FOLDER, 'bin')])
    mkdirSync(folder, { recursive: true })
  for (const folder of shippedFolders) {
    mkdirSync(dirname(join(dist, folder)), { recursive: true })
    const link = join(dist, folder)
    if (existsSync(link)) continue
    // A link of a clone that has been moved since leads nowhere. This one is relative, so that it can be moved.
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(link), join(ROOT, 'src', folder)), link)
  }
  await bundleService(draft)
  for (const file of COPIED) cpSync(join(ROOT, file), join(draft, file))
  for (const file of COPIED) renameSync(join(draft, file), join(FOLDER, file))
  for (const file of COMPILED) renameSync(join(draft, file), join(dist, file))
  rmSync(draft, { recursive: true })
  return join(FOLDER, 'bin/farthing.js')
}
