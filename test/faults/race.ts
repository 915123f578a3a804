/** Races for payments, agreements and idempotency keys, each judged by its own history. */
import assert from 'node:assert/strict'
import type { Database } from '../../src/ports.ts'
import type { Body } from '../support/client.ts'
import { checkInvariants } from './invariants.ts'
import { isLinearizable, story } from './linearizability.ts'
import { raceAgreement, raceKey } from './race-agreements.ts'
import { racePayment } from './race-payments.ts'

export type Asked = {
  method: 'GET' | 'POST'
  path: string
  json?: unknown
  form?: Record<string, string>
  headers?: Record<string, string>
}

/** One request to some instance, with the key of the race's account. */
export type Ask = (asked: Asked) => Promise<{
  status: number
  location: string | undefined
  body: Body
}>

export type Races = {
  ask: Ask
  random: () => number
  database: Database
  /** The service's clock; it may stand still. */
  now: () => number
  /** How many of each kind. */
  rounds: number
  /** How many are run side by side, so that races also race each other for the database. */
  abreast: number
}

/** Throws with the history of the first race whose answers do not fit together. */
export async function runRaces(races: Races): Promise<void> {
  const { ask, random, rounds, abreast, database, now } = races
  const nths = Array.from({ length: rounds }, (_, nth) => nth).values()
  await Promise.all(
    Array.from({ length: abreast }, async () => {
      for (const nth of nths) {
        const payment = await racePayment(ask, random)
        assert.ok(isLinearizable(payment.history, payment.machine), story(payment.history))
        const agreement = await raceAgreement(ask, random)
        assert.ok(isLinearizable(agreement.history, agreement.machine), story(agreement.history))
        const statuses = await raceKey(ask, `key-${nth}`)
        assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 409)])
      }
    }),
  )
  await checkInvariants(database, { now: now(), settled: true })
}
