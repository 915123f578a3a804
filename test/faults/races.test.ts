import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { Database } from '../../src/ports.ts'
import { onEveryDatabase } from '../support/service.ts'
import { raceOverHttp, raceShuffled, sendNowhere } from './race-places.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? randomInt(2 ** 31))

onEveryDatabase(
  `Races (FARTHING_TEST_SEED=${seed})`,
  service => {
    test('have one winner, and every loser is answered for the state that it finds', () =>
      raceOverHttp(service(), { seed, rounds: 30 }))
  },
  { send: sendNowhere },
)

for (const instances of [1, 2])
  test(`Races through ${instances} on a database that shuffles its calls (FARTHING_TEST_SEED=${seed})`, () =>
    raceShuffled(instances, { seed, rounds: 120 }))

/** A change that comes too late changes no row; without the count nobody would notice. */
const uncounted = (database: Database): Database => ({
  ...database,
  write: statements => database.write(statements.map(({ sql, values }) => ({ sql, values }))),
})

test('Races find out a database that does not count the rows that it changes', () =>
  assert.rejects(raceShuffled(1, { seed, rounds: 20 }, uncounted), /"read": /))
