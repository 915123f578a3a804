/** The real service for the model and the races: instances on one database, with a sender that records. */

import { rmSync } from 'node:fs'
import type { App } from '../../src/app/app.ts'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import type { Config } from '../../src/core/config.ts'
import { createNewId } from '../../src/core/ids.ts'
import type { Database, Send, Time } from '../../src/core/ports.ts'
import { createTime } from '../../src/core/time.ts'
import { sweep } from '../../src/pay/retention.ts'
import { createKey } from '../../src/platform/accounts/store.ts'
import { type Manners, outcome } from './model-webhooks.ts'

export type Sent = { url: string; headers: Record<string, string>; body: string }

export type Answer = { status: number; headers: Record<string, unknown>; text: string }

export type RawRequest = {
  method: string
  url: string
  headers: Record<string, string>
  payload?: string
}

export type ModelService = Awaited<ReturnType<typeof startModelService>>

export type ModelServiceOptions = {
  kind: string
  /** As in DATABASE_URL. */
  url: string
  instances: number
  clock: () => number
  /** A folder to remove at the end. */
  folder?: string
  /** A layer between the service and its database. */
  wrap?: (database: Database) => Database
}

/** Starts the service on an empty database. */
export async function startModelService(options: ModelServiceOptions) {
  const { kind, url, instances, clock, folder, wrap = database => database } = options
  const config = readConfig({ PORT: '0', DATABASE_URL: url })
  const time = createTime(clock)
  // Shared, so that identifiers of two instances within one millisecond are in order.
  const newId = createNewId()
  const sent: Sent[] = []
  const tries = new Map<string, number>()
  let reach = Number.POSITIVE_INFINITY
  let next = 0

  const send: Send = async ({ url, headers, body }) => {
    const [, id = ''] = /"webhook_message_id":"(\w+)"/.exec(body) ?? []
    const nth = (tries.get(id) ?? 0) + 1
    if (nth > reach) throw new Error('the process died')
    tries.set(id, nth)
    sent.push({ url, headers, body })
    const [, manners = 'accepts'] = /\/(accepts|refuses|hesitates)\//.exec(url) ?? []
    return outcome(manners as Manners, nth) // the pattern has checked it
  }

  const open = (): Promise<Instance[]> =>
    Promise.all(
      Array.from({ length: instances }, () => openInstance(config, { time, newId, send }, wrap)),
    )

  let running = await open()
  const close = async () => {
    for (const instance of running) await instance.close()
  }
  const instance = (): Instance => {
    const found = running[next++ % running.length]
    if (!found) throw new Error('there is at least one instance')
    return found
  }

  return {
    kind,
    /** The instances take turns. */
    async request({ method, url, headers, payload }: RawRequest): Promise<Answer> {
      const answer = await instance().app.server.inject({
        method: method as 'GET',
        url,
        headers: { host: 'farthing.test', ...headers },
        ...(payload !== undefined && { payload }),
      })
      return { status: answer.statusCode, headers: answer.headers, text: answer.payload }
    },
    /** Forgets what was sent, revives the sender, and makes a key for each account. */
    async begin(accounts: string[]): Promise<string[]> {
      sent.length = 0
      tries.clear()
      reach = Number.POSITIVE_INFINITY
      const { database } = instance()
      const made = accounts.map(account => createKey({ database, time, newId }, account))
      return (await Promise.all(made)).map(({ key }) => key)
    },
    /** The deliveries since the last call. */
    takeSent: () => sent.splice(0),
    /** Until a restart, attempts after the first `attempts` of a message fail as if the process had died. */
    dieAfter: (attempts: number) => {
      reach = attempts
    },
    /** Closes and reopens everything, and sends the unsent messages. */
    async restart() {
      await close()
      reach = Number.POSITIVE_INFINITY
      running = await open()
      await instance().app.deliveries.recover()
    },
    sweep: () => sweep(instance().database, clock()),
    database: () => instance().database,
    async stop() {
      await close()
      if (folder) rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Instance = { app: App; database: Database; close(): Promise<void> }

async function openInstance(
  config: Config,
  ports: { time: Time; newId: (now: number) => string; send: Send },
  wrap: (database: Database) => Database,
): Promise<Instance> {
  const farthing = await startFarthing({
    config,
    backgroundWork: false,
    ports: real => ({ ...real, ...ports, database: wrap(real.database) }),
    resolve: async () => [],
  })
  return { app: farthing.app, database: farthing.ports.database, close: () => farthing.close() }
}
