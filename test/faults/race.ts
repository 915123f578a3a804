/** Races on payments and agreements: concurrent requests whose responses must fit some serial order. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Database } from '../../src/core/ports.ts'
import type { Body } from '../support/client.ts'
import { scratchFolder } from '../support/folders.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { checkInvariants } from './invariants.ts'
import { isLinearizable, story } from './linearizability.ts'
import { type ModelService, startModelService } from './model-service.ts'
import { seeded } from './process/workload.ts'
import { raceAgreement } from './race-agreements.ts'
import { racePayment } from './race-payments.ts'

export type Asked = {
  method: 'GET' | 'POST'
  path: string
  json?: unknown
  form?: Record<string, string>
}

/** One request to some instance, with the key of the race's account. */
export type Ask = (asked: Asked) => Promise<{
  status: number
  location: string | undefined
  body: Body
}>

export type Races = {
  seed: number
  /** How many races of each kind. */
  rounds: number
  /** PostgreSQL with two instances, or a SQLite file with one. */
  kind: 'sqlite' | 'postgres'
  /** A layer between the service and the database, for a control. */
  wrap?: (database: Database) => Database
}

/** Races that run side by side, so that they also compete for the database. */
const ABREAST = 3

/** Throws with the history of the first race whose responses fit no serial order. */
export async function runRaces({ seed, rounds, kind, wrap = it => it }: Races): Promise<void> {
  const random = seeded(seed)
  let now = Date.parse('2026-09-14T08:20:31.407Z')
  const folder = scratchFolder()
  const file = `sqlite:${join(folder, 'farthing.db')}`
  const service = await startModelService({
    kind,
    url: kind === 'sqlite' ? file : await createPostgresDatabase(),
    instances: kind === 'sqlite' ? 1 : 2,
    clock: () => now,
    folder,
    wrap: database => wrap(shuffled(database, random)),
  })
  try {
    const [key = ''] = await service.begin(['races'])
    const ask = askWith(service, key)
    await ask({
      method: 'POST',
      path: '/v1/webhooks',
      json: { callback_url: 'https://hooks.example.org/all' },
    })
    now += 1
    const nths = Array.from({ length: rounds }).values()
    await Promise.all(
      Array.from({ length: ABREAST }, async () => {
        for (const _ of nths) {
          const payment = await racePayment(ask, random)
          assert.ok(isLinearizable(payment.history, payment.machine), story(payment.history))
          const agreement = await raceAgreement(ask, random)
          assert.ok(isLinearizable(agreement.history, agreement.machine), story(agreement.history))
        }
      }),
    )
    await checkInvariants(service.database(), { now, settled: true })
  } finally {
    await service.stop()
  }
}

const MOST_TURNS = 4

/** Delays the begin and the end of each call by some turns of the event loop, so that requests interleave. */
export function shuffled(database: Database, random: () => number): Database {
  async function pause(): Promise<void> {
    for (let turns = Math.floor(random() * MOST_TURNS); turns > 0; turns--)
      await new Promise(resolve => setImmediate(resolve))
  }
  async function late<Result>(call: () => Promise<Result>): Promise<Result> {
    await pause()
    const result = await call()
    await pause()
    return result
  }
  return {
    ...database,
    query: (sql, values) => late(() => database.query(sql, values)),
    write: statements => late(() => database.write(statements)),
  }
}

const askWith =
  (service: ModelService, key: string): Ask =>
  async ({ method, path, json, form }) => {
    const payload = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const { status, headers, text } = await service.request({
      method,
      url: path,
      headers: {
        authorization: `Bearer ${key}`,
        ...(payload !== undefined && { 'content-type': type }),
      },
      ...(payload !== undefined && { payload }),
    })
    const isJson = String(headers['content-type']).startsWith('application/json')
    return {
      status,
      location: headers.location as string | undefined, // sent once
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
