import { lookup } from 'node:dns/promises'
import net from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
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
} from '../platform/accounts/store.ts'
import { openDatabase } from '../platform/database/open.ts'
import { isMountedAlone } from '../platform/database/sqlite/file.ts'
import { linkTo } from '../platform/http/addresses.ts'
import { createResolve } from '../platform/outbound/resolve.ts'
import { createSend } from '../platform/outbound/send.ts'
import type { App } from './app.ts'
import { startWork } from './background.ts'

/** Milliseconds. DRAIN: how long closing waits for requests and deliveries. CLOSE: how long it then waits for the database. */
const DRAIN_TIMEOUT = 9_000
const CLOSE_TIMEOUT = 500
/** For the responses after a commit whose outcome is unknown, before the process ends. */
const LAST_RESPONSES = 500

/**
 * Connections that the system keeps until the event loop accepts them. Node's default is 511; beyond it Linux lets
 * clients believe that they are connected and resets them later.
 */
const BACKLOG = 4_096

type StartOptions = {
  config: Config
  /** Without one nothing is logged. Its level is left alone. */
  logger?: Logger | undefined
  /** Called when the process must end, because the state of the disk is unknown. Without it the error is thrown. */
  onFatal?: (error: unknown) => void
  /** Replaces ports: gets the real ones and returns those to use. */
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

/** Starts the service: the only way to do so. Throws if the database cannot be opened or the port is taken. */
export async function startFarthing(options: StartOptions) {
  const { config, logger, ca, onFatal = throwError } = options
  const metrics = await createMetrics(config)
  const opening = openDatabase(config.database, {
    onCommit: metrics?.committed,
    onUnknownOutcome: error => void setTimeout(onFatal, LAST_RESPONSES, error),
    ...reportTo(logger),
  })
  opening.catch(() => undefined)
  // It has its methods once it is open. The app uses none before it listens.
  const database = {} as Database
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
    ...(options.seed === undefined
      ? { newId: createNewId(), secrets }
      : createSeededIds(options.seed)),
    resolve,
    send: metrics?.counting(send) ?? send,
  }

  async function closePorts(): Promise<void> {
    send.close()
    await metrics?.close()
    await opening.then(opened => opened.close())
  }

  let server: FastifyInstance | undefined
  try {
    // In two turns of the event loop SQLite's thread gets what migrates a new file. Meanwhile this one makes the app.
    await setImmediate()
    await setImmediate()
    const { createApp } = await import('./app.ts')
    const ports = options.ports?.({ ...real, database: await opening }) ?? real
    const app = await createApp(ports, config, logger, metrics?.watch)
    server = app.server
    Object.assign(database, await opening)
    await admitFixedKeys(ports, config)
    await listen(server, config)
    const metricsUrl = await metrics?.listen(config.host, config.metricsPort ?? 0)
    // Create the first key only after `listen` succeeded; otherwise nobody would ever see it.
    const apiKey = config.apiKey ?? (await makeFirstKey(ports, config))
    await makeFixedWebhook(ports, config, logger)
    warnOfMount(config, logger)
    if (!config.control) await warnOfMovedClocks(database, logger)
    const warn = (...args: Parameters<Logger['warn']>) => logger?.warn(...args)
    const inMemory = config.database.kind === 'sqlite' && config.database.path === ':memory:'
    const stopWork =
      options.backgroundWork === false ? undefined : startWork({ ...app, ...ports, warn, inMemory })
    let closing: Promise<void> | undefined
    async function close(graceMs: number): Promise<void> {
      const workStopped = stopWork?.()
      await withTimeout(finish(app, graceMs, workStopped), DRAIN_TIMEOUT)
      await withTimeout(closePorts(), CLOSE_TIMEOUT)
    }
    return {
      url: linkTo(config.host, server.server), // such as http://127.0.0.1:3000
      /** undefined if there were keys in the database: only their hashes are stored. Otherwise the configured or the new one. */
      apiKey,
      metricsUrl,
      /** Ends what is in progress, within 10 seconds, and releases all. Idle connections end after `graceMs` milliseconds. */
      close(graceMs = 0): Promise<void> {
        closing ??= close(graceMs)
        return closing
      },
      app,
      ports,
    }
  } catch (error) {
    await server?.close()
    await closePorts().catch(() => undefined)
    throw error
  }
}

/** What the database tells the log. */
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

async function listen(server: FastifyInstance, { port, host }: Config): Promise<void> {
  // Fastify logs its address when it listens, and the command prints it too. This logger is the server's own.
  const { level } = server.log
  server.log.level = 'silent'
  try {
    // One address: the name localhost can have two, and of two servers Fastify closes only one gracefully.
    const { address } = await lookup(host, { order: 'ipv4first' })
    await server.listen(optionsOfListen(server.server, address, port))
  } catch (error) {
    const unknownName = error instanceof Error && 'hostname' in error
    if (!unknownName) throw error
    throw new Error(
      `HOST ${host} is not a name or address of this machine: unset HOST, which conda and some shells set, or set it to 127.0.0.1`,
    )
  } finally {
    server.log.level = level
  }
}

/**
 * Before it listens on an address, Node compiles an expression for IPv6 addresses: 4 % of a start. It does not for a socket
 * that is bound already, as Node has them from 26.4 on. Of that it takes the backlog only as a second argument.
 */
function optionsOfListen(server: net.Server, host: string, port: number) {
  const { BoundSocket } = net as Partial<typeof net>
  if (!BoundSocket) return { port, host, backlog: BACKLOG }
  const socket = new BoundSocket({ host, port })
  server.listen = () => Reflect.apply(net.Server.prototype.listen, server, [socket, BACKLOG])
  return { host }
}

/**
 * Makes the accounts of the fixed keys. Throws if one is a key of another account: a client's key that is set where the
 * service starts would open the default account on this instance only.
 */
async function admitFixedKeys({ database, time }: Ports, { fixedKeys }: Config): Promise<void> {
  for (const { account, key, key_id } of fixedKeys) {
    const found = await findKey(database, key, [], time.wall())
    const setting = key_id === 'configured' ? 'FARTHING_API_KEY is' : 'FARTHING_API_KEYS has'
    if (found && found.account.name !== account)
      throw new Error(
        `${setting} a key of the account ${found.account.name}, and the service needs one of its own for the account ${account}: set another, or none`,
      )
    await findOrMakeAccount(database, account)
  }
}

async function makeFirstKey(ports: Ports, { fixedKeys }: Config): Promise<string | undefined> {
  if (fixedKeys.length > 0 || (await listKeys(ports.database)).length > 0) return undefined
  return (await createKey(ports, DEFAULT_ACCOUNT)).key
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
  { server, deliveries, limits, recorder }: App,
  graceMs: number,
  workStopped?: Promise<void>,
): Promise<void> {
  await limits.drain(graceMs)
  await server.close()
  await deliveries.settled()
  await workStopped
  await recorder?.close()
}

/** Resolves when `work` is done, or after `ms` milliseconds. Rejects as `work` does. */
const withTimeout = (work: Promise<void>, ms: number): Promise<void> =>
  Promise.race([work, sleep(ms, undefined, { ref: false })])
