/** The real service for the model and the races, with a sender that records. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createNewId } from '../../src/core/ids.ts'
import type { Database, Send } from '../../src/core/ports.ts'
import { createTime } from '../../src/core/time.ts'
import { sweep } from '../../src/pay/retention.ts'
import { createKey } from '../../src/platform/accounts/store.ts'
import { scratchFolder } from '../support/folders.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { type DatabaseKind, startService } from '../support/service.ts'
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

/** Starts the service on an empty database, with `wrap` around it. On PostgreSQL two instances take turns. */
export async function startModelService(
  kind: DatabaseKind,
  clock: () => number,
  wrap: (database: Database) => Database = database => database,
) {
  const DATABASE_URL =
    kind === 'sqlite'
      ? `sqlite:${join(scratchFolder(), 'farthing.db')}`
      : await createPostgresDatabase()
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

  const start = () =>
    startService(kind, {
      env: { DATABASE_URL },
      send,
      ports: ({ database }) => ({ time, newId, database: wrap(database) }),
    })
  let service = await start()
  const turn = () => service.apps[next++ % service.apps.length] ?? assert.fail('there is one')

  return {
    kind,
    async request({ method, url, headers, payload }: RawRequest): Promise<Answer> {
      const answer = await turn().server.inject({
        method: method as 'GET',
        url,
        headers: { host: 'farthing.test', ...headers },
        ...(payload !== undefined && { payload }),
      })
      return { status: answer.statusCode, headers: answer.headers, text: answer.payload }
    },
    /** Forgets the sent messages, revives the sender, and makes a key for each account. */
    async begin(accounts: string[]): Promise<string[]> {
      sent.length = 0
      tries.clear()
      reach = Number.POSITIVE_INFINITY
      const { database } = service
      const made = accounts.map(account => createKey({ database, time, newId }, account))
      return (await Promise.all(made)).map(({ key }) => key)
    },
    /** Returns the deliveries since the last call. */
    takeSent: () => sent.splice(0),
    /** Until a restart, attempts after the first `attempts` of a message fail as if the process had died. */
    dieAfter: (attempts: number) => {
      reach = attempts
    },
    /** Closes and reopens everything, and sends the unsent messages. */
    async restart() {
      await service.stop()
      reach = Number.POSITIVE_INFINITY
      service = await start()
      await turn().deliveries.recover()
    },
    sweep: () => sweep(service.database, clock()),
    database: () => service.database,
    stop: () => service.stop(),
  }
}
