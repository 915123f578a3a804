import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { DEFAULT_ACCOUNT } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { createNewId, createSeededIds, secrets } from '../core/ids.ts'
import type { Database, Ports, Resolve } from '../core/ports.ts'
import { createTime } from '../core/time.ts'
import { version } from '../core/version.ts'
import { keepFixedWebhook } from '../pay/webhooks/store.ts'
import { duplicateWarning } from '../pay/webhooks/webhook.ts'
import {
  countMovedClocks,
  createKey,
  findKey,
  findOrMakeAccount,
  listKeys,
  setDefaultBehaviour,
} from '../platform/accounts/store.ts'
import { beginOpening } from '../platform/database/open.ts'
import { isMountedAlone } from '../platform/database/sqlite/file.ts'
import { linkTo } from '../platform/http/addresses.ts'
import { createResolve } from '../platform/outbound/resolve.ts'
import { createSend } from '../platform/outbound/send.ts'
import type { App } from './app.ts'
import { startWork } from './background.ts'

/** Milliseconds for which closing waits for requests and deliveries (DRAIN), and then for the database (CLOSE). */
const DRAIN_TIMEOUT = 9_000
const CLOSE_TIMEOUT = 500
/** For the responses after a commit whose outcome is unknown, before the process ends. */
const LAST_RESPONSES = 500

/** Connections that wait to be accepted. Beyond Node's 511 Linux would let clients believe that they are connected. */
const BACKLOG = 4_096

type StartOptions = {
  config: Config
  /** Without a logger nothing is logged. Its level stays as it is. */
  logger?: Logger | undefined
  /** Called when the process must end, because the state of the disk is unknown. Without it the error is thrown. */
  onFatal?: (error: unknown) => void
  /** Replaces ports: gets the real ports and returns the ports to use. */
  ports?: (real: Ports) => Ports
  /** Whether unsent messages are recovered and old rows deleted while it runs. */
  backgroundWork?: boolean
  /** Makes identifiers, tokens and keys the same in each run. Only for tests: they can be guessed. */
  seed?: string
  /** Looks up the hosts of webhooks, instead of the hosts file and DNS. */
  resolve?: Resolve
  /** Certificates to trust when webhooks are sent, in PEM, instead of those that Node trusts. */
  ca?: string
}

export type Farthing = Awaited<ReturnType<typeof startFarthing>>

/** The only way to start the service. Resolves when it is ready. Rejects if database or port cannot be used. */
export async function startFarthing(options: StartOptions) {
  const { config, logger } = options
  const { ports, metrics, migrated, closePorts } = await openPorts(options)
  let server: FastifyInstance | undefined
  try {
    // SQLite's thread starts and migrates a new file while this one loads and makes the app.
    const { createApp } = await import('./app.ts')
    const app = await createApp(ports, config, logger, metrics?.watch)
    server = app.server
    await migrated
    await admitFixedKeys(ports, config)
    await makeFixedWebhook(ports, config, logger)
    await listen(server, config)
    const metricsUrl = await metrics?.listen(config.host, config.metricsPort ?? 0)
    // Create the first key only after `listen` succeeded; otherwise nobody would ever see it.
    const apiKey = config.apiKey ?? (await makeFirstKey(ports, config))
    warnOfMount(config, logger)
    if (!config.control) await warnOfMovedClocks(ports.database, logger)
    const stopWork = options.backgroundWork === false ? undefined : workOf(app, ports, options)
    let closing: Promise<void> | undefined
    async function close(graceMs: number): Promise<void> {
      const workStopped = stopWork?.()
      await withTimeout(finish(app, graceMs, workStopped), DRAIN_TIMEOUT)
      await withTimeout(closePorts(), CLOSE_TIMEOUT)
    }
    return {
      url: linkTo(config.host, server.server), // such as http://127.0.0.1:3000
      /** The configured or the new key. undefined if the database had keys already: only their hashes are stored. */
      apiKey,
      metricsUrl,
      /** Finishes the work in progress, within 10 s, and closes everything. Idle connections end after `graceMs` ms. */
      close(graceMs = 0): Promise<void> {
        closing ??= close(graceMs)
        return closing
      },
      app,
      ports,
    }
  } catch (error) {
    if (server) await closeServer(server)
    await closePorts().catch(() => undefined)
    throw error
  }
}

/** Opens the database, and makes the ports with it. */
async function openPorts(options: StartOptions) {
  const { config, logger, ca, seed, onFatal = throwError } = options
  const metrics = await createMetrics(config)
  const { database, migrated } = await beginOpening(config.database, {
    onCommit: metrics?.committed,
    onUnknownOutcome: error => void setTimeout(onFatal, LAST_RESPONSES, error),
    ...reportTo(logger),
  }).catch(async error => {
    await metrics?.close()
    throw error
  })
  const resolve = options.resolve ?? createResolve()
  const send = createSend({
    resolve,
    allowed: config.callbackHosts,
    userAgent: `Farthing/${version}`,
    ...(ca && { ca }),
  })
  const real: Ports = {
    database,
    time: createTime(undefined, config),
    ...(seed === undefined ? { newId: createNewId(), secrets } : createSeededIds(seed)),
    resolve,
    send: metrics?.counting(send) ?? send,
  }
  async function closePorts(): Promise<void> {
    send.close()
    await metrics?.close()
    await database.close()
  }
  return { ports: options.ports?.(real) ?? real, metrics, migrated, closePorts }
}
/** Logs the database's reports. */
const reportTo = (logger: Logger | undefined) => ({
  onConnectionError: (error: Error) =>
    logger?.warn(`a database connection was lost: ${error.message}`),
  onMigrated: (from: number, to: number) =>
    logger?.info({ from, to }, `migrated the database from version ${from} to ${to}`),
})

