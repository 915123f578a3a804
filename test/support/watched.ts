import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Database, Statement } from '../../src/core/ports.ts'
import { startService } from './service.ts'

/** The same database; `note` first sees the statement of a query, or all of a write. */
export const watched = (
  database: Database,
  note: (statements: Statement[], kind: 'query' | 'write') => void,
): Database => ({
  ...database,
  query(sql, values = []) {
    note([{ sql, values }], 'query')
    return database.query(sql, values)
  },
  write(statements) {
    note(statements, 'write')
    return database.write(statements)
  },
})

/** A service on a database in memory. `plansOf` has each step of the plans of what was asked since `forget`. */
export async function watchedService(t: TestContext) {
  const seen = new Map<string, Statement>()
  const service = await startService('sqlite', {
    control: true,
    env: { DATABASE_URL: 'sqlite::memory:' },
    ports: real => ({
      database: watched(real.database, statements => {
        for (const statement of statements) seen.set(statement.sql, statement)
      }),
    }),
  })
  t.after(() => service.stop())
  const { database } = service
  return {
    database,
    api: await service.newAccount(),
    service,
    forget: () => seen.clear(),
    /** Of those that read these tables each step must match `index`; `least` are expected. */
    async assertPlans(tables: RegExp, index: RegExp, least: number): Promise<void> {
      let steps = 0
      for (const { sql, values } of [...seen.values()]) {
        const plan = await database.query<{ detail: string }>(`explain query plan ${sql}`, values)
        for (const { detail } of plan.filter(step => tables.test(step.detail))) {
          assert.match(detail, index, sql)
          steps += 1
        }
      }
      assert.ok(steps >= least, `only ${steps} steps read them`)
    },
  }
}

/** Lets `query` see each query of the database of a service until the test ends, and answer it by `real`. */
export function mockQueries(
  t: TestContext,
  database: Database,
  query: (real: () => Promise<unknown[]>, sql: string, values: readonly unknown[]) => unknown,
): void {
  const real = database.query.bind(database)
  t.mock.method(database, 'query', (sql: string, values: never[] = []) =>
    query(() => real(sql, values), sql, values),
  )
}
