import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { Database } from '../../src/core/ports.ts'
import { runRaces } from './race.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? randomInt(2 ** 31))

for (const kind of ['sqlite', 'postgres'] as const)
  test(`Concurrent requests to payments and agreements are linearizable on ${kind} (FARTHING_TEST_SEED=${seed})`, () =>
    runRaces({ kind, seed, rounds: 30 }))

/** Ignores how many rows a statement changed, so a lost compare-and-swap is not noticed. */
const uncounted = (database: Database): Database => ({
  ...database,
  write: statements => database.write(statements.map(({ sql, values }) => ({ sql, values }))),
})

test('The races detect a database that does not count the rows it changes', () =>
  assert.rejects(runRaces({ kind: 'sqlite', seed, rounds: 20, wrap: uncounted }), /"read": /))
