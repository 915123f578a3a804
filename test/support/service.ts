import { after, before, describe } from 'node:test'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import type { Behaviour } from '../../src/core/account.ts'
import type { Ports, Resolve, Send } from '../../src/core/ports.ts'
import { createTime } from '../../src/core/time.ts'
import { createKey } from '../../src/platform/accounts/store.ts'
import { type Client, createClient } from './client.ts'
import { tempDatabase } from './folders.ts'
import { copyMigratedDatabase } from './postgres.ts'

/** Tests on PostgreSQL run two instances of the service, and each must see the writes of the other. */
export type DatabaseKind = 'sqlite' | 'postgres'
export const databaseKinds: DatabaseKind[] = ['sqlite', 'postgres']

/** The time at the start of every service, in milliseconds. It passes only when a test advances it. */
export const START = Date.parse('2026-09-14T08:20:31.407Z')

export type ServiceOptions = {
  env?: Record<string, string>
  /** Switches control on, so that a client can move the clock of its account. */
  control?: boolean
  resolve?: Resolve
  /** Replaces the real sender of webhook messages. */
  send?: Send
  /** A certificate authority that the real sender trusts, as PEM. */
  ca?: string
  /** Makes identifiers, tokens and keys the same in each run. */
  seed?: string
  /** Replaces other ports. */
  ports?: (real: Ports) => Partial<Ports>
}

export type Service = Awaited<ReturnType<typeof startService>>

/** Both instances use this address, so that their links are the same. */
const SHARED_ADDRESS = { FARTHING_BASE_URL: 'https://payments.example.org' }

/** The real service on a real database, with a clock that the test moves. */
export async function startService(kind: DatabaseKind, options: ServiceOptions = {}) {
  const given = options.env?.DATABASE_URL
  const url = given ?? (kind === 'sqlite' ? tempDatabase() : await copyMigratedDatabase())
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: url,
    ...(kind === 'postgres' && SHARED_ADDRESS),
    ...(options.control && { FARTHING_CONTROL: 'true' }),
    ...options.env,
  })
  let now = START
  const time = createTime(() => now)
  const resolve = options.resolve ?? (async () => [])
  const startInstance = () =>
    startFarthing({
      config,
      backgroundWork: false,
      ports: real => ({
        ...real,
        time,
        send: options.send ?? real.send,
        ...options.ports?.(real),
      }),
      resolve,
      ...(options.ca && { ca: options.ca }),
      ...(options.seed && { seed: options.seed }),
    })
  const first = await startInstance()
  const instances = kind === 'postgres' ? [first, await startInstance()] : [first]
  // A slow machine may need longer for a request than a client may take to send it.
  for (const { app } of instances)
    Object.assign(app.server.server, { headersTimeout: 0, requestTimeout: 0 })
  const baseUrls = instances.map(instance => instance.url)
  let accounts = 0
  async function namedAccount(behaviour?: Behaviour) {
    const name = `account-${++accounts}`
    const { key } = await createKey(first.ports, name, behaviour)
    return { name, api: createClient(baseUrls, key, behaviour) }
  }
  return {
    kind,
    /** The URL of the first instance. Clients alternate between all instances. */
    baseUrl: first.url,
    baseUrls,
    database: first.ports.database,
    apps: instances.map(({ app }) => app),
    config,
    time,
    /**
     * The machine's time: for claims, recovery, the memory of keys, seals and deletions, for time that passes during a
     * request, and where control is off. Other tests move the clock of their account, with `advance` of its client.
     */
    clock: {
      now: (): number => time.wall(),
      advance: (ms: number): void => {
        now += ms
      },
    },
    newAccount: async (behaviour?: Behaviour): Promise<Client> =>
      (await namedAccount(behaviour)).api,
    namedAccount,
    anonymous: createClient(baseUrls, undefined),
    async stop() {
      await Promise.all(instances.map(instance => instance.close()))
    },
  }
}

/** The services that the describes of a process share: one for each database and each choice of options. */
const shared = new Map<string, Promise<Service>>()

function shareService(kind: DatabaseKind, { control = false, receives = false }: SharedOptions) {
  const name = `${kind} ${control} ${receives}`
  const start = async () => {
    // Only the tests that receive need certificates.
    const more = receives ? (await import('./subscriber.ts')).receiving : {}
    return startService(kind, { control, ...more })
  }
  const found = shared.get(name) ?? start()
  shared.set(name, found)
  return found
}

/** Ignores a service that did not start: its tests have failed already, and the others must be stopped. */
async function stopShared(): Promise<void> {
  const started = await Promise.allSettled(shared.values())
  shared.clear()
  for (const start of started) if (start.status === 'fulfilled') await start.value.stop()
}

/** The part of a shared service that tests may use. */
export type SharedService = Omit<Service, 'clock' | 'stop' | 'time'>

/** `receives` stands for `receiving` of subscriber.ts. No other option, because all tests share the service. */
type SharedOptions = Pick<ServiceOptions, 'control'> & { receives?: boolean }

type Define<Of> = (service: () => Of) => void
/** Options come before the function, as in node:test. */
type Given<Options, Of> = [define: Define<Of>] | [options: Options, define: Define<Of>]

/**
 * `onEveryDatabase` with a service that all describes of a process share, because a start on PostgreSQL takes half a
 * second. For tests that use only accounts of their own and do not move the machine's time.
 */
export const onSharedDatabases = (
  title: string,
  ...given: Given<SharedOptions, SharedService>
): void => onEach(title, { kinds: databaseKinds, isShared: () => true }, given)

/**
 * Defines tests that run once, on SQLite, because no row is read or written before the result: tests of refusals,
 * headers, addresses and texts. With other options than `control` they have a service of their own.
 */
export function onOneDatabase(title: string, ...given: Given<ServiceOptions, SharedService>): void {
  const isShared = (options: object) => Object.keys(options).every(name => name === 'control')
  onEach(title, { kinds: ['sqlite'], isShared }, given)
}

/** Defines the same tests for SQLite and for two instances on one PostgreSQL database. */
export const onEveryDatabase = (title: string, ...given: Given<ServiceOptions, Service>): void =>
  onEach(title, { kinds: databaseKinds, isShared: () => false }, given)

function onEach(
  title: string,
  { kinds, isShared }: { kinds: DatabaseKind[]; isShared: (options: object) => boolean },
  given: Given<ServiceOptions & SharedOptions, Service>,
): void {
  const [options, define] = given.length === 2 ? given : [{}, given[0]]
  const shares = isShared(options)
  // At the end of the file, or of the describe in which this is called.
  if (shares) after(stopShared)
  for (const kind of kinds)
    describe(`${title} (${kind})`, () => {
      const start = () => (shares ? shareService(kind, options) : startService(kind, options))
      define(duringTests(start, shares))
    })
}

/**
 * A service on SQLite for all tests of the file, or of the describe in which this is called. `prepare` makes data for
 * the tests: other hooks of a file do not wait for this one.
 */
export const ownService = (options?: ServiceOptions, prepare?: Prepare): (() => Service) =>
  duringTests(() => startService('sqlite', options), false, prepare)

type Prepare = (service: Service) => Promise<void>

function duringTests(start: () => Promise<Service>, staysOpen: boolean, prepare?: Prepare) {
  let service: Service | undefined
  before(async () => {
    service = await start()
    await prepare?.(service)
  })
  after(() => (staysOpen ? undefined : service?.stop()))
  return () => {
    if (!service) throw new Error('the service starts in a before hook')
    return service
  }
}
