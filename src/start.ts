import { lookup } from 'node:dns/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createKey, DEFAULT_ACCOUNT, listKeys } from './accounts/store.ts'
import { type App, createApp } from './app.ts'
import type { Config } from './config.ts'
import { openDatabase } from './database/open.ts'
import { linkTo } from './http/addresses.ts'
import { createNewId } from './ids.ts'
import { createResolve } from './outbound/resolve.ts'
import { createSend } from './outbound/send.ts'
import type { Clock, Database, NewId } from './ports.ts'
import { sweep } from './retention.ts'
import { version } from './version.ts'

/** In milliseconds. */
const SWEEP_EVERY = 60_000
const RECOVER_EVERY = 5_000
/** For requests and deliveries once the service is to stop, and then for its connections and files. */
const LONGEST_STOP = 9_000
const LONGEST_CLOSE = 500
/** For the answers 500 of a commit whose outcome is unknown, before the process ends. */
const LAST_ANSWERS = 500

/**
 * Connections that the system keeps until the event loop comes round; more than Node's 511, beyond which
 * Linux lets clients believe that they are connected and resets them later.
 */
const MOST_UNACCEPTED = 4_096

export type Serving = {
  /** Where it listens, as a link. */
  address: string
  /** The key made on the first start, which nothing can show again. */
  firstKey: string | undefined
  /** Where the metrics are, if they are on. */
  metricsAddress: string | undefined
  /** Finishes what is in flight, deliveries included, within 10 seconds. */
  stop(): Promise<void>
}

/**
 * Runs the service: configuration in, something that listens out. Throws when the database or the
 * port cannot be had. `onFatal` is called when the process must end.
 */
export async function serve(
  config: Config,
  logger: Logger,
  onFatal: (error: unknown) => void,
): Promise<Serving> {
  const metrics =
    config.metricsPort === undefined
      ? undefined
      : (await import('./metrics/metrics.ts')).createMetrics()
  const database = await openDatabase(config.database, {
    onCommit: metrics?.committed,
    onUnknownOutcome: error => void setTimeout(onFatal, LAST_ANSWERS, error),
    onConnectionError: error => logger.warn(`a database connection was lost: ${error.message}`),
  })
  const clock: Clock = Date.now
  const newId = createNewId()
  const resolve = createResolve()
  const realSend = createSend({
    resolve,
    allowed: config.callbackHosts,
    userAgent: `Farthing/${version}`,
  })
  const send = metrics?.counting(realSend) ?? realSend
  const ports = { database, clock, newId, resolve, send }
  async function close(): Promise<void> {
    realSend.close()
    metrics?.close()
    await database.close()
  }
  let server: FastifyInstance | undefined
  try {
    const app = await createApp(ports, config, logger, metrics?.watch)
    server = app.server
    await listenQuietly(app, config)
    const metricsAddress = await metrics?.listen(config.host, config.metricsPort ?? 0)
    // Not before: nobody would see the key of a start that fails.
    const firstKey = await makeFirstKey(ports, config)
    const stopWork = startBackgroundWork(app, database, clock, logger)
    return {
      address: linkTo(config.host, server.server),
      firstKey,
      metricsAddress,
      async stop() {
        stopWork()
        await Promise.race([finish(app), after(LONGEST_STOP)])
        await Promise.race([close(), after(LONGEST_CLOSE)])
      },
    }
  } catch (error) {
    await server?.close()
    await close()
    throw error
  }
}

/** Fastify would announce itself before the line that is for people. */
async function listenQuietly({ server }: App, { port, host, logLevel }: Config): Promise<void> {
  server.log.level = 'silent'
  try {
    // One address: the name localhost can have two, and of two servers Fastify lets only one end in peace.
    const { address } = await lookup(host, { order: 'ipv4first' })
    await server.listen({ port, host: address, backlog: MOST_UNACCEPTED })
  } catch (error) {
    const unknownName = error instanceof Error && 'hostname' in error
    throw unknownName ? new Error(`HOST ${host} is no name or address of this machine`) : error
  }
  server.log.level = logLevel
}

async function makeFirstKey(
  ports: { database: Database; clock: Clock; newId: NewId },
  config: Config,
): Promise<string | undefined> {
  if (config.apiKey || (await listKeys(ports.database)).length > 0) return undefined
  return (await createKey(ports, DEFAULT_ACCOUNT)).key
}

/** Sends what an earlier stop left unsent, now and whenever another instance dies; frees old space. */
function startBackgroundWork(
  app: App,
  database: Database,
  clock: Clock,
  logger: Logger,
): () => void {
  const report = (error: unknown) =>
    logger.warn({ err: error }, 'background work will be tried again')
  const stopping = new AbortController()
  const recover = () => void app.deliveries.recover(stopping.signal).catch(report)
  recover()
  const recovering = setInterval(recover, RECOVER_EVERY)
  let sweeping: NodeJS.Timeout | undefined
  async function sweepNow(): Promise<void> {
    await sweep(database, clock(), stopping.signal).catch(report)
    if (!stopping.signal.aborted) sweeping = setTimeout(sweepNow, SWEEP_EVERY)
  }
  void sweepNow()
  return () => {
    stopping.abort()
    clearInterval(recovering)
    clearTimeout(sweeping)
  }
}

async function finish({ server, deliveries, drain }: App): Promise<void> {
  await drain.begin()
  await server.close()
  await deliveries.settled()
}

const after = (ms: number): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, ms).unref()
  })
