import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/core/ports.ts'
import { untilWritten } from '../../src/core/retry.ts'
import { openPostgres } from '../../src/platform/database/postgres.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'
import { createPostgresDatabase } from '../support/postgres.ts'

const kinds: Record<string, () => Promise<Database>> = {
  sqlite: async () => openSqlite({ path: ':memory:', onUnknownOutcome: assert.ifError }),
  postgres: async () =>
    openPostgres({ url: await createPostgresDatabase(), onConnectionError: assert.ifError }),
}

const raise = (version: number) => ({
  sql: 'update rows set version = version + 1 where version = $1',
  values: [version],
  expect: 1 as const,
})

for (const [kind, open] of Object.entries(kinds)) {
  async function openRow() {
    const database = await open()
    await database.write([
      { sql: 'create table rows (version integer)', values: [] },
      { sql: 'insert into rows values (0)', values: [] },
    ])
    const version = async () =>
      (await database.query<{ version: number }>('select version from rows'))[0]?.version ?? 0
    return { database, version }
  }

  test(`A write that loses every race is refused with 503 after 20 tries (${kind})`, async t => {
    const { database, version } = await openRow()
    t.after(() => database.close())
    const tries = [0, 0]
    const writers = tries.map((_, i) =>
      untilWritten(async () => {
        tries[i] = (tries[i] ?? 0) + 1
        const read = await version()
        await database.write([{ sql: 'update rows set version = version + 1', values: [] }])
        return (await database.write([raise(read)])) ? { read } : undefined
      }),
    )
    await Promise.all(writers.map(writer => assert.rejects(writer, { status: 503, code: 'P0999' })))
    assert.deepEqual(tries, [20, 20])
    assert.equal(await version(), 40)
  })

  test(`Twenty writers that race for one row all succeed (${kind})`, async t => {
    const { database, version } = await openRow()
    t.after(() => database.close())
    const writers = Array.from({ length: 20 }, () =>
      untilWritten(async () => {
        const read = await version()
        return (await database.write([raise(read)])) ? { read } : undefined
      }),
    )
    const reads = (await Promise.all(writers)).map(({ read }) => read)
    assert.deepEqual(
      reads.toSorted((a, b) => a - b),
      reads.map((_, i) => i),
    )
  })
}
