import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Behaviour } from '../../src/core/account.ts'
import type { Database, Statement, Value } from '../../src/core/ports.ts'
import { createClient } from './client.ts'
import { type ServiceOptions, type SharedService, startService } from './service.ts'

/** Wraps a database: `note` sees the statement of a query, or all statements of a write, before it runs. */
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

/** A service on a database in memory that remembers its statements since `forget`. */
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
    /** At least `least` steps of the query plans read these tables, and each of them matches `index`. */
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

/** A query runs when `real` is called. Tests know it by its values, never by its text. */
type Query = (real: () => Promise<unknown[]>, values: readonly Value[]) => unknown
type Write = (real: () => Promise<boolean>, statements: readonly Statement[]) => Promise<boolean>

/** Lets `query` see and answer each query of the database until the test ends. */
export function mockQueries(t: TestContext, database: Database, query: Query) {
  const real = database.query.bind(database)
  return t.mock.method(database, 'query', (sql: string, values: Value[] = []) =>
    query(() => real(sql, values), values),
  )
}

/** Does the same for writes, except those of the record, which are made at intervals. */
export function mockWrites(t: TestContext, database: Database, write: Write) {
  const real = database.write.bind(database)
  return t.mock.method(database, 'write', (statements: Statement[]) =>
    statements.some(({ ofRecord }) => ofRecord)
      ? real(statements)
      : write(() => real(statements), statements),
  )
}

/**
 * Returns a client with its own account on the instance whose writes are intercepted. `beforeWrite` runs `act` once
 * before the next write, so that it falls between the read and the write of another request.
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
