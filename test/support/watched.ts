import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Behaviour } from '../../src/core/account.ts'
import type { Database, Statement, Value } from '../../src/core/ports.ts'
import { createClient } from './client.ts'
import { type ServiceOptions, type SharedService, startService } from './service.ts'

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
export async function watchedService(t: TestContext, options: Pick<ServiceOptions, 'send'> = {}) {
  const seen = new Map<string, Statement>()
  const service = await startService('sqlite', {
    ...options,
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

/** A query runs when `real` is called. Tests know it by the values that it carries, never by its text. */
type Query = (real: () => Promise<unknown[]>, values: readonly Value[]) => unknown
type Write = (real: () => Promise<boolean>, statements: readonly Statement[]) => Promise<boolean>

/** Lets `query` see each query of the database of a service until the test ends, and answer it. */
export function mockQueries(t: TestContext, database: Database, query: Query) {
  const real = database.query.bind(database)
  return t.mock.method(database, 'query', (sql: string, values: Value[] = []) =>
    query(() => real(sql, values), values),
  )
}

/** The same for its writes, but for those of the record, which are made at intervals. */
export function mockWrites(t: TestContext, database: Database, write: Write) {
  const real = database.write.bind(database)
  return t.mock.method(database, 'write', (statements: Statement[]) =>
    statements.some(({ ofRecord }) => ofRecord)
      ? real(statements)
      : write(() => real(statements), statements),
  )
}

/**
 * Returns a client with its own account on the instance whose writes are intercepted. `beforeWrite` runs `act` once, before
 * the next write: so one request acts between another request's read and its write.
 */
export async function interleaving(t: TestContext, service: SharedService, behaviour?: Behaviour) {
  const { key } = await service.newAccount(behaviour)
  let next: (() => Promise<unknown>) | undefined
  mockWrites(t, service.database, async write => {
    const act = next
    next = undefined
    await act?.()
    return write()
  })
  return {
    api: createClient([service.baseUrl], key, behaviour),
    beforeWrite(act: () => Promise<unknown>): void {
      next = act
    },
  }
}
