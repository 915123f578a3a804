/** Races that are lost for certain: something happens between what a request reads and what it writes. */
import type { TestContext } from 'node:test'
import type { Statement } from '../../src/ports.ts'
import { type Client, createClient } from './client.ts'
import type { Service } from './service.ts'

/**
 * A client of the one instance whose writes a test can hold up, on an account of its own; and
 * `beforeWrite`, which has `act` done once, right before the next write with a statement that
 * matches `sql`.
 */
export async function interleaving(
  t: TestContext,
  service: Service,
): Promise<{ api: Client; beforeWrite(sql: RegExp, act: () => Promise<unknown>): void }> {
  const { key } = await service.newAccount()
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
    api: createClient([service.baseUrl], key),
    beforeWrite(sql, act) {
      next = { sql, act }
    },
  }
}