const createMetrics = async ({ metricsPort }: Config) =>
  metricsPort === undefined
    ? undefined
    : (await import('../platform/metrics/metrics.ts')).createMetrics()

function throwError(error: unknown): never {
  throw error
}

function workOf(app: App, ports: Ports, { config, logger }: StartOptions) {
  const warn = (...args: Parameters<Logger['warn']>) => logger?.warn(...args)
  const inMemory = config.database.kind === 'sqlite' && config.database.path === ':memory:'
  return startWork({ ...app, ...ports, warn, inMemory })
}

/** With Node's own call: Fastify's logs the address, which the command prints already, and takes no bound socket. */
async function listen(app: FastifyInstance, { port, host }: Config): Promise<void> {
  await app.ready()
  const { server } = app
  try {
    // The lookup gives one address, where a name such as localhost can have two.
    const { address } = await lookup(host, { order: 'ipv4first' })
    const listening = once(server, 'listening')
    // A bound socket, where Node has it, saves 10 ms of a start: Node's expression for IPv6 addresses is not compiled.
    const { BoundSocket } = net as Partial<typeof net>
    if (BoundSocket) server.listen(new BoundSocket({ host: address, port }), BACKLOG)
    else server.listen({ port, host: address, backlog: BACKLOG })
    await listening
  } catch (error) {
    const unknownName = error instanceof Error && 'hostname' in error
    if (!unknownName) throw error
    throw new Error(
      `HOST ${host} is not a name or address of this machine: unset HOST, which conda and some shells set, or set it to 127.0.0.1`,
    )
  }
}

/**
 * Makes the accounts of the fixed keys, and sets the behaviour of the default account. Throws for a key that another
 * account has: a client's key, set by mistake for the service, would open the default account on this instance only.
 */
async function admitFixedKeys({ database, time }: Ports, { fixedKeys, behaviour }: Config) {
  await setDefaultBehaviour(database, behaviour)
  for (const { account, key, key_id } of fixedKeys) {
    const found = await findKey(database, key, { fixedKeys: [], at: time.wall() })
    const setting = key_id === 'configured' ? 'FARTHING_API_KEY is' : 'FARTHING_API_KEYS has'
    if (found && found.account.name !== account)
      throw new Error(
        `${setting} a key of the account ${found.account.name}, and the service needs one of its own for the account ${account}: set another, or none`,
      )
    await findOrMakeAccount(database, account, behaviour)
  }
}

async function makeFirstKey(ports: Ports, { fixedKeys, behaviour }: Config) {
  if (fixedKeys.length > 0 || (await listKeys(ports.database)).length > 0) return undefined
  return (await createKey(ports, DEFAULT_ACCOUNT, behaviour)).key
}

async function makeFixedWebhook(ports: Ports, { fixedWebhook }: Config, logger?: Logger) {
  if (!fixedWebhook) return
  const others = await keepFixedWebhook(ports, fixedWebhook)
  if (others.length > 0) logger?.warn(duplicateWarning(fixedWebhook.callback_url, others))
}

function warnOfMount({ database }: Config, logger?: Logger): void {
  if (database.kind === 'sqlite' && isMountedAlone(database.path))
    logger?.warn(
      `the SQLite file ${database.path} is mounted without its folder: the newest payments, in ${database.path}-wal, are lost with the container, so mount the folder`,
    )
}

async function warnOfMovedClocks(database: Database, logger?: Logger): Promise<void> {
  const moved = await countMovedClocks(database)
  if (moved > 0)
    logger?.warn(
      `${moved} ${moved === 1 ? 'account has' : 'accounts have'} a clock that was moved; without FARTHING_CONTROL=true the machine's time holds`,
    )
}

async function finish(
  { server, deliveries, limits, recorder, signals }: App,
  graceMs: number,
  workStopped?: Promise<void>,
): Promise<void> {
  const drained = limits.drain(graceMs)
  signals.setAll()
  await drained
  await closeServer(server)
  await deliveries.settled()
  await workStopped
  await recorder?.close()
}

/** Resolves when no connection is left. Fastify's `close` waits for none, as it did not make the server listen. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const closed = new Promise<void>(resolve => app.server.close(() => resolve()))
  await app.close()
  await closed
}

/** Resolves when `work` is done, or after `ms` milliseconds. Rejects as `work` does. */
const withTimeout = (work: Promise<void>, ms: number): Promise<void> =>
  Promise.race([work, sleep(ms, undefined, { ref: false })])
