/** Races with a fixed order: one request acts between another request's read and its write. */
import type { TestContext } from 'node:test'
import type { Behaviour } from '../../src/core/account.ts'
import type { Statement } from '../../src/core/ports.ts'
import { type Client, createClient } from './client.ts'
import type { SharedService } from './service.ts'

/**
 * Returns a client with its own account on the instance whose writes are intercepted. `beforeWrite` runs
 * `act` once, before the next write that has a statement matching `sql`.
 */
export async function interleaving(
  t: TestContext,
  service: SharedService,
  behaviour?: Behaviour,
): Promise<{ api: Client; beforeWrite(sql: RegExp, act: () => Promise<unknown>): void }> {
  const { key } = await service.newAccount(behaviour)
  const { database } = service
  const write = database.write.bind(database)
  let next: { sql: RegExp; act: () => Promise<unknown> } | undefined
  t.mock.method(database, 'write', async (statements: Statement[]) => {
    const { sql, act } = next ?? {}
    if (sql && act && statements.some(statement => sql.test(statement.sql))) {
      next = undefined
      await act()
    }
    return write(statements)
  })
  return {
    api: createClient([service.baseUrl], key, behaviour),
    beforeWrite(sql, act) {
      next = { sql, act }
    },
  }
}
