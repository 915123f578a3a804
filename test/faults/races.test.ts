import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/core/ports.ts'
import { seed } from '../support/properties.ts'
import { runRaces } from './race.ts'

for (const kind of ['sqlite', 'postgres'] as const)
  test(`Concurrent requests to payments and agreements are linearizable on ${kind}`, () =>
    runRaces({ kind, seed, rounds: 12 }))

/** Ignores how many rows a statement changed, so a lost compare-and-swap is not noticed. */
const uncounted = (database: Database): Database => ({
  ...database,
  write: statements => database.write(statements.map(({ sql, values }) => ({ sql, values }))),
})

test('The races detect a database that does not count the rows it changes', () =>
  assert.rejects(runRaces({ kind: 'sqlite', seed, rounds: 4, wrap: uncounted }), /"(read|create)/))
