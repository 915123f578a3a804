import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNewId, idFloor } from '../../src/core/ids.ts'
import type { Database, Value } from '../../src/core/ports.ts'
import { findFollowed } from '../../src/platform/database/follow.ts'
import { openSqlite } from '../../src/platform/database/sqlite/sqlite.ts'

const BEGIN = Date.UTC(2026, 8, 14, 8, 20)
type Row = { id: string }
const rows = { from: 'a', columns: 'id', id: 'id', bytes: '1', fromRow: (row: Row) => row }
const idOf = ({ id }: Row) => id

test('A row that is committed while the first page since a time is read, and sorts before that page, is on the next one', async t => {
  const database = openSqlite({ path: ':memory:', onUnknownOutcome: assert.ifError })
  t.after(() => database.close())
  await database.write([{ sql: 'create table a (id text primary key)', values: [] }])
  const put = (id: string) =>
    database.write([{ sql: 'insert into a values ($1) on conflict do nothing', values: [id] }])
  const newId = createNewId()
  const [late, first] = [newId(BEGIN + 1), newId(BEGIN + 2)]
  await put(first)
  const racing: Database = {
    ...database,
    async query<Found>(sql: string, values?: Value[]) {
      const found = await database.query<Found>(sql, values)
      if (sql.startsWith('select id from a')) await put(late)
      return found
    },
  }
  const since = idFloor(BEGIN)
  const page = await findFollowed(racing, rows, idOf, [], { limit: 10, since })
  assert.deepEqual(page.rows, [{ id: first }])
  const { next } = page
  const following = await findFollowed(database, rows, idOf, [], { after: next, limit: 10, since })
  assert.deepEqual(following.rows, [{ id: late }, { id: first }])
})
