import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { createKey } from '../../src/accounts/store.ts'
import { type App, createApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/open.ts'
import { createNewId } from '../../src/ids.ts'
import { createSend } from '../../src/outbound/send.ts'
import type { Database, Resolve, Send } from '../../src/ports.ts'
import { type Client, createClient } from './client.ts'
import { createPostgresDatabase } from './postgres.ts'

/** PostgreSQL always has two instances in front of it: what one writes the other must know. */
export type DatabaseKind = 'sqlite' | 'postgres'
export const databaseKinds: DatabaseKind[] = ['sqlite', 'postgres']

/** Where every test begins; the clock stands still until a test moves it. */
const START = Date.parse('2026-09-14T08:20:31.407Z')

export type ServiceOptions = {
  env?: Record<string, string>
  resolve?: Resolve
  /** Instead of the real sender. */
  send?: Send
  /** A certificate authority that the real sender trusts, in PEM. */
  ca?: string
}

export type Service = {
  kind: DatabaseKind
  /** Of one instance; requests of clients alternate between all of them. */
  baseUrl: string
  database: Database
  apps: App[]
  config: Config
  clock: { now(): number; advance(ms: number): void }
  /** A new account with a key of its own, which sees only what it made. */
  newAccount(): Promise<Client>
  /** Requests without a key. */
  anonymous: Client
  stop(): Promise<void>
}

/** Two instances stand behind one address, so that links are the same whichever of them answers. */
const SHARED_ADDRESS = { FARTHING_BASE_URL: 'https://payments.example.org' }

/** The real application on a real database, with a clock that the test moves. */
export async function startService(
  kind: DatabaseKind,
  options: ServiceOptions = {},
): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-test-'))
  const url =
    kind === 'sqlite' ? `sqlite:${join(folder, 'farthing.db')}` : await createPostgresDatabase()
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: url,
    ...(kind === 'postgres' && SHARED_ADDRESS),
    ...options.env,
  })
  let now = START
  const clock = () => now
  const resolve = options.resolve ?? (async () => [])
  const sends: { close(): void }[] = []
  const databases: Database[] = []

  async function startInstance(): Promise<App> {
    const database = await openDatabase(config.database, {
      onUnknownOutcome: error => {
        throw error
      },
      onConnectionError: () => {},
    })
    databases.push(database)
    const real = createSend({
      resolve,
      allowed: config.callbackHosts,
      userAgent: 'Farthing/test',
      ...(options.ca && { ca: options.ca }),
    })
    sends.push(real)
    const ports = { database, clock, newId: createNewId(), resolve, send: options.send ?? real }
    const app = await createApp(ports, config)
    await app.server.listen({ port: 0, host: '127.0.0.1' })
    return app
  }

  const apps = [await startInstance()]
  if (kind === 'postgres') apps.push(await startInstance())
  const baseUrls = apps.map(app => app.server.listeningOrigin)
  const [database] = databases
  const [baseUrl] = baseUrls
  if (!database || !baseUrl) throw new Error('no instance')
  let accounts = 0
  return {
    kind,
    baseUrl,
    database,
    apps,
    config,
    clock: {
      now: clock,
      advance: ms => {
        now += ms
      },
    },
    async newAccount() {
      const newId = createNewId()
      const { key } = await createKey({ database, clock, newId }, `account-${++accounts}`)
      return createClient(baseUrls, key)
    },
    anonymous: createClient(baseUrls, undefined),
    async stop() {
      for (const { server, deliveries } of apps) {
        await server.close()
        await deliveries.settled()
      }
      for (const send of sends) send.close()
      for (const open of databases) await open.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs the same tests on SQLite, and through two instances on one PostgreSQL. */
export function onEveryDatabase(
  title: string,
  define: (service: () => Service) => void,
  options: ServiceOptions = {},
): void {
  for (const kind of databaseKinds)
    describe(`${title} (${kind})`, () => {
      let service: Service | undefined
      before(async () => {
        service = await startService(kind, options)
      })
      after(() => service?.stop())
      define(() => {
        if (!service) throw new Error('the service is there once the tests run')
        return service
      })
    })
}
