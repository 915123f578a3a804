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

/** Tests on PostgreSQL run two instances of the service, and each must see what the other writes. */
export type DatabaseKind = 'sqlite' | 'postgres'
export const databaseKinds: DatabaseKind[] = ['sqlite', 'postgres']

/** The time at the start of every service, in milliseconds. It passes only when a test advances it. */
const START = Date.parse('2026-09-14T08:20:31.407Z')

export type ServiceOptions = {
  env?: Record<string, string>
  resolve?: Resolve
  /** Replaces the real sender of webhook messages. */
  send?: Send
  /** A certificate authority that the real sender trusts, as PEM. */
  ca?: string
}

export type Service = {
  kind: DatabaseKind
  /** The URL of the first instance. Clients alternate between all instances. */
  baseUrl: string
  database: Database
  apps: App[]
  config: Config
  clock: { now(): number; advance(ms: number): void }
  /** Creates an account with an API key. */
  newAccount(): Promise<Client>
  /** A client without an API key. */
  anonymous: Client
  stop(): Promise<void>
}

/** Both instances use this address, so that their links are the same. */
const SHARED_ADDRESS = { FARTHING_BASE_URL: 'https://payments.example.org' }

/** Starts the application on a real database, with a clock that the test advances. */
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

/** Defines the same tests for SQLite and for two instances on one PostgreSQL database. */
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
        if (!service) throw new Error('the service starts in a before hook')
        return service
      })
    })
}
